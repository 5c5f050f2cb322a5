package remote

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Identity is that of the service's order, so that positions are those of a local loader.
func (s service) Identity() string { return s.c.plan.Order }

// Rows is the number of samples in the largest batch.
func (s service) Rows() int { return s.c.plan.Rows }

// Seed is that of the service, so that positions are those of a local loader.
func (s service) Seed() uint64 { return s.c.plan.Seed }

// Rest asks the service what remains of an epoch.
func (s service) Rest(ctx context.Context, epoch, draw int) (plan.Rest, error) {
	path := fmt.Sprintf("/v1/%s/%d/%d-%d", s.c.plan.Plan, epoch, s.c.cfg.rank, s.c.cfg.world)
	if draw > 0 {
		path += fmt.Sprintf("?draw=%d", draw)
	}
	rest, err := fetchJSON(ctx, s.c, path, forever, func(r *wire.Rest) error {
		if r.Epoch != epoch || r.Draw != draw || r.Batches < 0 || r.Step < 1 || r.End < draw {
			return unfit{fmt.Errorf("it describes the rest of epoch %d after draw %d wrongly: %+v", epoch, draw, *r)}
		}
		return nil
	})
	if err != nil {
		return plan.Rest{}, err
	}
	return plan.Rest{Batches: rest.Batches, Step: rest.Step, End: rest.End}, nil
}
