package otel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/otel"
)

// everything is a loader that reads a web server's files through all kinds of sources.
// It returns the loader and a server that Prometheus can scrape.
func everything(t *testing.T) (*loader.Loader, *httptest.Server) {
	t.Helper()
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"a":         {Data: []byte("hello"), ModTime: time.Unix(1, 0)},
		"index.txt": {Data: []byte("a\t5\n"), ModTime: time.Unix(1, 0)},
	}))
	t.Cleanup(web.Close)
	remote, err := objects.HTTP(web.URL, objects.Index("index.txt"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(remote)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := cache.New(client, t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	ahead, err := prefetch.New(disk)
	if err != nil {
		t.Fatal(err)
	}
	file, err := ahead.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Func(256, fake{}.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		if err := ahead.ReadAt(ctx, file, make([]byte, 5), 0); err != nil {
			return err
		}
		dst.Stage(dataset.StageDecode)
		if i == 7 {
			return fmt.Errorf("sample %d is bad", i)
		}
		dataset.Set(dst, 0, int64(i))
		return nil
	})
	memory, err := dataset.Cached(ds, 512)
	if err != nil {
		t.Fatal(err)
	}
	hooks := otel.Trace(otel.Name("train"), otel.MeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
		otel.Cache("memory", memory), otel.DiskCache("disk", disk), otel.Objects("web", client), otel.Prefetch("web", ahead))
	l := loadertest.New(t, memory, loader.Workers(loader.Auto), loader.BatchSize(16), loader.Skip(loader.NoLimit), loader.Observe(hooks))
	scraped := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(scraped.Close)
	return l, scraped
}

func scrape(t *testing.T, s *httptest.Server) string {
	t.Helper()
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// series is the names of the series in a scrape, sorted.
func series(text string) (names []string) {
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, "{"); ok && !strings.HasPrefix(line, "#") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestPrometheusSeesTheseNames(t *testing.T) {
	l, server := everything(t)
	epoch(t, t.Context(), l, 0)
	text := scrape(t, server)
	want := strings.Fields(`
		penstock_cache_errors_total
		penstock_cache_evictions_total
		penstock_cache_limit_bytes
		penstock_cache_requests_total
		penstock_cache_usage_bytes
		penstock_loader_batches_delivered_total
		penstock_loader_batches_emptied_total
		penstock_loader_batches_ready
		penstock_loader_loop_time_seconds_total
		penstock_loader_samples_delivered_total
		penstock_loader_samples_dropped_total
		penstock_loader_slab_count
		penstock_loader_slab_usage_bytes
		penstock_loader_stage_calls_total
		penstock_loader_stage_time_seconds_total
		penstock_loader_wait_duration_seconds_bucket
		penstock_loader_wait_duration_seconds_count
		penstock_loader_wait_duration_seconds_sum
		penstock_loader_worker_count
		penstock_loader_worker_time_seconds_total
		penstock_objects_hedges_total
		penstock_objects_io_bytes_total
		penstock_objects_requests_total
		penstock_objects_retries_total
		penstock_prefetch_io_bytes_total
		penstock_prefetch_late_time_seconds_total
		penstock_prefetch_reads_total
		target_info
	`)
	if got := series(text); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range []string{
		`,penstock_loader_name="train"} 255` + "\n",
		`penstock_loader_name="train",penstock_stage="decode"} 256` + "\n",
		`penstock_result="miss",penstock_source_name="memory"} `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}
