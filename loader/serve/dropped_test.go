package serve_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
)

// unreadable are 80 samples. Two of four cannot be read, and none of batch 5 in order.
func unreadable() *source {
	return &source{n: 80, fails: func(i int) error {
		if i%4 < 2 || i/4 == 5 {
			return fmt.Errorf("no good")
		}
		return nil
	}}
}

func dropped(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	_, texts := tensors(t, w.Body.Bytes())
	return texts["dropped"]
}

func TestABatchSaysHowManySamplesWereDropped(t *testing.T) {
	s := newServer(t, unreadable(), serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	// In order, again, elsewhere, in the next epoch, and counted from a place in the epoch.
	for _, path := range []string{"0/0-1/4", "0/0-1/5", "0/0-1/5", "0/0-1/6", "0/0-1/19", "1/0-1/0", "1/0-1/1", "0/0-1/5", "0/0-1/4?draw=4", "0/0-1/1?draw=18"} {
		want := "2"
		if strings.HasSuffix(path, "/5") || strings.HasSuffix(path, "/4?draw=4") {
			want = "4"
		}
		if path == "0/0-1/1?draw=18" { // samples 22, 23, 24 and 25
			want = "4"
		}
		if got := dropped(t, get(s, path)); got != want {
			t.Errorf("%s: %s dropped, want %s", path, got, want)
		}
	}
}

func TestMetricsCountDroppedSamplesOfBatchesThatWereSent(t *testing.T) {
	options := []loader.Option{loader.BatchSize(4), loader.Skip(loader.NoLimit)}
	s := newServer(t, unreadable(), serve.Loader(options...))
	for k := range 20 {
		get(s, fmt.Sprintf("0/0-1/%d", k))
	}
	l, err := loader.New(unreadable(), options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	text := request(s, "GET", "/metrics", nil).Body.String()
	if want := fmt.Sprintf("\npenstock_dropped_samples_total %d\n", l.Stats().Dropped); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestABatchThatIsMadeAgainHasDroppedNoMore(t *testing.T) {
	ds := unreadable()
	s := newServer(t, ds, serve.Loader(loader.BatchSize(4), loader.Workers(1), loader.Skip(loader.NoLimit)), serve.Batches(6))
	get(s, "0/0-1/0")
	for ds.placed.Load() < 20 { // batches 1 to 4 too, which nobody has asked for
		time.Sleep(time.Millisecond)
	}
	get(s, "0/0-1/15") // there is memory for one loop only, which begins again
	if got := dropped(t, get(s, "0/0-1/3")); got != "2" {
		t.Errorf("%s dropped, want 2", got)
	}
}
