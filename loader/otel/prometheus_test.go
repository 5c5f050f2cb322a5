package otel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEveryPanelHasDataInPrometheus runs Prometheus, if it is installed, lets it scrape a
// loader at work, and asks it what the dashboard asks.
func TestEveryPanelHasDataInPrometheus(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil || testing.Short() {
		t.Skip("Prometheus is not installed, or -short is given")
	}
	l, target := everything(t)
	address := startPrometheus(t, program, strings.TrimPrefix(target.URL, "http://"))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range l.Epochs(ctx, 0, 1<<30) {
			time.Sleep(time.Millisecond) // the loop body
		}
	}()
	defer func() {
		cancel()
		<-over
	}()
	variables := strings.NewReplacer("$__rate_interval", "3s", "$__range", "1m", "$loader", ".*")
	deadline := time.Now().Add(5 * time.Minute)
	for _, p := range dashboard(t) {
		for _, target := range p.Targets {
			query := variables.Replace(target.Expr)
			for {
				n, err := ask(ctx, address, query)
				if n > 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %s: %d series, %v", p.Title, query, n, err)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
}

// startPrometheus starts Prometheus with that target, and returns its address.
func startPrometheus(t *testing.T, program, target string) (address string) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global:\n  scrape_interval: 500ms\nscrape_configs:\n- job_name: loader\n  metrics_path: /\n  static_configs:\n  - targets: [%q]\n", target)
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	free.Close()
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return address
}

// ask is the number of series in the answer to a query.
func ask(ctx context.Context, address, query string) (series int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v1/query?query="+url.QueryEscape(query), nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, err
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("%s: %s", answer.Status, answer.Error)
	}
	return len(answer.Data.Result), nil
}
