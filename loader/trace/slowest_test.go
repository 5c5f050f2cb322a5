package trace_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

func TestSlowestListsEachSampleOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[int]int{}
		ds := samples(100, func(i int, dst dataset.Slot) error {
			dst.Stage(dataset.StageRead)
			if i == 42 {
				time.Sleep(time.Second)
			}
			dst.Stage(dataset.StageDecode)
			tries[i]++
			time.Sleep(time.Duration(i*tries[i]) * time.Millisecond)
			if i == 99 {
				return errors.New("bad")
			}
			return nil
		})
		slow := trace.Slowest(3)
		l, err := loader.New(ds, loader.Workers(1), loader.BatchSize(10), loader.Skip(loader.NoLimit), loader.Observe(slow.Trace()))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range l.Epochs(t.Context(), 0, 2) {
		}
		want := `1.084s  42.jpg  epoch 1, batch 4  read 1s, decode 84ms
198ms   99.jpg  epoch 1, batch 9  decode 198ms, read 0s, failed
196ms   98.jpg  epoch 1, batch 9  decode 196ms, read 0s
`
		if got := slow.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		list := slow.Samples()
		if s := list[0]; s.Index != 42 || s.Name() != "42.jpg" || s.Took != 1084*time.Millisecond || s.Worker != 0 || len(s.Stages) != 2 || s.Stages[1].Begun != time.Second {
			t.Errorf("got %+v", s)
		}
	})
}

func TestSlowestOfNoneIsEmpty(t *testing.T) {
	for _, k := range []int{0, -1} {
		slow := trace.Slowest(k)
		l, err := loader.New(photosWithoutTime(4), loader.Observe(slow.Trace()))
		if err != nil {
			t.Fatal(err)
		}
		for range l.Epoch(t.Context(), 0) {
		}
		l.Close()
		if got := fmt.Sprint(slow, slow.Samples()); got != " []" {
			t.Errorf("got %q", got)
		}
	}
}

func TestNamesInTheTableStayInTheirLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := samples(1, func(int, dataset.Slot) error { time.Sleep(time.Millisecond); return nil })
		ds = datatest.Named(ds, func(int) string { return "a\nb\tc" })
		slow := trace.Slowest(1)
		l, err := loader.New(ds, loader.Workers(1), loader.Observe(slow.Trace()))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range l.Epoch(t.Context(), 0) {
		}
		if got, want := slow.String(), "1ms  a b c  epoch 0, batch 0  \n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
