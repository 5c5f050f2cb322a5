package loader

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/sampler"
)

// vacancy says why the run, which has ended by itself, had no batch. It is empty if the run
// had one, or none to look for.
func (r *run) vacancy() string {
	p := r.first
	switch {
	case r.batches > 0 || r.resumed:
		return ""
	case r.failed > 0:
		return fmt.Sprintf("no batch: %s failed, and Skip left them out: look at Failures", figures.Count(r.failed, "sample", "samples"))
	case p == nil:
		return ""
	}
	return r.l.cfg.vacancy(p)
}

func (c *config) vacancy(p *plan) string {
	e := p.extent.Load()
	samples, of := figures.Count(e.left, "sample", "samples"), ""
	if c.ranks != nil {
		of = fmt.Sprintf(" for rank %d of %d", c.ranks.rank, c.ranks.world)
	}
	switch {
	case p.samples == 0:
		return "no batch: the dataset has no samples"
	case c.service() != nil:
		return "no batch: the service has none for this rank"
	case p.batches != nil:
		return "no batch: the BatchSampler gives none" + of
	case e.left == 0 && p.samples > 0 && c.ranks != nil && !c.set.sampler:
		equal := ""
		if c.ranks.mode == sampler.DropToEven {
			equal = ", which DropToEven makes equal"
		}
		return fmt.Sprintf("no batch: %s too few for %d ranks%s", figures.Count(p.samples, "sample is", "samples are"), c.ranks.world, equal)
	case e.left == 0 && p.samples > 0:
		return "no batch: the Sampler gives no samples" + of
	case e.left < c.batchSize && c.dropLast:
		return fmt.Sprintf("no batch: %s%s, batches of %d, DropLast: a smaller BatchSize helps, or DropLast(false)", samples, of, c.batchSize)
	case e.left == 0:
		return "no batch: the dataset had no samples" + of
	}
	return ""
}

// vacant logs, once, why a loop had no batch.
func (l *Loader) vacant(why string) {
	l.counts.vacant(why)
	if why != "" && l.cfg.logger != nil {
		l.warned.Do(func() { l.cfg.logger.Warn("loader: " + why) })
	}
}
