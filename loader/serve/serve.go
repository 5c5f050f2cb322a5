// Package serve gives batches to trainers on other machines, over HTTP. Package remote
// reads them in Go, and PyTorch reads them without code of this library.
//
//	s, err := serve.New(ctx, ds, serve.Loader(loader.BatchSize(128), loader.Shuffle(true), loader.Seed(7)))
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	return serve.ListenAndServe(ctx, "localhost:8080", s)
//
// There is no dispatcher. A batch depends only on the plan (the dataset, and the options
// that decide its batches), the epoch, the rank, the world size and its number. So every
// replica of a service makes the same batches, a trainer names the batch that it wants,
// and another replica can take over at any batch. No replica knows of the others.
//
// # Protocol
//
// The paths are:
//
//	GET /v1/plan                                      describes the plan, in JSON
//	GET /v1/{plan}/{epoch}/{rank}-{world}             how many batches the rank has, in JSON
//	GET /v1/{plan}/{epoch}/{rank}-{world}/{number}    a batch, in the format safetensors
//	GET /healthz                                      200 while the process lives
//	GET /readyz                                       200 while it takes requests, otherwise 503
//	GET /metrics                                      in the text format of Prometheus
//
// plan is the hash that /v1/plan names "plan": it covers the dataset, as far as it can
// describe itself, the names of its samples, the text of [Identity], the fields, the
// order, the seed, the batch size and the bytes of the first batch. Numbers are decimal
// and count from 0.
//
// With ?draw=D the second and the third path continue at a place of the epoch's global
// order, so that another number of ranks can read the rest: D is the Draw of a
// [loader.Position], and numbers count from there. The answer to the second path is
//
//	{"epoch":0,"draw":0,"batches":12,"step":128,"end":1500}
//
// A batch raises the draw by step, but not above end.
//
// In a batch, the tensor of a field has the shape (samples, field's shape...). A ragged
// field is two tensors: its name has the values of all samples, one sample after the other,
// and its name with ".offsets" has samples+1 numbers int64, which say where each sample
// begins. "indices", int64, are the samples' indices in the dataset. The header's
// "__metadata__" has "plan", "epoch", "rank", "world", "draw", "number", "samples" and
// "dropped": how many samples could not be placed, which loader.Skip has left out. A batch may
// have no samples, if they were all left out. Every tensor begins at a multiple of its dtype's size.
//
// A batch never changes: its Cache-Control is immutable, and its ETag is strong.
//
// Responses without a batch have {"error":"…"} in JSON: one line, in which a path of the service's
// machine is only its last element. The log has the whole error ([Logger]).
//
//	400  the path or the request is wrong
//	401  the token is wrong
//	403  the host is not this machine: see [ListenAndServe]
//	404  the epoch has no such batch, or there is no such path
//	405  the method is not GET
//	409  the service serves another plan, which "plan" names
//	500  the batch cannot be made, on any replica; "name" and "index" say which sample failed.
//	     So it is after an object was replaced that the service has listed: start it again
//	503  the service has too much to do, or ends, or this replica cannot read data now, also
//	     because it may not: try again after Retry-After seconds, or another replica at once
package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

// A Server makes the batches of one plan. It is an [http.Handler]. Several Servers, such
// as those of training and validation, may share an [http.Server] by [http.StripPrefix].
type Server struct {
	ds     dataset.Dataset
	cfg    config
	spec   dataset.Spec // of batches
	plan   wire.Plan
	mux    *http.ServeMux
	lanes  pool
	rests  rests
	counts metrics
	told   told

	requests chan struct{} // a token for each request for a batch
	draining atomic.Bool
	close    sync.Once
}

// New makes a Server. It makes the first batch, because the plan's hash covers it: so
// replicas with other data, or whose processors round differently, do not pass as equal. It
// is an error if ds has no samples, if its length is unknown, or if a field has a complex
// dtype. ctx applies to New only.
func New(ctx context.Context, ds dataset.Dataset, options ...Option) (*Server, error) {
	cfg := newConfig(options)
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if ds == nil {
		return nil, errors.New("serve: New: the dataset is nil")
	}
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) == 0 {
		return nil, errors.New("serve: New: this machine is big-endian, and safetensors is not")
	}
	s := &Server{ds: ds, cfg: cfg, requests: make(chan struct{}, cfg.requests)}
	s.lanes.s, s.lanes.work, s.rests.s = s, (*lane).work, s
	s.rests.turns = make(chan struct{}, planned)
	if err := s.describe(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("serve: %w", err), s.Close())
	}
	s.route()
	return s, nil
}

// describe makes the plan.
func (s *Server) describe(ctx context.Context) error {
	of, err := s.outline(share{0, 1})
	if err != nil {
		return err
	}
	if s.ds.Len() == dataset.Unknown {
		return errors.New("the dataset's length is unknown, so its batches cannot be made in any order")
	}
	s.spec = of.Spec
	begin, p := of.Plans.Position(0), &s.plan
	*p = wire.Plan{
		Version:  wire.Version,
		Samples:  s.ds.Len(),
		Seed:     begin.Seed,
		Order:    begin.Order,
		Schedule: of.Text,
		Dataset:  figures.Name(s.ds),
		Identity: s.cfg.identity,
		Names:    names(s.ds),
		Mode:     s.cfg.mode.String(),
	}
	if p.Rows, err = of.Plans.Largest(); err != nil {
		return err
	}
	if p.Fields, err = wire.Fields(s.spec); err != nil {
		return err
	}
	first := address{}
	rest, err := s.rests.of(ctx, share{0, 1}, 0, 0)
	if err != nil {
		return err
	}
	if rest.Batches == 0 {
		return errors.New("epoch 0 has no batches")
	}
	m, done, err := s.lanes.get(ctx, share{0, 1}, first)
	if err != nil {
		return err
	}
	defer done()
	if m.err != nil {
		return fmt.Errorf("the first batch: %w", m.err)
	}
	sum := sha256.New()
	for _, piece := range s.render(m).pieces { // not body, whose header needs the hash
		sum.Write(piece)
	}
	p.First = hex.EncodeToString(sum.Sum(nil)[:16])
	p.Plan = p.Hash()
	return nil
}

// names is a hash of the names of all samples, or empty if they have none.
func names(ds dataset.Dataset) string {
	if dataset.Name(ds, 0) == "" {
		return ""
	}
	sum := sha256.New()
	line := make([]byte, 0, 256)
	for i := range ds.Len() {
		line = append(append(line[:0], dataset.Name(ds, i)...), 0)
		sum.Write(line)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// outline is which batches a rank has.
func (s *Server) outline(of share) (*plan.Outline, error) {
	return loader.Outline(s.ds, s.loader(of)...)
}

// loader is the options of a rank's loader.
func (s *Server) loader(of share) []loader.Option {
	return append(slices.Clip(s.cfg.loader), loader.InFlight(s.cfg.inFlight), loader.Ranks(of.rank, of.world, s.cfg.mode))
}

// Plan is the plan's hash, as in the paths.
func (s *Server) Plan() string { return s.plan.Plan }

// Drain makes /readyz say that the Server is not ready, so that balancers send no new
// clients. It still answers all requests.
func (s *Server) Drain() { s.draining.Store(true) }

// Close ends requests for batches with status 503, frees the memory and joins all
// goroutines. Shut the [http.Server] down first. Calling Close again does nothing.
func (s *Server) Close() error {
	s.Drain()
	var err error
	s.close.Do(func() {
		err = s.lanes.close()
		s.rests.close()
	})
	return err
}
