package otel

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/loader"
)

// A meter reports the metrics of a loader and of its sources.
type meter struct {
	provider metric.MeterProvider
	sources  []source

	plain, waiting, body, busy, drawing, memoryWait metric.MeasurementOption
	name                                            attribute.KeyValue

	mu     sync.Mutex
	used   bool // whether a loader has it, or had
	wait   metric.Float64Histogram
	reg    metric.Registration
	stages map[string]metric.MeasurementOption
}

func newMeter(c *config) *meter {
	name := attribute.String("penstock.loader.name", c.name)
	return &meter{
		provider:   c.meters,
		sources:    c.sources,
		name:       name,
		plain:      with(name),
		waiting:    with(name, attribute.String("penstock.loop.state", "wait")),
		body:       with(name, attribute.String("penstock.loop.state", "body")),
		busy:       with(name, attribute.String("penstock.worker.state", "busy")),
		drawing:    with(name, attribute.String("penstock.worker.state", "drawing")),
		memoryWait: with(name, attribute.String("penstock.worker.state", "memory_wait")),
		stages:     map[string]metric.MeasurementOption{},
	}
}

func with(attributes ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(attributes...))
}

// register is a hook. From now on the loader is observed.
func (m *meter) register(l *loader.Loader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used {
		return errors.New("otel: Trace: it already belongs to a loader, and every loader needs one of its own")
	}
	m.used = true
	set := instruments{meter: m.provider.Meter(scope)}
	var err error
	m.wait, err = set.meter.Float64Histogram("penstock.loader.wait.duration", metric.WithUnit("s"),
		metric.WithDescription("Waits of the loop for a batch."), boundaries)
	callbacks := []metric.Callback{m.loader(l, &set)}
	for _, s := range m.sources {
		callbacks = append(callbacks, s.kind.instruments(&set, with(s.name)))
	}
	observe := func(ctx context.Context, o metric.Observer) error {
		var errs []error
		for _, callback := range callbacks {
			errs = append(errs, callback(ctx, o))
		}
		return errors.Join(errs...)
	}
	var failed error
	m.reg, failed = set.meter.RegisterCallback(observe, set.made...)
	if err = errors.Join(err, set.err, failed); err != nil {
		otel.Handle(err)
	}
	return nil
}

// unregister is a hook. The loader is not observed any more.
func (m *meter) unregister() error {
	m.mu.Lock()
	reg := m.reg
	m.mu.Unlock()
	if reg != nil {
		if err := reg.Unregister(); err != nil {
			otel.Handle(err)
		}
	}
	return nil
}

// waited is a hook.
func (m *meter) waited(b loader.BatchInfo, d time.Duration) {
	m.mu.Lock()
	wait := m.wait
	m.mu.Unlock()
	if wait != nil { // a provider may return an error in its place
		wait.Record(b.Context, d.Seconds(), m.plain)
	}
}

