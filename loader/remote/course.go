package remote

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/sampler"
)

// courses are the batches of the rank, epoch by epoch: a whole.Sampler.
type courses struct{ c *client }

// Identity is that of the service's order, so that positions are those of a local loader.
func (s courses) Identity() string { return s.c.plan.Order }

func (s courses) Rows() int { return s.c.plan.Rows }

// Seed is that of the service, so that positions are those of a local loader.
func (s courses) Seed() uint64 { return s.c.plan.Seed }

func (s courses) From(ctx context.Context, epoch, draw int) (sampler.BatchPart, error) {
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
		return nil, err
	}
	return course{s, *rest}, nil
}

// Epoch is From of the beginning. The loader calls From.
func (s courses) Epoch(epoch int) sampler.Batches { return s.must(epoch, 0) }

func (s courses) must(epoch, draw int) sampler.BatchPart {
	part, err := s.From(context.Background(), epoch, draw)
	if err != nil {
		panic(err)
	}
	return part
}

// A course is the rest of an epoch.
type course struct {
	courses
	rest wire.Rest
}

func (p course) Len() int { return p.rest.Batches }

// At has as many samples as the largest batch, because the indices come with the batch.
func (p course) At(k int, dst []int) []int {
	for range p.Rows() {
		dst = append(dst, 0)
	}
	return dst
}

// Draw is right if the ranks share an order of samples.
func (p course) Draw(k, row int) int64 {
	return int64(p.rest.Draw) + int64(k)*int64(p.rest.Step) + int64(row)*int64(p.c.cfg.world) + int64(p.c.cfg.rank)
}

func (p course) Consumed(k int) int {
	if k > (p.rest.End-p.rest.Draw)/p.rest.Step {
		return p.rest.End
	}
	return p.rest.Draw + k*p.rest.Step
}

func (p course) Step() int { return p.rest.Step }

func (p course) From(draw int) sampler.BatchPart { return p.must(p.rest.Epoch, draw) }
