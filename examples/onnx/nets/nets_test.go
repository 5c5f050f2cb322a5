package nets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
)

// saved is what testdata/make.py has written.
func saved(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/weights.pth")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadsWhatPyTorchSaves(t *testing.T) {
	got, err := ReadWeights("testdata/weights.pth")
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]float32, 24)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	var turned []float32
	for column := range 6 {
		for row := range 4 {
			turned = append(turned, float32(6*row+column))
		}
	}
	want := map[string]Weight{
		"rows":   {[]int{2, 3, 4}, numbers},
		"turned": {[]int{6, 4}, turned},
		"part":   {[]int{4}, numbers[5:9]},
		"one":    {nil, []float32{-1.5}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDamagedWeightsAreErrors(t *testing.T) {
	whole := saved(t)
	for n := range len(whole) {
		if w, err := readWeights(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			t.Fatalf("the first %d bytes of %d: got %v", n, len(whole), w)
		}
	}
	for name, test := range map[string]struct {
		change func(data []byte) []byte
		says   string
	}{
		"zip": {func([]byte) []byte { return []byte("PK\x03\x04 and so on, for long enough") }, "without zip"},
		"program": {func(d []byte) []byte {
			return bytes.Replace(d, []byte("torch._utils\n_re"), []byte("torch._util\n_rem"), 1)
		}, "refused"},
		"length": {func(d []byte) []byte {
			binary.LittleEndian.PutUint64(d[bytes.LastIndex(d, []byte("e."))+2:], 1<<60)
			return d
		}, "has 1152921504606846976 values"},
		"shape": {func(d []byte) []byte { // of a part: it would begin after the storage
			return bytes.Replace(d, []byte("QK\x05K\x04\x85"), []byte("QK\x15K\x04\x85"), 1)
		}, "the storage has 24 values"},
	} {
		data := test.change(bytes.Clone(whole))
		if bytes.Equal(data, whole) {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := readWeights(bytes.NewReader(data), int64(len(data))); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", name, err, test.says)
		}
	}
}

func FuzzReadWeights(f *testing.F) {
	f.Add(saved(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var weights map[string]Weight
		var err error
		hostile.Bounded(t, len(data), 0, func() { weights, err = readWeights(bytes.NewReader(data), int64(len(data))) })
		for name, w := range weights {
			if err != nil || len(w.Values) != elements(w.Shape) {
				t.Errorf("%s: %d values of shape %v, %v", name, len(w.Values), w.Shape, err)
			}
		}
	})
}

// lite0Weights are weights of the right names and shapes.
func lite0Weights(t *testing.T) map[string]Weight {
	t.Helper()
	l := &lite0{weights: map[string]Weight{}, size: Lite0Size}
	l.layers()
	weights := map[string]Weight{"_bn0.num_batches_tracked": {nil, []float32{0}}}
	for _, err := range l.errs { // all are missing
		m := (*missing)(nil)
		if !errors.As(err, &m) {
			t.Fatal(err)
		}
		weights[m.name] = Weight{m.shape, make([]float32, elements(m.shape))}
	}
	return weights
}

func TestLite0HasItsPublishedNumberOfWeights(t *testing.T) {
	n := 0
	for name, w := range lite0Weights(t) {
		if !strings.Contains(name, "running") && !strings.Contains(name, "tracked") {
			n += len(w.Values)
		}
	}
	if n != Lite0Parameters {
		t.Errorf("got %d, want %d", n, Lite0Parameters)
	}
}

func TestLite0NamesWeightsThatDoNotFit(t *testing.T) {
	whole := lite0Weights(t)
	if _, err := Lite0(whole); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(w map[string]Weight){
		"weight _fc.bias is missing":                      func(w map[string]Weight) { delete(w, "_fc.bias") },
		"weight _fc.bias: 999 values of shape [999]":      func(w map[string]Weight) { w["_fc.bias"] = Weight{[]int{999}, make([]float32, 999)} },
		"weight _bn0.bias: 3 values of shape [32]":        func(w map[string]Weight) { w["_bn0.bias"] = Weight{[]int{32}, make([]float32, 3)} },
		"weight _blocks.16.extra.weight belongs to no la": func(w map[string]Weight) { w["_blocks.16.extra.weight"] = Weight{} },
	} {
		weights := maps.Clone(whole)
		change(weights)
		if _, err := Lite0(weights); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func TestViTTinyHasTheWeightsThatItCounts(t *testing.T) {
	tr := ViTTiny.written(1)
	if got := ViTTiny.Parameters(); got != tr.parameters || got < 5_600_000 || got > 5_800_000 {
		t.Errorf("got %d, written are %d", got, tr.parameters)
	}
}
