// Package remote loads batches from a data service: see package serve.
//
//	l, err := remote.Open(ctx, []string{"http://replica-0:8080", "http://replica-1:8080"}, remote.Rank(rank, world))
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	for batch, err := range l.Epoch(ctx, 0) {
//		…
//	}
//
// What Open returns is a [loader.Loader], so a trainer changes only the line that makes it.
// Batches, with their numbers, indices and positions, are those of a local loader with the
// service's plan and the option loader.Ranks, bit for bit. Positions of both can be used
// with both. Only [loader.Batch.Name] differs: it has no names. [loader.Stats] counts the
// samples that the service could not place in Dropped, but does not list them in Failures.
// Bytes are read from the network into the memory of the batch.
package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

// Open asks the replicas of a service for their plan, and makes a loader of its batches.
// replicas are URLs, such as "https://host:8080". One of them is enough; it may also be the
// address of a load balancer.
//
// A loader reads from one replica, which differs from rank to rank: rendezvous hashing
// chooses it. Where a request fails, the next replica is asked at once, and the loader stays
// with it until that fails. When all have failed, the client waits for a random time of up to
// 2^k·50 ms, but at most 10 s, before it asks them for the k-th time. A batch depends on nothing
// but its number, so a batch of another replica is the same. A replica that serves another plan
// is left out, and so is one whose plan this program cannot read, such as that of a later version.
//
// If no replica answers, Open gives up after 5 s ([OpenWithin]). ctx applies to Open only. The
// loader must be closed.
func Open(ctx context.Context, replicas []string, options ...Option) (*loader.Loader, error) {
	cfg := newConfig(options)
	c, err := newClient(replicas, cfg)
	if err != nil {
		return nil, err
	}
	l, err := c.newLoader(ctx)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("remote: %w", err)
	}
	return l, nil
}

func (c *client) newLoader(ctx context.Context) (*loader.Loader, error) {
	if err := c.describe(ctx); err != nil {
		return nil, err
	}
	closing := loader.Observe(loader.Trace{LoaderClosed: c.close})
	options := append([]loader.Option{loader.Workers(2), closing}, c.cfg.loader...)
	return loader.New(service{c}, options...)
}

// describe asks for the plan. Replicas with a plan that cannot be read are left out.
func (c *client) describe(ctx context.Context) error {
	p, err := fetchJSON(ctx, c, "/v1/plan", c.cfg.within, func(p *wire.Plan) error {
		if err := c.checkPlan(p); err != nil {
			return unfit{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.plan = *p
	return c.checkSize()
}

// checkPlan reports why batches of a plan cannot be read, or are not those that [Plan] wants. It
// sets the spec.
func (c *client) checkPlan(p *wire.Plan) (err error) {
	switch {
	case p.Version != wire.Version:
		return fmt.Errorf("the service has version %d of the format, this program reads %d", p.Version, wire.Version)
	case p.Plan == "" || p.Hash() != p.Plan:
		return errors.New("the hash of the plan does not fit the plan")
	case c.cfg.plan != "" && p.Plan != c.cfg.plan:
		return fmt.Errorf("the service has plan %s, want %s", p.Plan, c.cfg.plan)
	case p.Samples < 1 || p.Rows < 1:
		return fmt.Errorf("the service has %d samples, and batches of %d: want 1 or more", p.Samples, p.Rows)
	}
	if c.spec, err = wire.Spec(p.Fields); err != nil {
		return err
	}
	c.fields = make(map[string]int, len(c.spec))
	for i, f := range c.spec {
		c.fields[f.Name] = i
	}
	return nil
}

// checkSize compares Limit with the memory that a batch takes according to the plan.
func (c *client) checkSize() error {
	sample := int64(8) // its index
	for _, f := range c.spec {
		if f.Ragged {
			sample += 8 // the offset; its values are checked with every batch
		} else {
			sample += int64(f.Bytes())
		}
	}
	if int64(c.plan.Rows) > int64(c.cfg.limit)/sample {
		return fmt.Errorf("the service has batches of %d samples of %d bytes, Limit allows %d bytes", c.plan.Rows, sample, c.cfg.limit)
	}
	return nil
}

// A service is a dataset whose batches the replicas assemble.
type service struct{ c *client }

func (s service) Len() int           { return s.c.plan.Samples }
func (s service) Spec() dataset.Spec { return s.c.spec }

// Open is not called: there are no samples to read.
func (s service) Open() (dataset.Reader, error) {
	return nil, errors.New("remote: single samples cannot be read")
}

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
