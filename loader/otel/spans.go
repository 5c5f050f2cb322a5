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

// spans makes a span of every batch.
type spans struct {
	tracer trace.Tracer
	name   attribute.KeyValue

	mu      sync.Mutex
	batches map[int64]*batchSpan // begun and not ended, of those that are sampled
}

// A batchSpan is a batch's span, and what is known for its children.
type batchSpan struct {
	span             trace.Span
	begun, delivered time.Time // spans.mu guards delivered until the loop body runs; zero before

	mu     sync.Mutex
	stages []loader.StageTime
	failed []error // the first few
}

// maxFailed is the number of failed samples that a span has events for.
const maxFailed = 10

func newSpans(c *config) *spans {
	return &spans{
		tracer:  c.tracers.Tracer(scope),
		name:    attribute.String("penstock.loader.name", c.name),
		batches: map[int64]*batchSpan{},
	}
}

func (s *spans) of(b loader.BatchInfo) *batchSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches[b.ID]
}

// begun is a hook.
func (s *spans) begun(b loader.BatchInfo) {
	_, span := s.tracer.Start(b.Context, "batch", trace.WithTimestamp(b.Begun), trace.WithAttributes(s.name,
		attribute.Int("penstock.epoch", b.Epoch), attribute.Int("penstock.batch", b.Batch), attribute.Int("penstock.worker", b.Worker)))
	if !span.IsRecording() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches[b.ID] = &batchSpan{span: span, begun: b.Begun}
}

// sample is a hook.
func (s *spans) sample(i loader.SampleInfo) {
	if b := s.of(i.Batch); b != nil {
		b.add(i)
	}
}

func (b *batchSpan) add(i loader.SampleInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i.Err != nil && len(b.failed) < maxFailed {
		b.failed = append(b.failed, i.Err)
	}
	for _, stay := range i.Stages {
		k := slices.IndexFunc(b.stages, func(t loader.StageTime) bool { return t.Name == stay.Name })
		if k < 0 {
			k = len(b.stages)
			b.stages = append(b.stages, loader.StageTime{Name: stay.Name})
		}
		b.stages[k].Count++
		b.stages[k].Total += stay.Took
	}
}

// ready is a hook.
func (s *spans) ready(info loader.BatchInfo, took time.Duration) {
	b := s.of(info)
	if b == nil {
		return
	}
	end := b.begun.Add(took)
	span := s.child(b, "assemble", b.begun)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, stage := range joined(b.stages) {
		span.AddEvent(stage.Name, trace.WithTimestamp(end), trace.WithAttributes(
			attribute.Int64("penstock.stage.calls", stage.Count), attribute.Float64("penstock.stage.time", stage.Total.Seconds())))
	}
	for _, err := range b.failed {
		span.RecordError(err, trace.WithTimestamp(end))
	}
	if len(b.failed) > 0 {
		span.SetStatus(codes.Error, "samples failed")
	}
	span.End(trace.WithTimestamp(end))
}

// deliver notes that a batch is delivered, and returns its span, if it has one. The loop body
// of an earlier batch that has not ended has panicked: there is one loop body at a time.
func (s *spans) deliver(info loader.BatchInfo) *batchSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, earlier := range s.batches {
		if !earlier.delivered.IsZero() {
			earlier.giveUp()
			delete(s.batches, id)
		}
	}
	b := s.batches[info.ID]
	if b != nil {
		b.delivered = time.Now()
	}
	return b
}

// delivered is a hook.
func (s *spans) delivered(info loader.BatchInfo, waited time.Duration) {
	b := s.deliver(info)
	if b == nil {
		return
	}
	b.span.SetAttributes(attribute.Int("penstock.samples", info.Samples))
	s.child(b, "wait", b.delivered.Add(-waited)).End(trace.WithTimestamp(b.delivered))
}

// ended is a hook.
func (s *spans) ended(info loader.BatchInfo, took time.Duration) {
	b := s.end(info)
	if b == nil {
		return
	}
	end := b.delivered.Add(took)
	s.child(b, "body", b.delivered).End(trace.WithTimestamp(end))
	b.span.End(trace.WithTimestamp(end))
}

// freed is a hook. It ends the spans of batches that were not delivered. A batch that was,
// and has not ended, was detached in its loop body, or the body has panicked.
func (s *spans) freed(info loader.BatchInfo) {
	if b := s.of(info); b == nil || !b.delivered.IsZero() {
		return
	}
	if b := s.end(info); b != nil {
		b.giveUp()
	}
}

// closed is a hook. It ends the span of the batch whose loop body runs or has panicked, and
// those of batches that workers hold whose calls have not returned.
func (s *spans) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		b.giveUp()
	}
	clear(s.batches)
}

// giveUp ends the span of a batch whose loop body has not begun or has not returned.
func (b *batchSpan) giveUp() {
	if b.delivered.IsZero() {
		b.span.SetAttributes(attribute.Bool("penstock.delivered", false))
	} else {
		b.span.SetStatus(codes.Error, "the loop body has not returned")
	}
	b.span.End()
}

// end forgets a batch and returns its span, if it had not been forgotten.
func (s *spans) end(info loader.BatchInfo) *batchSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches[info.ID]
	delete(s.batches, info.ID)
	return b
}

// child begins a child of a batch's span.
func (s *spans) child(b *batchSpan, name string, begun time.Time) trace.Span {
	_, span := s.tracer.Start(trace.ContextWithSpan(context.Background(), b.span), name, trace.WithTimestamp(begun))
	return span
}
