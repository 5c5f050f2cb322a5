package packed_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

// texts has six samples with two ragged fields around one of fixed size. Sample 2 has
// neither text nor pairs.
func texts() dataset.Dataset {
	spec := dataset.Spec{
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "label", Dtype: dataset.Int64},
		{Name: "pairs", Dtype: dataset.Uint16, Shape: dataset.Shape{2}, Ragged: true},
	}
	list := []string{"a", "bcd", "", "efghij", strings.Repeat("k", 1<<15), "l"}
	return dataset.Func(len(list), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(list[i])), list[i])
		dataset.Set(dst, 1, int64(-i))
		n := i * (i - 2) * (i - 2)
		for k, row := 0, dataset.Grow[uint16](dst, 2, n); k < len(row); k++ {
			row[k] = uint16(100*i + k)
		}
		return nil
	})
}

func textName(i int) string { return fmt.Sprintf("texts/%d.txt", i) }

// words is the file of texts.
func words(t testing.TB) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := packed.Write(t.Context(), &file, texts(), packed.Names(textName), packed.Classes("x", "y")); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// sameTexts compares every field of every sample, in an order in which slots shrink and
// grow.
func sameTexts(t *testing.T, got, want dataset.Dataset) {
	t.Helper()
	if got.Len() != want.Len() || got.Spec().String() != want.Spec().String() {
		t.Fatalf("%d samples of %v, want %d of %v", got.Len(), got.Spec(), want.Len(), want.Spec())
	}
	g, w := datatest.Open(t, got), datatest.Open(t, want)
	gs, ws := dataset.NewSlot(got.Spec()...), dataset.NewSlot(want.Spec()...)
	for _, i := range []int{0, 4, 2, 3, 5, 1, 4, 2} {
		if i >= want.Len() {
			continue
		}
		if err := g.Place(t.Context(), i, gs); err != nil {
			t.Fatal(err)
		}
		if err := w.Place(t.Context(), i, ws); err != nil {
			t.Fatal(err)
		}
		for k, f := range want.Spec() {
			if !bytes.Equal(gs.Cell(k).Bytes(), ws.Cell(k).Bytes()) {
				t.Errorf("sample %d, field %s: %d bytes, want %d", i, f.Name, len(gs.Cell(k).Bytes()), len(ws.Cell(k).Bytes()))
			}
		}
	}
}

func TestRaggedFieldsAndNamesAreKept(t *testing.T) {
	ds, err := openBytes(words(t))
	if err != nil {
		t.Fatal(err)
	}
	sameTexts(t, ds, texts())
	if got := fmt.Sprintf("%q %q %q %q", ds.Classes(), ds.Name(3), ds.Name(5), ds.Name(6)); got != `["x" "y"] "texts/3.txt" "texts/5.txt" ""` {
		t.Error(got)
	}
	datatest.PlacesWithoutAllocation(t, ds)
	datatest.RefusesOtherIndices(t, ds)
}

func TestKindsAreKept(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYWH},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
	}
	var file bytes.Buffer
	ds := dataset.Func(1, spec, func(context.Context, int, dataset.Slot) error { return nil })
	if err := packed.Write(t.Context(), &file, ds); err != nil {
		t.Fatal(err)
	}
	got, err := openBytes(file.Bytes())
	if err != nil || !reflect.DeepEqual(got.Spec(), spec) {
		t.Fatalf("got %+v, %v", got.Spec(), err)
	}
}

func TestDamagedRaggedFileIsNoticed(t *testing.T) {
	whole := words(t)
	for at := 0; at < len(whole); at += 1 + min(at/40, 97)*min(1, (len(whole)-at)/400) {
		data := bytes.Clone(whole)
		data[at] ^= 4
		ds, err := openBytes(data)
		if err != nil {
			continue
		}
		damaged := 0
		for i := range ds.Len() {
			if _, err := dataset.At(t.Context(), ds, i); err != nil {
				damaged++
				if !strings.Contains(err.Error(), "sample "+fmt.Sprint(i)+" (texts/") || !strings.Contains(err.Error(), "is damaged: its CRC-32C") {
					t.Errorf("byte %d: %v", at, err)
				}
			}
		}
		if damaged != 1 {
			t.Errorf("byte %d of %d damaged: %d samples are errors, want one", at, len(whole), damaged)
		}
	}
	for n := 0; n < len(whole); n += 1 + n/100 {
		if _, err := openBytes(whole[:n]); err == nil {
			t.Errorf("file cut to %d bytes: no error", n)
		}
	}
}

