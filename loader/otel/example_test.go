package otel_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/otel"
)

// A loader whose metrics Prometheus scrapes.
func ExampleTrace() {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		log.Fatal(err)
	}
	provider := metric.NewMeterProvider(metric.WithReader(reader)) // or the global one, by otel.SetMeterProvider
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()

	hooks := otel.Trace(otel.Name("train"), otel.MeterProvider(provider))
	l, err := loader.New(fake{n: 100}, loader.BatchSize(16), loader.Observe(hooks))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for _, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
	}

	resp, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "# HELP penstock_loader_samples") || strings.Contains(line, "# HELP penstock_loader_wait") {
			fmt.Print(line)
		}
	}
	// Output:
	// # HELP penstock_loader_samples_delivered_total Samples delivered to the loop body.
	// # HELP penstock_loader_samples_dropped_total Samples that could not be placed.
	// # HELP penstock_loader_wait_duration_seconds Waits of the loop for a batch.
}
