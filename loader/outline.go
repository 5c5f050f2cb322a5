package loader

import (
	"context"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Outline is for package serve: which batches a loader would load, without its workers and its memory. The errors are
// those of [New].
func Outline(ds dataset.Dataset, options ...Option) (*plan.Outline, error) {
	l, err := newLoader(ds, options)
	if err != nil {
		return nil, err
	}
	return &plan.Outline{Plans: l.plans, Spec: l.Spec(), Text: l.text()}, nil
}

// text describes everything that decides the content of batches.
func (l *Loader) text() string {
	c := &l.cfg
	var parts []string
	if c.batchSampler != nil {
		parts = append(parts, fmt.Sprintf("batches of a sampler of %d samples", l.ds.Len()))
	} else {
		parts = append(parts, fmt.Sprintf("batches of %d of %d samples", c.batchSize, l.ds.Len()))
	}
	if c.dropLast {
		parts = append(parts, "the last one only if it is full")
	}
	order := l.plans.Identity()
	if order == "" {
		if first, err := l.plans.Plan(context.Background(), l.plans.Start(0)); err == nil {
			order = first.Order()
		}
	}
	parts = append(parts, "order "+order, fmt.Sprintf("seed %d", c.seed))
	switch {
	case !c.skip:
		parts = append(parts, "errors end the loop")
	case c.limit == NoLimit: // another number where an int has 32 bits
		parts = append(parts, "errors are skipped")
	default:
		parts = append(parts, fmt.Sprintf("errors are skipped, limit %d", c.limit))
	}
	if len(c.collate) > 0 {
		names := make([]string, len(c.collate))
		for k, step := range c.collate {
			names[k] = figures.Name(step)
		}
		parts = append(parts, "collate "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}
