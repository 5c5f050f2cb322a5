package loader_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestTooManyWorkersIsOneLineOfAdvice(t *testing.T) {
	processors := float64(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		stage string
		busy  float64 // processors
		want  int
	}{
		{dataset.StageDecode, processors, 1},
		{dataset.StageDecode, processors / 2, 0}, // the workers wait for something
		{dataset.StageRead, processors, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var text bytes.Buffer
			ds := &fake{n: 20, place: func(_ context.Context, i int, dst dataset.Slot) error {
				dst.Stage(c.stage)
				time.Sleep(time.Second)
				return nil
			}}
			l := loadertest.New(t, ds, loader.Workers(runtime.GOMAXPROCS(0)+1), loader.Logger(slog.New(slog.NewTextHandler(&text, nil))), occupies(c.busy))
			for range 2 {
				for range l.Epoch(t.Context(), 0) {
				}
			}
			if got := strings.Count(text.String(), "more workers than processors"); got != c.want {
				t.Errorf("stage %s, %v processors busy: %d lines of advice, want %d:\n%s", c.stage, c.busy, got, c.want, &text)
			}
		})
	}
}