// boundaries are those of the buckets of the wait histogram, in seconds.
var boundaries = metric.WithExplicitBucketBoundaries(
	1e-5, 1e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

// loader makes the instruments of the loader, and their callback.
func (m *meter) loader(l *loader.Loader, set *instruments) metric.Callback {
	samples := set.count("penstock.loader.samples.delivered", "{sample}", "Samples delivered to the loop body.")
	dropped := set.count("penstock.loader.samples.dropped", "{sample}", "Samples that could not be placed.")
	batches := set.count("penstock.loader.batches.delivered", "{batch}", "Batches delivered to the loop body.")
	emptied := set.count("penstock.loader.batches.emptied", "{batch}", "Batches that lost all their samples.")
	ready := set.level("penstock.loader.batches.ready", "{batch}", "Complete batches that wait for the loop body.")
	loop := set.time("penstock.loader.loop.time", "Time of the loop, by state.")
	work := set.time("penstock.loader.worker.time", "Time of all workers together, by state.")
	workers := set.level("penstock.loader.worker.count", "{worker}", "Workers, with Auto those that are active.")
	slabs := set.level("penstock.loader.slab.count", "{slab}", "Slabs, each the memory of one batch.")
	memory := set.level("penstock.loader.slab.usage", "By", "Bytes of all slabs and ragged fields.")
	spent := set.time("penstock.loader.stage.time", "Time of all workers together, by stage.")
	calls := set.count("penstock.loader.stage.calls", "{call}", "How often stages were entered.")
	return func(_ context.Context, o metric.Observer) error {
		s := l.Stats()
		o.ObserveInt64(samples, s.Samples, m.plain)
		o.ObserveInt64(dropped, s.Dropped, m.plain)
		o.ObserveInt64(batches, s.Batches, m.plain)
		o.ObserveInt64(emptied, s.Emptied, m.plain)
		o.ObserveInt64(ready, int64(s.Ready), m.plain)
		o.ObserveFloat64(loop, s.Wait.Seconds(), m.waiting)
		o.ObserveFloat64(loop, s.Body.Seconds(), m.body)
		o.ObserveFloat64(work, s.Busy.Seconds(), m.busy)
		o.ObserveFloat64(work, s.Drawing.Seconds(), m.drawing)
		o.ObserveFloat64(work, s.MemoryWait.Seconds(), m.memoryWait)
		o.ObserveInt64(workers, int64(s.Workers), m.plain)
		o.ObserveInt64(slabs, int64(s.Slabs), m.plain)
		o.ObserveInt64(memory, s.SlabBytes, m.plain)
		for _, stage := range joined(s.Stages) {
			option := m.stage(stage.Name)
			o.ObserveFloat64(spent, stage.Total.Seconds(), option)
			o.ObserveInt64(calls, stage.Count, option)
		}
		return nil
	}
}

// stage is the option of a stage's measurements.
func (m *meter) stage(name string) metric.MeasurementOption {
	m.mu.Lock()
	defer m.mu.Unlock()
	option, ok := m.stages[name]
	if !ok {
		option = with(m.name, attribute.String("penstock.stage", name))
		m.stages[name] = option
	}
	return option
}

// maxStages is the number of stages that have a name.
const maxStages = 32

// joined joins the stages after the first 32.
func joined(stages []loader.StageTime) []loader.StageTime {
	if len(stages) <= maxStages {
		return stages
	}
	rest := loader.StageTime{Name: "_OTHER"}
	for _, s := range stages[maxStages:] {
		rest.Count += s.Count
		rest.Total += s.Total
	}
	return append(stages[:maxStages:maxStages], rest)
}

// instruments makes the instruments of a meter, and collects the errors.
type instruments struct {
	meter metric.Meter
	made  []metric.Observable
	err   error
}

func (s *instruments) add(i metric.Observable, err error) {
	s.made = append(s.made, i)
	s.err = errors.Join(s.err, err)
}

// count makes a counter.
func (s *instruments) count(name, unit, description string) metric.Int64ObservableCounter {
	i, err := s.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	s.add(i, err)
	return i
}

// level makes an up-down counter.
func (s *instruments) level(name, unit, description string) metric.Int64ObservableUpDownCounter {
	i, err := s.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	s.add(i, err)
	return i
}

// time makes a counter of seconds.
func (s *instruments) time(name, description string) metric.Float64ObservableCounter {
	i, err := s.meter.Float64ObservableCounter(name, metric.WithUnit("s"), metric.WithDescription(description))
	s.add(i, err)
	return i
}

// A source is something that a loader reads through, and that counts what it does.
type source struct {
	name attribute.KeyValue
	kind watched
}

// watched makes the instruments of a source, and the callback that observes them.
type watched interface {
	instruments(set *instruments, name metric.MeasurementOption) metric.Callback
}

func result(value string) metric.MeasurementOption {
	return with(attribute.String("penstock.result", value))
}

// requests, usage and limit are common to all caches.
func requests(set *instruments) metric.Int64ObservableCounter {
	return set.count("penstock.cache.requests", "{request}", "Requests to a cache, by result.")
}

func usage(set *instruments) metric.Int64ObservableUpDownCounter {
	return set.level("penstock.cache.usage", "By", "Bytes that a cache takes.")
}

func limit(set *instruments) metric.Int64ObservableUpDownCounter {
	return set.level("penstock.cache.limit", "By", "Bytes that a cache may take.")
}

type cached struct{ ds dataset.Dataset }

func (k cached) instruments(set *instruments, name metric.MeasurementOption) metric.Callback {
	requests, usage, limit := requests(set), usage(set), limit(set)
	hit, miss := result("hit"), result("miss")
	return func(_ context.Context, o metric.Observer) error {
		s := dataset.StatsOf(k.ds)
		o.ObserveInt64(requests, s.Hits, name, hit)
		o.ObserveInt64(requests, s.Misses, name, miss)
		o.ObserveInt64(usage, s.Bytes, name)
		o.ObserveInt64(limit, s.Limit, name)
		return nil
	}
}

type onDisk struct{ c *cache.Cache }

func (k onDisk) instruments(set *instruments, name metric.MeasurementOption) metric.Callback {
	requests, usage, limit := requests(set), usage(set), limit(set)
	evictions := set.count("penstock.cache.evictions", "{eviction}", "Blocks deleted to make room for others.")
	failed := set.count("penstock.cache.errors", "{error}", "Errors of the disk, and damaged blocks.")
	hit, miss := result("hit"), result("miss")
	return func(_ context.Context, o metric.Observer) error {
		s := k.c.Stats()
		o.ObserveInt64(requests, s.Hits, name, hit)
		o.ObserveInt64(requests, s.Misses, name, miss)
		o.ObserveInt64(usage, s.Used, name)
		o.ObserveInt64(limit, s.Limit, name)
		o.ObserveInt64(evictions, s.Evictions, name)
		o.ObserveInt64(failed, s.DiskErrors+s.Damaged, name)
		return nil
	}
}

type client struct{ c *objects.Client }

func (k client) instruments(set *instruments, name metric.MeasurementOption) metric.Callback {
	requests := set.count("penstock.objects.requests", "{request}", "Requests sent to the store, of all kinds.")
	retries := set.count("penstock.objects.retries", "{request}", "Requests sent because an earlier one was broken.")
	hedges := set.count("penstock.objects.hedges", "{request}", "Requests sent because another one took long.")
	read := set.count("penstock.objects.io", "By", "Bytes read from the store.")
	return func(_ context.Context, o metric.Observer) error {
		s := k.c.Stats()
		o.ObserveInt64(requests, s.Requests, name)
		o.ObserveInt64(retries, s.Retries, name)
		o.ObserveInt64(hedges, s.Hedges, name)
		o.ObserveInt64(read, s.Bytes, name)
		return nil
	}
}

type prefetcher struct{ p *prefetch.Prefetcher }

func (k prefetcher) instruments(set *instruments, name metric.MeasurementOption) metric.Callback {
	reads := set.count("penstock.prefetch.reads", "{read}", "Reads of blocks, by result.")
	fetched := set.count("penstock.prefetch.io", "By", "Bytes fetched in advance.")
	late := set.time("penstock.prefetch.late.time", "Time that reads waited for a request under way.")
	byReady, byLate, byDirect := result("ready"), result("late"), result("direct")
	return func(_ context.Context, o metric.Observer) error {
		s := k.p.Stats()
		o.ObserveInt64(reads, s.Ready, name, byReady)
		o.ObserveInt64(reads, s.Late, name, byLate)
		o.ObserveInt64(reads, s.Direct, name, byDirect)
		o.ObserveInt64(fetched, s.Bytes, name)
		o.ObserveFloat64(late, s.LateTime.Seconds(), name)
		return nil
	}
}
