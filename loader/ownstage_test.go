package loader_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// downloaded has samples that wait in a stage of which the loader cannot know that.
func downloaded(d time.Duration) *fake {
	return &fake{n: 1_000_000, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage("download")
		time.Sleep(d)
		dataset.Set(dst, 0, int64(i))
		return nil
	}}
}

func TestAStageOfAnotherNameMayWait(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, downloaded(80*ms), loader.Workers(loader.Auto), loader.BatchSize(32))
		forTime(t, l, 30*time.Second, nil)
		if s := l.Stats(); s.Workers < 128 {
			t.Errorf("got %v, want 128 workers at least", s.Tuning)
		}
	})
}

// Without Auto nobody knows: the verdict does not claim that it computes.
func TestNothingIsAdvisedForAStageOfAnotherName(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		l := loadertest.New(t, downloaded(80*ms), loader.Workers(16), loader.BatchSize(32))
		forTime(t, l, 10*time.Second, nil)
		want := "workers are the limit: download takes 100% of the work and the loop waits"
		if got := l.Stats().Verdict(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "Auto finds how many help") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
