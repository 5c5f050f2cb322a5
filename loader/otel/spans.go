package otel

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/penstock-go/penstock/loader"
)

// spans makes a span of every batch, when its loop body has ended.
type spans struct {
	tracer trace.Tracer
	name   attribute.KeyValue

	mu      sync.Mutex
	batches map[int64]*course // of batches that are not freed, and whose loop body has not ended
}

// A course is what is known of a batch.
type course struct {
	ready, delivered time.Time
	waited           time.Duration
	stages           []loader.StageTime
	failed           []error // the first few
}

// maxFailed is the number of failed samples that a span has events for.
const maxFailed = 10

func newSpans(c *config) *spans {
	return &spans{tracer: c.tracers.Tracer(scope), name: attribute.String("penstock.loader.name", c.name), batches: map[int64]*course{}}
}

// of locks the course of a batch until unlock is called.
func (s *spans) of(b loader.BatchInfo) (c *course, unlock func()) {
	s.mu.Lock()
	c = s.batches[b.ID]
	if c == nil {
		c = &course{}
		s.batches[b.ID] = c
	}
	return c, s.mu.Unlock
}

// sample is a hook.
func (s *spans) sample(i loader.SampleInfo) {
	c, unlock := s.of(i.Batch)
	defer unlock()
	if i.Err != nil && len(c.failed) < maxFailed {
		c.failed = append(c.failed, i.Err)
	}
	for _, stay := range i.Stages {
		k := slices.IndexFunc(c.stages, func(t loader.StageTime) bool { return t.Name == stay.Name })
		if k < 0 {
			k = len(c.stages)
			c.stages = append(c.stages, loader.StageTime{Name: stay.Name})
		}
		c.stages[k].Count++
		c.stages[k].Total += stay.Took
	}
}

// ready is a hook.
func (s *spans) ready(b loader.BatchInfo, took time.Duration) {
	c, unlock := s.of(b)
	defer unlock()
	c.ready = b.Begun.Add(took)
}

// delivered is a hook.
func (s *spans) delivered(b loader.BatchInfo, waited time.Duration) {
	c, unlock := s.of(b)
	defer unlock()
	c.delivered, c.waited = time.Now(), waited
}

// ended is a hook. It calls the tracer, which may export, without the mutex: no hook touches the
// course of a batch after its loop body but this one.
func (s *spans) ended(b loader.BatchInfo, took time.Duration) {
	s.mu.Lock()
	c := s.batches[b.ID]
	delete(s.batches, b.ID)
	s.mu.Unlock()
	end := c.delivered.Add(took)
	ctx, span := s.tracer.Start(b.Context, "batch", trace.WithTimestamp(b.Begun), trace.WithAttributes(s.name, attribute.Int("penstock.epoch", b.Epoch),
		attribute.Int("penstock.batch", b.Batch), attribute.Int("penstock.worker", b.Worker), attribute.Int("penstock.samples", b.Samples)))
	defer span.End(trace.WithTimestamp(end))
	if !span.IsRecording() {
		return
	}
	assemble := s.child(ctx, "assemble", b.Begun)
	for _, stage := range joined(c.stages) {
		assemble.AddEvent(stage.Name, trace.WithTimestamp(c.ready), trace.WithAttributes(
			attribute.Int64("penstock.stage.calls", stage.Count), attribute.Float64("penstock.stage.time", stage.Total.Seconds())))
	}
	for _, err := range c.failed {
		assemble.RecordError(err, trace.WithTimestamp(c.ready))
	}
	if len(c.failed) > 0 {
		assemble.SetStatus(codes.Error, "samples failed")
	}
	assemble.End(trace.WithTimestamp(c.ready))
	s.child(ctx, "wait", c.delivered.Add(-c.waited)).End(trace.WithTimestamp(c.delivered))
	s.child(ctx, "body", c.delivered).End(trace.WithTimestamp(end))
}

func (s *spans) child(ctx context.Context, name string, begun time.Time) trace.Span {
	_, span := s.tracer.Start(ctx, name, trace.WithTimestamp(begun))
	return span
}

// freed is a hook.
func (s *spans) freed(b loader.BatchInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.batches, b.ID)
}
