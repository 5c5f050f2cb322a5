package otel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/otel"
)

// metrics makes a MeterProvider and a function that collects what it has: the values by
// name and attributes, and a histogram by its count and sum.
func metrics(t testing.TB) (*metric.MeterProvider, func() map[string]float64) {
	r := metric.NewManualReader()
	return metric.NewMeterProvider(metric.WithReader(r)), func() map[string]float64 {
		t.Helper()
		var all metricdata.ResourceMetrics
		if err := r.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				note(values, m)
			}
		}
		return values
	}
}

func note(values map[string]float64, m metricdata.Metrics) {
	key := func(set attribute.Set) string { return m.Name + set.Encoded(attribute.DefaultEncoder()) }
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			values[key(p.Attributes)] = float64(p.Value)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			values[key(p.Attributes)] = p.Value
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			values[key(p.Attributes)+" count"] = float64(p.Count)
			values[key(p.Attributes)+" sum"] = p.Sum
		}
	default:
		values[fmt.Sprintf("%s is a %T", m.Name, data)] = 0
	}
}

func TestMetricsAreWhatTheLoaderHasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, collect := metrics(t)
		ds := fake{n: 32, read: 3 * time.Millisecond, decode: 5 * time.Millisecond, bad: func(i int) bool { return i >= 7 && i < 16 }}
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(8), loader.Skip(loader.NoLimit),
			loader.Observe(otel.Trace(otel.Name("train"), otel.MeterProvider(provider))))
		epoch(t, t.Context(), l, 20*time.Millisecond)
		s := l.Stats()
		const train = "penstock.loader.name=train"
		want := map[string]float64{
			"penstock.loader.samples.delivered" + train: 23,
			"penstock.loader.samples.dropped" + train:   9,
			"penstock.loader.batches.delivered" + train: 3,
			"penstock.loader.batches.emptied" + train:   1,
			"penstock.loader.batches.ready" + train:     0,
			"penstock.loader.worker.count" + train:      1,
			"penstock.loader.slab.count" + train:        3,
			"penstock.loader.slab.usage" + train:        float64(s.SlabBytes),

			"penstock.loader.loop.time" + train + ",penstock.loop.state=wait":            s.Wait.Seconds(),
			"penstock.loader.loop.time" + train + ",penstock.loop.state=body":            0.06,
			"penstock.loader.worker.time" + train + ",penstock.worker.state=busy":        0.256,
			"penstock.loader.worker.time" + train + ",penstock.worker.state=drawing":     s.Drawing.Seconds(),
			"penstock.loader.worker.time" + train + ",penstock.worker.state=memory_wait": s.MemoryWait.Seconds(),
			"penstock.loader.stage.time" + train + ",penstock.stage=read":                0.096,
			"penstock.loader.stage.time" + train + ",penstock.stage=decode":              0.16,
			"penstock.loader.stage.calls" + train + ",penstock.stage=read":               32,
			"penstock.loader.stage.calls" + train + ",penstock.stage=decode":             32,

			"penstock.loader.wait.duration" + train + " count": 3, // that of the emptied batch goes on in the next one's
			"penstock.loader.wait.duration" + train + " sum":   s.Wait.Seconds(),
		}
		got := collect()
		for key, value := range want {
			if v, ok := got[key]; !ok || math.Abs(v-value) > 1e-9 {
				t.Errorf("%s: got %v (%v), want %v", key, v, ok, value)
			}
			delete(got, key)
		}
		if len(got) > 0 {
			t.Errorf("there are more metrics: %v", got)
		}
	})
}

func TestTheNumberOfWorkersIsThatOfAuto(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, collect := metrics(t)
		l := loadertest.New(t, fake{n: 10_000, read: 10 * time.Millisecond}, loader.Workers(loader.Auto), loader.BatchSize(8), loader.Observe(otel.Trace(otel.MeterProvider(provider))))
		epoch(t, t.Context(), l, 0)
		got, s := collect(), l.Stats()
		if s.Workers <= runtime.GOMAXPROCS(0) {
			t.Fatalf("got %v, want more workers", s.Tuning)
		}
		if value := got["penstock.loader.worker.countpenstock.loader.name=loader"]; value != float64(s.Workers) {
			t.Errorf("got %v, want %d", value, s.Workers)
		}
	})
}

