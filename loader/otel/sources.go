package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

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