// packTexts appends what is missing before sample end, as batches of a loader, and
// leaves sample 3 out.
func packTexts(t *testing.T, p *packed.Writer, batch, end int) {
	t.Helper()
	ds := texts()
	for p.Next() < end {
		from := p.Next()
		var indices []int
		for i := from; i < min(from+batch, end); i++ {
			if i != 3 {
				indices = append(indices, i)
			}
		}
		if len(indices) == 0 { // so that Next passes sample 3
			indices = []int{4}
		}
		some, err := dataset.Subset(ds, indices)
		if err != nil {
			t.Fatal(err)
		}
		l, err := loader.New(some, loader.Workers(2), loader.BatchSize(len(indices)))
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range l.Epoch(t.Context(), 0) {
			if err == nil {
				err = p.AppendBatch(indices, b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInterruptedRaggedWriterGivesTheSameFile(t *testing.T) {
	some, err := dataset.Subset(texts(), []int{0, 1, 2, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	left := func(i int) string { return textName([]int{0, 1, 2, 4, 5}[i]) }
	if err := packed.Write(t.Context(), &whole, some, packed.Names(left)); err != nil {
		t.Fatal(err)
	}
	for batch := 1; batch < 5; batch++ {
		path := filepath.Join(t.TempDir(), "texts")
		for end := 1; end <= 6; end++ {
			p, err := packed.Create(t.Context(), path, texts().Spec(), packed.Names(textName))
			if err != nil {
				t.Fatal(err)
			}
			packTexts(t, p, batch, end)
			if end == 6 {
				err = p.Finish()
			} else if end%2 == 0 { // otherwise killed: nothing is closed
				err = p.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, whole.Bytes()) {
			t.Errorf("batches of %d: %d bytes, %v; want the %d of Write", batch, len(got), err, whole.Len())
		}
	}
}

// someBatch is a batch with fields of any bytes and offsets.
type someBatch struct {
	spec    dataset.Spec
	bytes   map[string][]byte
	offsets map[string][]int
}

func (b someBatch) Spec() dataset.Spec         { return b.spec }
func (b someBatch) Bytes(field string) []byte  { return b.bytes[field] }
func (b someBatch) Offsets(field string) []int { return b.offsets[field] }

func TestBatchThatDoesNotFitIsRefused(t *testing.T) {
	spec := texts().Spec()
	p, err := packed.Create(t.Context(), filepath.Join(t.TempDir(), "texts"), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b := func(label int, text, pairs []int) someBatch {
		return someBatch{spec, map[string][]byte{"text": make([]byte, 5), "label": make([]byte, label), "pairs": make([]byte, 8)},
			map[string][]int{"text": text, "pairs": pairs}}
	}
	for _, c := range []struct {
		batch dataset.Batch
		want  string
	}{
		{someBatch{spec: spec[:1]}, "batch of text uint8 (n), want text uint8 (n), label int64 (), pairs uint16 (n, 2)"},
		{b(15, []int{0, 1, 2}, []int{0, 1, 2}), `field "label": 15 bytes, want 2 samples of 8`},
		{b(16, []int{0, 1}, []int{0, 1, 2}), `field "text": offsets [0 1] in 5 bytes, want those of 2 samples`},
		{b(16, []int{0, 6, 5}, []int{0, 1, 2}), `field "text": offsets [0 6 5] in 5 bytes`},
		{b(16, []int{-1, 2, 3}, []int{0, 1, 2}), `field "text": offsets [-1 2 3] in 5 bytes`},
		{b(16, []int{0, 2, 5}, []int{0, 1, 3}), `field "pairs": offsets [0 1 3] in 8 bytes`},
		{b(16, []int{0, 2, 5}, []int{0, 1, 2}), "<nil>"},
	} {
		if got := fmt.Sprint(p.AppendBatch([]int{0, 1}, c.batch)); !strings.Contains(got, c.want) {
			t.Errorf("got error %s\nwant      %s", got, c.want)
		}
	}
}

func TestPartsOutsideAFieldAreErrors(t *testing.T) {
	ds, err := openBytes(words(t))
	if err != nil {
		t.Fatal(err)
	}
	const i, size = 4, 1 << 15 // of the long text
	r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
	if err := r.Place(t.Context(), i, slot); err != nil { // which compares the checksum
		t.Fatal(err)
	}
	n, parts, err := r.(dataset.PartReader).PlaceParts(t.Context(), i, 0, slot)
	if err != nil || parts == nil || n != size {
		t.Fatalf("%d bytes in parts %v: %v", n, parts, err)
	}
	to := make([]byte, 10)
	if _, err := parts.ReadAt(to, int64(size)-10); err != nil || string(to) != "kkkkkkkkkk" {
		t.Errorf("got %q, %v", to, err)
	}
	for _, offset := range []int{-1, size - 9, size, math.MaxInt - 5, math.MaxInt, math.MinInt} {
		if _, err := parts.ReadAt(to, int64(offset)); err == nil {
			t.Errorf("10 bytes from byte %d give no error", offset)
		}
	}
}
