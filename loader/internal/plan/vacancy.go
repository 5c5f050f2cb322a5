package plan

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/sampler"
)

// Vacancy says why a plan, which begins at the beginning of its epoch, has no batches, in words. It is empty if it has
// some.
func (p *Planner) Vacancy(of *Plan) string {
	share := ""
	if p.Share != nil {
		share = fmt.Sprintf(" for rank %d of %d", p.Share.Rank, p.Share.World)
	}
	switch {
	case !of.Empty():
		return ""
	case of.Samples == 0:
		return "no batch: the dataset has no samples"
	case p.Service != nil:
		return "no batch: the service has none for this rank"
	case p.Batches != nil:
		return "no batch: the BatchSampler gives none" + share
	}
	left := of.content.(*drawn).extent.Load().left
	switch {
	case left == 0 && of.Samples > 0 && p.Share != nil && !p.Share.Own:
		equal := ""
		if p.Share.Mode == sampler.DropToEven {
			equal = ", which DropToEven makes equal"
		}
		return fmt.Sprintf("no batch: %s too few for %d ranks%s", figures.Count(of.Samples, "sample is", "samples are"), p.Share.World, equal)
	case left == 0 && of.Samples > 0:
		return "no batch: the Sampler gives no samples" + share
	case left == 0:
		return "no batch: the dataset had no samples" + share
	}
	return fmt.Sprintf("no batch: %s%s, batches of %d, DropLast: a smaller BatchSize helps, or DropLast(false)", figures.Count(left, "sample", "samples"), share, p.Size)
}
