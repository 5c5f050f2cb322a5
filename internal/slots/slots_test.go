package slots_test

import (
	"context"
	"runtime/pprof"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

func fieldOf(name string, dt dataset.Dtype, values int) *slots.Field {
	return slots.NewField(name, dt.Type(), values*dt.Size())
}

func TestRowIsTheCellsMemory(t *testing.T) {
	row := make([]byte, 24+8)[:24]
	slot := slots.New([]slots.Cell{slots.Fixed(fieldOf("image", dataset.Float32, 6), row)}, nil)
	values := slots.Row[float32](slot, 0)
	if len(values) != 6 || cap(values) != 6 {
		t.Fatalf("row has length %d and capacity %d, want 6 and 6", len(values), cap(values))
	}
	values[5] = 1
	if got := *(*float32)(unsafe.Pointer(&row[20])); got != 1 {
		t.Errorf("memory holds %v after a write of 1", got)
	}
}

func TestRandDependsOnSeedEpochAndDraw(t *testing.T) {
	value := func(seed uint64, epoch int, draw int64) uint64 {
		d := slots.NewDraw(nil)
		d.Reset(seed, epoch, draw)
		d.Rand() // the second call continues the sequence, it does not restart it
		return d.Rand().Uint64()
	}
	if first, again := value(1, 2, 3), value(1, 2, 3); first != again {
		t.Error("the same draw gave different numbers")
	}
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for epoch := range 10 {
			for draw := range int64(100) {
				seen[value(seed, epoch, draw)] = true
			}
		}
	}
	if len(seen) != 10*10*100 {
		t.Errorf("%d different numbers of %d draws", len(seen), 10*10*100)
	}
}

func TestColumnsHandOutTheirRows(t *testing.T) {
	slab := make([]byte, 16)
	column := slots.NewColumn(fieldOf("label", dataset.Int64, 1), slab)
	slots.Row[int64](slots.New([]slots.Cell{column.Cell(1)}, nil), 0)[0] = -1
	if slab[7] != 0 || slab[8] != 0xff {
		t.Errorf("wrote % x", slab)
	}
}

func TestWrongSizesPanic(t *testing.T) {
	label := fieldOf("label", dataset.Int64, 1)
	for want, use := range map[string]func(){
		`dataset: cell of field "label": 7 bytes, want 8`:                  func() { slots.Fixed(label, make([]byte, 7)) },
		`dataset: column of field "label": 12 bytes, want a multiple of 8`: func() { slots.NewColumn(label, make([]byte, 12)) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			use()
		}()
	}
}

func TestWatchNoticesRandomNumbers(t *testing.T) {
	d := slots.NewDraw(nil)
	d.Reset(1, 2, 3)
	w := d.Watch()
	d.Rand()
	if w.Taken() {
		t.Error("taken before any was")
	}
	d.Rand().Uint64()
	if !w.Taken() {
		t.Error("one was taken")
	}
}

func TestClockAddsUpStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := slots.NewClock(t.Context())
		draw := slots.NewDraw(clock)
		draw.Stage("read")
		time.Sleep(2 * time.Second)
		draw.Stage("decode")
		time.Sleep(3 * time.Second)
		if got := clock.Current(); got != "decode" {
			t.Errorf("in %q, want decode", got)
		}
		if got := clock.Stop(); got != 5*time.Second {
			t.Errorf("took %v, want 5s", got)
		}
		want := []slots.StageTime{{Name: "read", Count: 1, Total: 2 * time.Second}, {Name: "decode", Count: 1, Total: 3 * time.Second}}
		if got := clock.Times(nil); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// BenchmarkStage is the cost of a stage: its time, its profiler label and, while a hook
// wants them, its span.
func BenchmarkStage(b *testing.B) {
	var none context.Context
	labels := pprof.WithLabels(b.Context(), pprof.Labels("worker", "0"))
	for name, clock := range map[string]*slots.Clock{"without labels": slots.NewClock(none), "labels": slots.NewClock(labels), "labels and spans": slots.NewClock(labels)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if name == "labels and spans" {
					clock.Record()
				}
				clock.Stage("read")
				clock.Stage("decode")
				clock.Stage("store")
				clock.Stop()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*b.N), "ns/stage")
		})
	}
}
