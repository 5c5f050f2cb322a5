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
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/plan"
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

// A run is a loop of a lane. It publishes every batch from where it begins, in order, also
// those without samples, which the loader does not deliver.
type run struct {
	l      *lane
	ctx    context.Context
	losses *losses
	begun  address
	first  int     // the loader's number of the batch that the lane counts as 0 in the first epoch
	next   address // of the batch that is published next; after the last one of an epoch its number is count
	count  int     // batches of its epoch, from its draw on
	until  int     // the epoch before which the run ends
}

// epochs is how many epochs a run lasts at most. The next one begins with a gap.
const epochs = 64

// take publishes what the loader has delivered, after batches without samples that come before
// it. It reports whether the run goes on.
func (r *run) take(b *loader.Batch, err error) bool {
	at := r.place(b, err)
	for r.next.before(at) { // Skip has left no samples of these
		if !r.give(&made{}) {
			return false
		}
	}
	if err == nil && at != r.next {
		err = fmt.Errorf("the sampler's orders disagree: %v comes in the place of batch %d of epoch %d", b, r.next.number, r.next.epoch)
	}
	if err != nil {
		r.give(&made{err: err})
		return false
	}
	return r.give(&made{batch: b, keep: b.Keep, drop: b.Keep()})
}

// place is the address of what the loader has delivered. Errors of no sample have that of the
// next batch.
func (r *run) place(b *loader.Batch, err error) address {
	epoch, number := 0, 0
	if err == nil {
		epoch, number = b.Epoch(), b.Number()
	} else if e, ok := errors.AsType[*loader.SampleError](err); ok {
		epoch, number = e.Epoch, e.Batch
	} else {
		return r.next
	}
	if epoch == r.begun.epoch {
		return address{epoch, r.begun.draw, number - r.first}
	}
	return address{epoch, 0, number}
}

// give publishes m as the next batch. It reports whether there is one after it.
func (r *run) give(m *made) bool {
	number := r.next.number
	if r.next.epoch == r.begun.epoch {
		number += r.first
	}
	m.at, m.dropped = r.next, r.losses.take(r.next.epoch, number)
	r.next.number++
	return r.l.publish(r.ctx, m, r.next, r.count) && r.plan()
}

// plan goes on to the next epoch if this one is over. It reports whether the run makes a batch of
// it. Planning may take long, so it begins when the last batch of this one can be sent.
func (r *run) plan() bool {
	for r.next.number >= r.count {
		r.next = address{epoch: r.next.epoch + 1}
		if r.next.epoch >= r.until {
			return false
		}
		rest, err := r.l.p.s.rests.of(r.ctx, r.l.share, r.next.epoch, 0)
		if err != nil {
			return false
		}
		r.count = rest.Batches
	}
	return true
}

// absolute matches a URL, or an absolute path with what comes before it.
var absolute = regexp.MustCompile(`\w+://[^\s"]+|(^|[\s"'(\[{<=:,])((?:/|\\\\|[A-Za-z]:[/\\])[^\s"'()\[\]{}<>=:,;]+)`)

// public is the text of an error for clients, in one line. Of a path of this machine it has only the
// last element, and of a panic no stack. The log has all of it.
func public(err error) string {
	text := err.Error()
	var paths []string
	walk(err, func(err error) {
		switch e := err.(type) {
		case *dataset.PanicError:
			text = strings.ReplaceAll(text, "\n\n"+string(e.Stack), "")
		case *loader.SampleError:
			paths = append(paths, e.Name)
		case *fs.PathError:
			paths = append(paths, e.Path)
		case *os.LinkError:
			paths = append(paths, e.Old, e.New)
		}
	})
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, last(p))
	}
	return figures.OneLine(absolute.ReplaceAllStringFunc(text, func(match string) string {
		parts := absolute.FindStringSubmatch(match)
		if parts[2] == "" {
			return match
		}
		return parts[1] + last(parts[2])
	}))
}

// walk calls see for an error and all that it wraps.
func walk(err error, see func(error)) {
	see(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			walk(inner, see)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			walk(inner, see)
		}
	}
}

// rooted matches the beginning of an absolute path.
var rooted = regexp.MustCompile(`^(/|\\\\|[A-Za-z]:[/\\])`)

// last is the last element of an absolute path. Other names stay as they are.
func last(name string) string {
	if !rooted.MatchString(name) {
		return name
	}
	name = strings.TrimRight(name, `/\`)
	return name[strings.LastIndexAny(name, `/\`)+1:]
}

// losses are how many samples of each batch of a loop could not be placed.
type losses struct {
	mu sync.Mutex
	m  map[ordinal]int
}

// An ordinal is the number that a loader gives a batch.
type ordinal struct{ epoch, number int }

// observe counts the samples that a loader cannot place. A batch is complete after that.
func (l *losses) observe() loader.Option {
	return loader.Observe(loader.Trace{SampleFailed: func(e *loader.SampleError) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.m == nil {
			l.m = make(map[ordinal]int)
		}
		l.m[ordinal{e.Epoch, e.Batch}]++
	}})
}

// take is the number of a batch, which is not needed again.
func (l *losses) take(epoch, number int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := ordinal{epoch, number}
	n := l.m[at]
	delete(l.m, at)
	return n
}

// forget forgets batches that a loop has begun and not delivered.
func (l *losses) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.m)
}

// told logs why requests fail. Trainers ask again, so it logs a reason once in a while.
type told struct {
	mu   sync.Mutex
	last map[string]time.Time // by reason
}

const (
	again       = time.Minute // after which a reason is logged again
	mostReasons = 64          // that are logged in that time
)

// tell logs why a request fails, if that is the service's fault. A service that has too much to
// do, or ends, says so in its metrics alone.
func (s *Server) tell(status int, err error) {
	busy := errors.Is(err, errBusy) || errors.Is(err, errFull) || errors.Is(err, errClosed)
	if status < http.StatusInternalServerError || busy || !s.told.due(fmt.Sprint(status, reason(err)), time.Now()) {
		return
	}
	log, message := s.cfg.log.Error, "batches cannot be made"
	switch {
	case status == http.StatusServiceUnavailable:
		log, message = s.cfg.log.Warn, "batches cannot be made now, trainers are told to try again"
	case persists(err):
		message = "batches cannot be made until the service is started again"
	}
	log(message, "status", status, "err", err)
}

// due reports whether a reason is to be logged now, and notes that it was.
func (t *told) due(reason string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r, at := range t.last {
		if now.Sub(at) >= again {
			delete(t.last, r)
		}
	}
	if _, ok := t.last[reason]; ok || len(t.last) >= mostReasons {
		return false
	}
	if t.last == nil {
		t.last = make(map[string]time.Time)
	}
	t.last[reason] = now
	return true
}

// reason is the text of the innermost error, which names no sample.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
