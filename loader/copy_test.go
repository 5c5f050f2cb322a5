package loader_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestCopiesAndKeptBatchesOutliveTheLoader(t *testing.T) {
	for _, poisoned := range []bool{false, true} {
		memory := new(checked)
		l, err := loader.New(augmented(40), loader.Workers(3), loader.BatchSize(6), loader.Memory(memory), loader.Poison(poisoned))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		var batches []*loader.Batch
		var releases []func()
		for b, err := range l.Epochs(t.Context(), 0, 2) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, content(b))
			if b.Number()%2 == 0 {
				b = b.Copy()
			} else {
				releases = append(releases, b.Keep())
			}
			batches = append(batches, b)
		}
		if s := l.Stats(); s.Slabs != 7 || s.Batches != 14 {
			t.Errorf("%d slabs, %d batches, want 7 and 14", s.Slabs, s.Batches)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for k, b := range batches {
			if got := content(b); got != want[k] {
				t.Errorf("poisoned %v: got %s, want %s", poisoned, got, want[k])
			}
		}
		for _, release := range releases {
			release()
			release()
		}
		if len(memory.out) != 0 {
			t.Errorf("%d pieces of memory are not freed", len(memory.out))
		}
		if !panics(func() { batches[1].Tensor("x") }) {
			t.Error("a batch whose memory is freed can be used")
		}
	}
}

func panics(f func()) (panics bool) {
	defer func() { panics = recover() != nil }()
	f()
	return
}

func TestBytesAreTheTensorsMemory(t *testing.T) {
	l := loadertest.New(t, augmented(7), loader.Workers(2), loader.BatchSize(3))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Spec() {
			bytes, x := b.Bytes(f.Name), b.Tensor(f.Name)
			if len(bytes) != len(x.Bytes()) || cap(bytes) != len(bytes) || len(bytes) > 0 && &bytes[0] != &x.Bytes()[0] {
				t.Errorf("field %s: %d bytes at %p, the tensor has %d at %p", f.Name, len(bytes), bytes, len(x.Bytes()), x.Bytes())
			}
		}
	}
}

// TestPoisonShowsMemoryThatOutlivesItsBatch: without Poison, slices that are used
// after their batch hold data of later batches. With Poison they do not hold data.
func TestPoisonShowsMemoryThatOutlivesItsBatch(t *testing.T) {
	l := loadertest.New(t, augmented(40), loader.Workers(0), loader.BatchSize(4), loader.Poison(true))
	var x, indices, ends []int
	var noise []float32
	var words []uint16
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range loader.Values[float32](b, "noise") {
			if math.IsNaN(float64(v)) {
				t.Fatalf("%v holds NaN in its loop body", b)
			}
		}
		if b.Number() == 0 {
			for _, v := range loader.Values[int64](b, "x") {
				x = append(x, int(v)) // copied
			}
			noise, words = loader.Values[float32](b, "noise"), loader.Values[uint16](b, "words")
			indices, ends = b.Indices(), b.Offsets("words")
			continue
		}
		break
	}
	if !slices.Equal(x, []int{0, 1, 2, 3}) {
		t.Errorf("the copy holds %v", x)
	}
	if slices.ContainsFunc(noise, func(v float32) bool { return v == v }) || slices.ContainsFunc(words, func(v uint16) bool { return v != math.MaxUint16 }) {
		t.Errorf("kept slices hold %v and %v", noise, words)
	}
	for _, i := range slices.Concat(indices, ends) {
		if i != -1 {
			t.Errorf("kept indices %v, offsets %v", indices, ends)
			break
		}
	}
}

// TestPoisonShowsElementsThatAreNotWritten holds in the first batch too.
func TestPoisonShowsElementsThatAreNotWritten(t *testing.T) {
	ds := &fake{n: 4, spec: dataset.Spec{{Name: "x", Dtype: dataset.Float64, Shape: dataset.Shape{2}}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Row[float64](dst, 0)[i%2] = 1
		return nil
	}}
	l := loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(4), loader.Poison(true))
	for b := range l.Epoch(t.Context(), 0) {
		for k, v := range loader.Values[float64](b, "x") {
			if written := k%2 == k/2%2; written != !math.IsNaN(v) {
				t.Errorf("element %d is %v", k, v)
			}
		}
	}
}

func TestMemoryThatNoMachineHasIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" || math.MaxInt == math.MaxInt32 {
		t.Skip("how much there is is not known here")
	}
	vast := &fake{n: 1 << 20, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Shape: dataset.Shape{1 << 30}}}}
	for want, options := range map[string][]loader.Option{
		"loader: slab of 4398046511104 bytes: 4 TiB of memory: the machine has ": {loader.BatchSize(1 << 12), loader.InFlight(1)},
		"loader: 4096 slabs of 1 GiB are 4 TiB of memory: the machine has ":      {loader.InFlight(1 << 12)},
	} {
		_, err := loader.New(vast, options...)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

func TestBatchOfOneSampleReadsAsOne(t *testing.T) {
	l := loadertest.New(t, &fake{n: 1}, loader.Workers(0))
	for b := range l.Epoch(t.Context(), 0) {
		if got, want := b.String(), "batch 0 of epoch 0: 1 sample of x int64 ()"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPoisonShowsRaggedElementsThatAreNotWritten, also where an earlier batch has written.
func TestPoisonShowsRaggedElementsThatAreNotWritten(t *testing.T) {
	ds := &fake{n: 12, spec: dataset.Spec{{Name: "text", Dtype: dataset.Uint8, Ragged: true}}, place: func(_ context.Context, i int, dst dataset.Slot) error {
		text := dataset.Grow[uint8](dst, 0, 100)
		if i < 4 {
			clear(text)
		}
		return nil
	}}
	l := loadertest.New(t, ds, loader.Workers(0), loader.BatchSize(4), loader.Poison(true))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range b.Bytes("text") {
			if v != 0xff && b.Number() > 0 {
				t.Fatalf("batch %d: got %d, want 0xFF", b.Number(), v)
			}
		}
	}
}