// TestOnlyNamesKeepLoadersApart, as Name says.
func TestOnlyNamesKeepLoadersApart(t *testing.T) {
	provider, collect := metrics(t)
	for _, name := range []string{"loader", "", "validation"} {
		options := []otel.Option{otel.MeterProvider(provider)}
		if name != "" {
			options = append(options, otel.Name(name))
		}
		epoch(t, t.Context(), loadertest.New(t, fake{n: 64}, loader.Observe(otel.Trace(options...))), 0)
	}
	got := collect()
	const delivered = "penstock.loader.samples.deliveredpenstock.loader.name="
	if got[delivered+"loader"] != 128 || got[delivered+"validation"] != 64 {
		t.Errorf("got %v", got)
	}
}

func TestAClosedLoaderIsNotObserved(t *testing.T) {
	provider, collect := metrics(t)
	l := loadertest.New(t, fake{n: 64}, loader.BatchSize(8), loader.Observe(otel.Trace(otel.MeterProvider(provider))))
	epoch(t, t.Context(), l, 0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := collect()
	// A histogram is recorded, and keeps what it has.
	const wait = "penstock.loader.wait.durationpenstock.loader.name=loader"
	if len(got) != 2 || got[wait+" count"] != 8 {
		t.Errorf("got %v, want the 8 waits alone", got)
	}
}

func TestATraceIsForOneLoader(t *testing.T) {
	provider, collect := metrics(t)
	hooks := loader.Observe(otel.Trace(otel.MeterProvider(provider)))
	l := loadertest.New(t, fake{n: 8}, hooks)
	if _, err := loader.New(fake{n: 8}, hooks); err == nil || !strings.Contains(err.Error(), "loader: hook LoaderMade: otel: Trace: it already belongs to a loader") {
		t.Errorf("got %v", err)
	}
	epoch(t, t.Context(), l, 0)
	if got := collect()["penstock.loader.samples.deliveredpenstock.loader.name=loader"]; got != 8 {
		t.Errorf("got %v samples, want those of the first loader", got)
	}
}

// A refusingProvider has errors in place of histograms.
type refusingProvider struct{ noop.MeterProvider }

func (refusingProvider) Meter(string, ...api.MeterOption) api.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Float64Histogram(string, ...api.Float64HistogramOption) (api.Float64Histogram, error) {
	return nil, errors.New("refused")
}

func TestErrorsOfAProviderAreForItsHandler(t *testing.T) {
	var got []error
	before := global.GetErrorHandler()
	defer global.SetErrorHandler(before)
	global.SetErrorHandler(global.ErrorHandlerFunc(func(err error) { got = append(got, err) }))
	l := loadertest.New(t, fake{n: 8}, loader.Observe(otel.Trace(otel.MeterProvider(refusingProvider{}))))
	epoch(t, t.Context(), l, 0)
	if len(got) != 1 || !strings.Contains(got[0].Error(), "refused") {
		t.Errorf("the handler got %v", got)
	}
}

func TestCachesAreObserved(t *testing.T) {
	provider, collect := metrics(t)
	cached, err := dataset.Cached(fake{n: 64}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	l := loadertest.New(t, cached, loader.BatchSize(8), loader.Observe(otel.Trace(otel.MeterProvider(provider), otel.Cache("memory", cached))))
	for range 3 {
		epoch(t, t.Context(), l, 0)
	}
	got, s := collect(), dataset.StatsOf(cached)
	for key, want := range map[string]int64{
		"penstock.cache.requestspenstock.result=hit,penstock.source.name=memory":  s.Hits,
		"penstock.cache.requestspenstock.result=miss,penstock.source.name=memory": 64,
		"penstock.cache.usagepenstock.source.name=memory":                         s.Bytes,
		"penstock.cache.limitpenstock.source.name=memory":                         1 << 20,
	} {
		if value, ok := got[key]; !ok || value != float64(want) || want == 0 {
			t.Errorf("%s: got %v (%v), want %d", key, value, ok, want)
		}
	}
}

func TestStagesBeyondTheFirstAreJoined(t *testing.T) {
	provider, collect := metrics(t)
	ds := dataset.Func(100, fake{}.Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(fmt.Sprintf("stage-%d", i))
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	l := loadertest.New(t, ds, loader.Workers(1), loader.Observe(otel.Trace(otel.MeterProvider(provider))))
	epoch(t, t.Context(), l, 0)
	const calls = "penstock.loader.stage.callspenstock.loader.name=loader,penstock.stage="
	got := collect()
	if got[calls+"stage-0"] != 1 || got[calls+"stage-31"] != 1 || got[calls+"_OTHER"] != 68 {
		t.Errorf("got %v", got)
	}
	if _, ok := got[calls+"stage-32"]; ok {
		t.Error("stage 32 has a series of its own")
	}
}
