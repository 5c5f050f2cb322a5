// Package otel reports what a loader does as OpenTelemetry metrics and, on demand, as
// spans.
//
//	l, err := loader.New(ds, loader.Observe(otel.Trace(otel.Name("train"))))
//
// Metrics go to the global MeterProvider, or to the one that the option [MeterProvider]
// gives. They are reported from when the loader is made until it is closed. They are read
// from [loader.Loader.Stats] when they are collected, so between collections they cost
// some microseconds per batch. What a loader did after the last collection before Close is in
// no counter: where metrics are pushed, call the provider's ForceFlush before Close.
//
// # Metrics
//
//	penstock.loader.samples.delivered  {sample}  counter
//	penstock.loader.samples.dropped    {sample}  counter
//	penstock.loader.batches.delivered  {batch}   counter
//	penstock.loader.batches.emptied    {batch}   counter, of batches that lost all samples
//	penstock.loader.batches.ready      {batch}   up-down counter, of complete batches that wait for the loop body
//	penstock.loader.wait.duration      s         histogram, of the loop's waits for batches
//	penstock.loader.loop.time          s         counter; penstock.loop.state is wait or body
//	penstock.loader.worker.time        s         counter, of all workers together; penstock.worker.state is busy, drawing or memory_wait
//	penstock.loader.worker.count       {worker}  up-down counter, with loader.Auto of those that are active
//	penstock.loader.slab.count         {slab}    up-down counter
//	penstock.loader.slab.usage         By        up-down counter
//	penstock.loader.stage.time         s         counter; penstock.stage is the dataset's name for the stage
//	penstock.loader.stage.calls        {call}    counter; penstock.stage as before
//
// All of them have the attribute penstock.loader.name (see [Name]). Stages after the first
// 32 are counted together, as _OTHER.
//
// With [Cache], [DiskCache], [Objects] and [Prefetch]:
//
//	penstock.cache.requests     {request}   counter; penstock.result is hit or miss
//	penstock.cache.usage        By          up-down counter
//	penstock.cache.limit        By          up-down counter
//	penstock.cache.evictions    {eviction}  counter, of [DiskCache] alone
//	penstock.cache.errors       {error}     counter, of [DiskCache] alone: errors of the disk and damaged blocks
//	penstock.objects.requests   {request}   counter
//	penstock.objects.retries    {request}   counter
//	penstock.objects.hedges     {request}   counter
//	penstock.objects.io         By          counter
//	penstock.prefetch.reads     {read}      counter; penstock.result is ready, late or direct
//	penstock.prefetch.io        By          counter
//	penstock.prefetch.late.time s           counter, of reads that waited
//
// They have the attribute penstock.source.name, the name that the option gives.
//
// # Grafana
//
// The file grafana.json in this folder is a dashboard for these metrics in Prometheus, with
// the names that OpenTelemetry's exporter gives them, such as
// penstock_loader_wait_duration_seconds. Import it in Grafana, and choose the data source.
package otel

import (
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/loader"
)

// scope is the name of the instrumentation.
const scope = "github.com/penstock-go/penstock/loader/otel"

// An Option changes what [Trace] reports. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	name    string
	meters  metric.MeterProvider
	tracers trace.TracerProvider // nil if there are no spans
	sources []source
}

// Name sets the attribute penstock.loader.name, in which loaders that are open at the same
// time must differ, because OpenTelemetry adds up what has the same attributes. The default
// is "loader", so at most one of them can do without Name. Names that stay the same from
// run to run, such as "train" and "validation", keep their series in Prometheus.
func Name(name string) Option { return Option{func(c *config) { c.name = name }} }

// MeterProvider sets where the metrics go. The default is the global one, as it is when
// [Trace] is called. A no-op MeterProvider turns metrics off.
func MeterProvider(p metric.MeterProvider) Option { return Option{func(c *config) { c.meters = p }} }

// Spans turns spans on. They go to the TracerProvider p, or if p is nil to the global one,
// as it is when [Trace] is called.
//
// Every batch that is delivered is a span "batch" from when a worker begins it to the end of
// the loop body, where it is made. Its parent is the span in the context of the loop. It has
// three children: "assemble" until the last sample is placed, "wait" while the loop waited for
// it, and "body". The span "assemble" has an event for every stage, with the number of calls
// and the time of all samples together, and one for each of the first ten samples that failed.
func Spans(p trace.TracerProvider) Option {
	return Option{func(c *config) {
		if p == nil {
			p = otel.GetTracerProvider()
		}
		c.tracers = p
	}}
}

// Cache adds the metrics of a dataset that dataset.Cached made.
func Cache(name string, ds dataset.Dataset) Option { return add(name, cached{ds}) }

// DiskCache adds the metrics of a cache of objects on the local disk.
func DiskCache(name string, c *cache.Cache) Option { return add(name, onDisk{c}) }

// Objects adds the metrics of a client of an object store.
func Objects(name string, c *objects.Client) Option { return add(name, client{c}) }

// Prefetch adds the metrics of a prefetcher of objects.
func Prefetch(name string, p *prefetch.Prefetcher) Option { return add(name, prefetcher{p}) }

func add(name string, w watched) Option {
	return Option{func(c *config) {
		c.sources = append(c.sources, source{attribute.String("penstock.source.name", name), w})
	}}
}

// Trace gives the hooks that report what a loader does. They are for one loader: [loader.New]
// returns an error if they are given to a second one. Errors of OpenTelemetry go to its error
// handler (see otel.SetErrorHandler); they never make a loader fail.
func Trace(options ...Option) loader.Trace {
	c := config{name: "loader", meters: otel.GetMeterProvider()}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	m := newMeter(&c)
	t := loader.Trace{
		LoaderMade:     m.register,
		LoaderClosed:   m.unregister,
		BatchDelivered: m.waited,
	}
	if c.tracers != nil {
		s := newSpans(&c)
		t.BatchReady, t.BatchEnded, t.BatchFreed, t.SampleDone = s.ready, s.ended, s.freed, s.sample
		t.BatchDelivered = func(b loader.BatchInfo, waited time.Duration) {
			m.waited(b, waited)
			s.delivered(b, waited)
		}
	}
	return t
}
