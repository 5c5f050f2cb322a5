package loader

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
)

// vacancy says why the run, which has ended by itself, had no batch. It is empty if the run
// had one, or none to look for.
func (r *run) vacancy() string {
	first := r.first()
	switch {
	case r.batches > 0 || r.from.Draw > 0:
		return ""
	case r.failed > 0:
		return fmt.Sprintf("no batch: %s failed, and Skip left them out: look at Failures", figures.Count(r.failed, "sample", "samples"))
	case first == nil:
		return ""
	}
	return r.l.plans.Vacancy(first)
}
