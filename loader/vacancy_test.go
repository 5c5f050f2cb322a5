package loader_test

import (
	"context"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

func TestALoopWithoutABatchSaysWhy(t *testing.T) {
	for _, c := range []struct {
		ds   dataset.Dataset
		with []loader.Option
		want string
	}{
		{&fake{n: 8}, []loader.Option{loader.BatchSize(100), loader.DropLast(true)},
			"no batch: batches of 100, DropLast, and a rank has fewer samples: a smaller BatchSize helps, or DropLast(false)"},
		{&fake{n: 3}, []loader.Option{loader.Ranks(1, 4, sampler.DropToEven)}, "no batch: the sampler gives no samples to this rank"},
		{&fake{n: 3}, []loader.Option{loader.BatchSampler(sampler.List{})}, "no batch: the sampler gives no samples to this rank"},
		{&fake{n: 0}, []loader.Option{loader.BatchSize(5)}, "no batch: the dataset has no samples"},
		{newArriving(0, 1), nil, "no batch: the dataset has no samples"},
		{failing(6, func(int) bool { return true }), []loader.Option{loader.BatchSize(2), loader.Skip(loader.NoLimit)},
			"no batch: 12 samples failed, and Skip left them out: look at Failures"},
		{&fake{n: 8}, []loader.Option{loader.BatchSize(8), loader.DropLast(true)}, ""},
		{failing(2, func(int) bool { return true }), []loader.Option{loader.Timeout(1 << 40)}, ""}, // an error is no loop without a batch
	} {
		for _, workers := range []int{0, 2} {
			l := loadertest.New(t, c.ds, append(c.with, loader.Workers(workers))...)
			for range 2 {
				for _, err := range l.Epochs(t.Context(), 0, 2) {
					if err != nil && c.want != "" {
						t.Fatal(err)
					}
				}
			}
			s := l.Stats()
			if c.want == "" {
				if strings.HasPrefix(s.Verdict(), "no batch") {
					t.Errorf("got %q", s.Verdict())
				}
				continue
			}
			if s.Verdict() != c.want || !strings.HasSuffix(s.String(), "\n\n"+c.want+"\n") {
				t.Errorf("%d workers: got %q, want %q", workers, s.Verdict(), c.want)
			}
		}
	}
}

func TestWhyThereWasNoBatchIsForgottenWithTheNextOne(t *testing.T) {
	l := loadertest.New(t, &fake{n: 8}, loader.BatchSampler(later{}))
	for epoch, want := range []string{"no batch: the sampler gives no samples to this rank", ""} {
		for range l.Epoch(t.Context(), epoch) {
		}
		if got := l.Stats().Verdict(); strings.HasPrefix(got, "no batch") != (want != "") || want != "" && got != want {
			t.Errorf("epoch %d: got %q, want %q", epoch, got, want)
		}
	}
	// What is left of an epoch may be nothing.
	end := loader.Position{}
	for b := range l.Epoch(t.Context(), 1) {
		end = b.Position()
	}
	for range l.From(t.Context(), end, 2) {
		t.Error("a batch after the last one")
	}
	if got := l.Stats().Verdict(); strings.HasPrefix(got, "no batch") {
		t.Errorf("after the end of an epoch: got %q", got)
	}
}

func TestWhyThereWasNoBatchIsForgottenWithTheNextLoop(t *testing.T) {
	l := loadertest.New(t, &fake{n: 8}, loader.BatchSampler(later{}))
	for range l.Epoch(t.Context(), 0) {
	}
	if l.Stats().Verdict() == "" {
		t.Error("no reason after a loop without a batch")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range l.Epoch(cancelled, 1) {
		if err == nil {
			t.Error("a batch in a loop that was cancelled")
		}
	}
	if s := l.Stats(); s.Verdict() != "" {
		t.Errorf("after a loop that was cancelled: got %q, want none", s.Verdict())
	}
}

// later has a batch from epoch 1 on.
type later struct{}

func (later) Epoch(epoch int) sampler.Batches {
	if epoch == 0 {
		return sampler.List{}.Epoch(0)
	}
	return sampler.List{{0, 1}}.Epoch(0)
}
