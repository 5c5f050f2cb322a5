package tokens

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// documents has documents of these lengths: token j of document i is 1000·i+j.
func documents(lengths []int32) dataset.Dataset {
	spec := dataset.Spec{{Name: "tokens", Dtype: dataset.Int32, Ragged: true}}
	return dataset.Func(len(lengths), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for j := range dataset.Grow[int32](dst, 0, int(lengths[i])) {
			dataset.Row[int32](dst, 0)[j] = int32(1000*i + j)
		}
		return nil
	})
}

func all() PackOption { return Fields(known...) }

func row(t *testing.T, ds dataset.Dataset, k int) string {
	t.Helper()
	s, err := dataset.At(t.Context(), ds, k)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range known {
		fmt.Fprintln(&b, s[name].Data())
	}
	return strings.TrimSpace(b.String())
}

func TestFieldsOfARow(t *testing.T) {
	lengths := []int32{3, 2, 4}
	for _, c := range []struct {
		name    string
		length  int
		options []PackOption
		k       int
		want    string
	}{
		{"documents apart", 8, nil, 0, `[0 1 2 1000 1001 2000 2001 2002]
[-100 1 2 -100 1001 -100 2001 2002]
[0 1 2 0 1 0 1 2]
[1 1 1 2 2 3 3 3]
[0 1 1 0 1 0 1 1]
[3 2 3]`},
		{"the last row", 8, []PackOption{Pad(7)}, 1, `[2003 7 7 7 7 7 7 7]
[-100 -100 -100 -100 -100 -100 -100 -100]
[0 0 0 0 0 0 0 0]
[1 0 0 0 0 0 0 0]
[0 0 0 0 0 0 0 0]
[1 7]`},
		{"shifted", 8, []PackOption{Shifted()}, 0, `[0 1 2 1000 1001 2000 2001 2002]
[1 2 -100 1001 -100 2001 2002 2003]
[0 1 2 0 1 0 1 2]
[1 1 1 2 2 3 3 3]
[1 1 0 1 0 1 1 1]
[3 2 3]`},
		{"shifted to the next document", 5, []PackOption{Shifted()}, 0, `[0 1 2 1000 1001]
[1 2 -100 1001 -100]
[0 1 2 0 1]
[1 1 1 2 2]
[1 1 0 1 0]
[3 2]`},
		{"joined", 5, []PackOption{Joined()}, 0, `[0 1 2 1000 1001]
[0 1 2 1000 1001]
[0 1 2 3 4]
[1 1 1 1 1]
[1 1 1 1 1]
[5]`},
		{"joined and shifted, as nanoGPT", 5, []PackOption{Joined(), Shifted()}, 0, `[0 1 2 1000 1001]
[1 2 1000 1001 2000]
[0 1 2 3 4]
[1 1 1 1 1]
[1 1 1 1 1]
[5]`},
		{"joined and shifted, the last row", 5, []PackOption{Joined(), Shifted()}, 1, `[2000 2001 2002 2003 0]
[2001 2002 2003 -100 -100]
[0 1 2 3 0]
[1 1 1 1 0]
[1 1 1 0 0]
[4 1]`},
	} {
		ds, err := Pack(documents(lengths), lengths, c.length, Wrap, append(c.options, all())...)
		if err != nil {
			t.Fatal(err)
		}
		if got := row(t, ds, c.k); got != c.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// partial gives documents in parts, and counts the bytes that are read.
type partial struct {
	dataset.Dataset
	read *int
}

func (p partial) Open() (dataset.Reader, error) {
	r, err := p.Dataset.Open()
	return partReader{r, p.read}, err
}

type partReader struct {
	dataset.Reader
	read *int
}

func (r partReader) PlaceParts(ctx context.Context, i, f int, dst dataset.Slot) (int, io.ReaderAt, error) {
	err := r.Place(ctx, i, dst)
	whole := bytes.Clone(dst.Cell(f).Bytes())
	return len(whole), counted{bytes.NewReader(whole), r.read}, err
}

type counted struct {
	io.ReaderAt
	n *int
}

func (c counted) ReadAt(p []byte, off int64) (int, error) {
	*c.n += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

func TestOnlyPartsOfDocumentsAreRead(t *testing.T) {
	lengths := []int32{100, 50}
	read := 0
	whole, err := Pack(documents(lengths), lengths, 30, Wrap, all())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Pack(partial{documents(lengths), &read}, lengths, 30, Wrap, all())
	if err != nil {
		t.Fatal(err)
	}
	for k := range whole.Len() {
		if got, want := row(t, parts, k), row(t, whole, k); got != want {
			t.Errorf("row %d: got %s, want %s", k, got, want)
		}
	}
	if read != 4*150 {
		t.Errorf("%d bytes are read, want those of 150 tokens", read)
	}
}

func TestMistakesOfPackAreFoundAtOnce(t *testing.T) {
	lengths := []int32{3, 2}
	bytesOnly := dataset.Func(2, dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}, func(context.Context, int, dataset.Slot) error { return nil })
	for want, err := range map[string]error{
		"no dataset":                           packError(nil, lengths, 4, Wrap),
		"want one, ragged, int32 or int64":     packError(bytesOnly, lengths, 4, Wrap),
		"1 lengths of 2 documents":             packError(documents(lengths), lengths[:1], 4, Wrap),
		"document 1: length -1":                packError(documents(lengths), []int32{3, -1}, 4, Wrap),
		"rows of 0 tokens: want 1 to 2³⁰":      packError(documents(lengths), lengths, 0, Wrap),
		"0 passes: want 1 to 65536":            packError(documents(lengths), lengths, 4, Wrap, Passes(0)),
		"65537 passes: want 1 to 65536":        packError(documents(nil), nil, 4, Wrap, Passes(65537)),
		"Strategy(9): want Wrap, FirstFit or ": packError(documents(lengths), lengths, 4, Strategy(9)),
		"Wrap has no Window and no Truncate":   packError(documents(lengths), lengths, 4, Wrap, Truncate()),
		"a window of 0: want 1 or more":        packError(documents(lengths), lengths, 4, BestFit, Window(0)),
		`field "input" twice`:                  packError(documents(lengths), lengths, 4, Wrap, Fields("input_ids", "input_ids")),
		`field "input": want some of`:          packError(documents(lengths), lengths, 4, Wrap, Fields("input")),
		"no fields":                            packError(documents(lengths), lengths, 4, Wrap, Fields()),
		"the order has document 2":             packError(documents(lengths), lengths, 4, Wrap, Order(sampler.Sequential(3))),
		"rows of 0 tokens: want 1 to 2³⁰\n0 p": packError(documents(lengths), lengths, 0, Wrap, Passes(0)),
	} {
		want = strings.Replace(want, `field "input" twice`, `field "input_ids" twice`, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "tokens: Pack: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestArgumentsThatAreTooLarge(t *testing.T) {
	lengths := []int32{3, 2}
	large := func(n int64) int { return int(n) }
	cases := map[string]error{
		"2147483647 samples of Megatron take 2147483647 rows and 461168601627990426 passes over 2 documents": packError(documents(lengths), lengths, 1<<30, Wrap, Megatron(math.MaxInt32, 1)),
	}
	if math.MaxInt > math.MaxInt32 {
		cases["Pad(2147483648): want an int32"] = packError(documents(lengths), lengths, 4, Wrap, Pad(large(1<<31)))
		cases["9223372036854775807 samples of Megatron: want less than 2³²"] = packError(documents(lengths), lengths, 1<<30, Wrap, Megatron(math.MaxInt, 1))
	}
	for want, err := range cases {
		if err == nil || !strings.HasPrefix(err.Error(), "tokens: Pack: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func packError(ds dataset.Dataset, lengths []int32, length int, s Strategy, options ...PackOption) error {
	_, err := Pack(ds, lengths, length, s, options...)
	return err
}

func TestADocumentOfAnotherLengthIsNamed(t *testing.T) {
	ds, err := Pack(documents([]int32{3, 2}), []int32{3, 5}, 8, Wrap)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.At(t.Context(), ds, 0)
	if err == nil || !strings.Contains(err.Error(), "row 0, document 1: it has 2 tokens: lengths says 5") {
		t.Error(err)
	}
	broken := errors.New("broken")
	ds, err = Pack(dataset.Func(1, documents(nil).Spec(), func(context.Context, int, dataset.Slot) error { return broken }), []int32{5}, 8, Wrap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = dataset.At(t.Context(), ds, 0); !errors.Is(err, broken) || !strings.Contains(err.Error(), "row 0, document 0") {
		t.Error(err)
	}
}

// testdata/gpt.py writes gpt.json.
func TestRowsAreTheSamplesOfMegatron(t *testing.T) {
	text, err := os.ReadFile("testdata/gpt.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Row, Samples int
			Seed         uint32
			Lengths      []int32
			Rows         [][]int32 // with the last label
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != 6 {
		t.Fatalf("%d cases, want 6", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		inner := dataset.Func(len(c.Lengths), documents(nil).Spec(), func(_ context.Context, i int, dst dataset.Slot) error {
			for j := range dataset.Grow[int32](dst, 0, int(c.Lengths[i])) {
				dataset.Row[int32](dst, 0)[j] = int32(100*i + j)
			}
			return nil
		})
		ds, err := Pack(inner, c.Lengths, c.Row, Wrap, Megatron(c.Samples, c.Seed), Fields("input_ids", "labels", "loss_mask"))
		if err != nil {
			t.Fatal(err)
		}
		if ds.Len() != len(c.Rows) {
			t.Errorf("%d samples of %d tokens: %d rows, want %d", c.Samples, c.Row, ds.Len(), len(c.Rows))
			continue
		}
		for k, want := range c.Rows {
			s, err := dataset.At(t.Context(), ds, k)
			if err != nil {
				t.Fatal(err)
			}
			ids, labels := s["input_ids"].Data().([]int32), s["labels"].Data().([]int32)
			if !slices.Equal(ids, want[:c.Row]) || !slices.Equal(labels, want[1:]) || slices.Min(s["loss_mask"].Data().([]float32)) < 1 {
				t.Errorf("%d samples of %d tokens: row %d is %v with the labels %v, want %v", c.Samples, c.Row, k, ids, labels, want)
				break
			}
		}
	}
}

// A loader gives the same rows for any number of workers, and cumulative lengths run over the whole batch.
func TestRowsInALoader(t *testing.T) {
	lengths := []int32{3, 2, 4, 9, 1, 5, 8, 2, 2, 7}
	ds, err := Pack(documents(lengths), lengths, 8, BestFit, Order(sampler.Shuffle(10, 1)), all())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, workers := range []int{0, 1, 4} {
		l, err := loader.New(ds, loader.BatchSize(3), loader.Shuffle(true), loader.Seed(2), loader.Workers(workers))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			cumulative, longest := CuSeqlens(nil, batch, "sequence_lengths")
			if end := cumulative[len(cumulative)-1]; int(end) != 8*batch.Len() || longest < 1 || longest > 8 {
				t.Errorf("%v, %d: want an end of %d", cumulative, longest, 8*batch.Len())
			}
			fmt.Fprintln(&b, loader.Values[int32](batch, "input_ids"), cumulative, longest)
		}
		l.Close()
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("%s\n%s\n%s", texts[0], texts[1], texts[2])
	}
}

func TestARowIsFilledWithoutAllocation(t *testing.T) {
	lengths := []int32{300, 20, 400}
	read := 0
	ds, err := Pack(shared{documents(lengths), &read}, lengths, 128, Wrap, all())
	if err != nil {
		t.Fatal(err)
	}
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(ds.Spec()...)
	place := func() {
		for k := range ds.Len() {
			if err := r.Place(t.Context(), k, slot); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(20, place); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// shared gives parts of one memory.
type shared partial

func (s shared) Open() (dataset.Reader, error) {
	return sharedReader{bytes.NewReader(dense.Bytes(make([]int32, 400))), s}, nil
}

type sharedReader struct {
	memory *bytes.Reader
	shared
}

func (sharedReader) Close() error                                   { return nil }
func (sharedReader) Place(context.Context, int, dataset.Slot) error { return errors.New("whole") }
func (r sharedReader) PlaceParts(_ context.Context, i, _ int, _ dataset.Slot) (int, io.ReaderAt, error) {
	return 4 * []int{300, 20, 400}[i], r.memory, nil
}

func TestTokensOf16BitsAreWidened(t *testing.T) {
	for n := range 70 {
		raw := make([]byte, 2*n)
		for i := range raw {
			raw[i] = byte(37*i + 200)
		}
		want := make([]int64, n)
		for i, v := range dense.Values[uint16](raw) {
			want[i] = int64(v)
		}
		apart32, apart64 := make([]int32, n), make([]int64, n)
		widen16[int32](dense.Bytes(apart32), raw)
		widen16[int64](dense.Bytes(apart64), raw)
		within32, within64 := make([]int32, n), make([]int64, n)
		b32, b64 := dense.Bytes(within32), dense.Bytes(within64)
		copy(b32[len(b32)/2:], raw)
		copy(b64[len(b64)/4*3:], raw)
		widen16[int32](b32, b32[len(b32)/2:])
		widen16[int64](b64, b64[len(b64)/4*3:])
		for i, v := range want {
			if int64(apart32[i]) != v || int64(within32[i]) != v || apart64[i] != v || within64[i] != v {
				t.Fatalf("token %d of %d: got %d, %d, %d and %d, want %d", i, n, apart32[i], within32[i], apart64[i], within64[i], v)
			}
		}
	}
}
