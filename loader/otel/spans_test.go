package otel_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/otel"
)

// traced makes a TracerProvider with that sampler, and the option that gives it spans.
func traced(sampler trace.Sampler) (*trace.TracerProvider, *tracetest.SpanRecorder, loader.Option) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder), trace.WithSampler(sampler))
	return provider, recorder, loader.Observe(otel.Trace(otel.Spans(provider), otel.MeterProvider(noop.NewMeterProvider())))
}

// lines describes spans by their names, parents, times and events.
func lines(spans []trace.ReadOnlySpan, since time.Time) (lines []string) {
	names := map[string]string{}
	for _, s := range spans {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	slices.SortStableFunc(spans, func(a, b trace.ReadOnlySpan) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()), b.EndTime().Compare(a.EndTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, s := range spans {
		line := fmt.Sprintf("%s in %s: %v to %v", s.Name(), names[s.Parent().SpanID().String()], s.StartTime().Sub(since), s.EndTime().Sub(since))
		for _, e := range s.Events() {
			line += fmt.Sprintf("; %s %v", e.Name, e.Attributes)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestEveryBatchIsASpanWithItsStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, recorder, observe := traced(trace.AlwaysSample())
		since := time.Now()
		ctx, root := provider.Tracer("test").Start(t.Context(), "training")
		l := loadertest.New(t, fake{n: 2, read: 3 * time.Millisecond, decode: 5 * time.Millisecond}, loader.Workers(1), loader.BatchSize(2), observe)
		epoch(t, ctx, l, time.Second)
		root.End()
		got := lines(recorder.Ended(), since)
		want := []string{
			"batch in training: 0s to 1.016s",
			"training in : 0s to 1.016s",
			`assemble in batch: 0s to 16ms; read [{"penstock.stage.calls":2} {"penstock.stage.time":0.006}]; decode [{"penstock.stage.calls":2} {"penstock.stage.time":0.01}]`,
			"wait in batch: 0s to 16ms",
			"body in batch: 16ms to 1.016s",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		for _, s := range recorder.Ended() {
			if s.Name() != "batch" {
				continue
			}
			want := `[{"penstock.loader.name":"loader"} {"penstock.epoch":0} {"penstock.batch":0} {"penstock.worker":0} {"penstock.samples":2}]`
			if got := fmt.Sprint(s.Attributes()); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestOnlyBatchesWhoseBodyHasEndedAreSpans(t *testing.T) {
	_, recorder, observe := traced(trace.AlwaysSample())
	l := loadertest.New(t, fake{n: 64}, loader.Workers(2), observe)
	func() {
		defer func() { recover() }()
		for b := range l.Epoch(t.Context(), 0) {
			if b.Number() == 3 {
				panic("broken")
			}
		}
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	batches := 0
	for _, s := range recorder.Ended() {
		if s.Name() == "batch" {
			batches++
		}
	}
	if started, ended := len(recorder.Started()), len(recorder.Ended()); started != ended || batches < 3 || batches > 4 {
		t.Errorf("%d spans have begun, and %d have ended, %d of batches; want those of 3 batches, or 4 with the one that panicked", started, ended, batches)
	}
}

// A slowProcessor waits at the end of the first span until a later sample is done.
type slowProcessor struct {
	trace.SpanProcessor
	once  sync.Once
	later chan struct{}
	t     *testing.T
}

func (p *slowProcessor) OnEnd(trace.ReadOnlySpan) {
	p.once.Do(func() {
		for len(p.later) > 0 {
			<-p.later
		}
		select {
		case <-p.later:
		case <-time.After(10 * time.Second):
			p.t.Error("no sample is done while a span is exported")
		}
	})
}

func TestWorkersDoNotWaitForAnExport(t *testing.T) {
	later := make(chan struct{}, 4096)
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(&slowProcessor{tracetest.NewSpanRecorder(), sync.Once{}, later, t}))
	l := loadertest.New(t, fake{n: 2048, read: time.Millisecond}, loader.Workers(2), loader.BatchSize(256),
		loader.Observe(otel.Trace(otel.Spans(provider), otel.MeterProvider(noop.NewMeterProvider()))),
		loader.Observe(loader.Trace{SampleDone: func(loader.SampleInfo) { later <- struct{}{} }}))
	for range l.Epoch(t.Context(), 0) {
		break
	}
}

func TestSpansNameTheSamplesThatFailed(t *testing.T) {
	_, recorder, observe := traced(trace.AlwaysSample())
	l := loadertest.New(t, fake{n: 64, bad: func(i int) bool { return i >= 20 }}, loader.BatchSize(32), loader.Skip(loader.NoLimit), observe)
	epoch(t, t.Context(), l, 0)
	exceptions := 0
	for _, s := range recorder.Ended() {
		for _, e := range s.Events() {
			if e.Name == "exception" {
				exceptions++
			}
		}
	}
	if exceptions != 10 {
		t.Errorf("got %d events, want one for each of the first 10 failures", exceptions)
	}
}

func TestBatchesThatAreNotSampledHaveNoSpans(t *testing.T) {
	provider, recorder, observe := traced(trace.ParentBased(trace.NeverSample()))
	l := loadertest.New(t, fake{n: 64}, loader.BatchSize(8), observe)
	epoch(t, t.Context(), l, 0)
	ctx, root := provider.Tracer("test").Start(context.Background(), "training")
	epoch(t, ctx, l, 0)
	root.End()
	if got := len(recorder.Ended()); got != 0 {
		t.Errorf("got %d spans, want none", got)
	}
}
