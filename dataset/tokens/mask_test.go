package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// texts is a dataset of texts of one length, which is ragged or not.
func texts[T int32 | int64](ragged bool, all ...[]T) dataset.Dataset {
	f := dataset.Field{Name: "input_ids", Dtype: dataset.DtypeOf[T](), Ragged: ragged}
	if !ragged {
		f.Shape = dataset.Shape{len(all[0])}
	}
	return dataset.Func(len(all), dataset.Spec{f}, func(_ context.Context, i int, dst dataset.Slot) error {
		if ragged {
			dataset.Grow[T](dst, 0, len(all[i]))
		}
		copy(dataset.Row[T](dst, 0), all[i])
		return nil
	})
}

// everyThird is as in testdata/masks.py: every third token continues a word.
func everyThird(token int) bool { return token >= 4 && token%3 == 1 }

func TestMasksAreThoseOfTransformers(t *testing.T) {
	text, err := os.ReadFile("testdata/masks.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Vocabulary int
			Rates      [3]float64
			Words      bool
			Seed       uint64
			Samples    []struct {
				Epoch             int
				Place             int64
				Text, IDs, Labels []int64
			}
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for n, c := range golden.Cases {
		options := []MaskOption{MaskRates(c.Rates[0], c.Rates[1], c.Rates[2]), NumPy(c.Seed)}
		if c.Words {
			options = append(options, WholeWords(everyThird))
		}
		for k, s := range c.Samples {
			if int64(int(s.Place)) != s.Place {
				continue
			}
			ds, err := Mask(texts(k%2 == 0, s.Text), 3, c.Vocabulary, []int{0, 1, 2}, options...)
			if err != nil {
				t.Fatal(err)
			}
			slot := dataset.NewSlot(ds.Spec()...)
			datatest.Reset(slot, 99, s.Epoch, int(s.Place))
			if err := datatest.Open(t, ds).Place(t.Context(), 0, slot); err != nil {
				t.Fatal(err)
			}
			if ids, labels := dataset.Row[int64](slot, 0), dataset.Row[int64](slot, 1); !slices.Equal(ids, s.IDs) || !slices.Equal(labels, s.Labels) {
				t.Errorf("case %d, sample %d:\ngot  %v\n     %v\nwant %v\n     %v", n, k, ids, labels, s.IDs, s.Labels)
			}
			compared++
		}
	}
	if compared < 70 {
		t.Errorf("only %d samples", compared)
	}
}

func TestMaskHidesAsManyTokensAsTheRatesSay(t *testing.T) {
	const n, vocabulary = 200_000, 1000
	text := make([]int32, n)
	for i := range text {
		text[i] = int32(i % vocabulary)
	}
	ds, err := Mask(texts(false, text), 103, vocabulary, []int{0, 101, 102})
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, ds, 0)
	ids, labels := dataset.ValuesOf[int32](s["input_ids"]), dataset.ValuesOf[int32](s["labels"])
	chosen, masked, kept, low := 0, 0, 0, 0
	for i, id := range ids {
		switch {
		case labels[i] == -100:
			if id != text[i] {
				t.Fatalf("place %d: %d became %d without a label", i, text[i], id)
			}
			continue
		case labels[i] != text[i]:
			t.Fatalf("place %d: label %d of token %d", i, labels[i], text[i])
		case slices.Contains([]int32{0, 101, 102, 103}, text[i]):
			t.Fatalf("place %d: special token %d is chosen", i, text[i])
		case id == 103:
			masked++
		case id == text[i]:
			kept++
		case id < vocabulary/2:
			low++
		}
		chosen++
	}
	near := func(what string, got, want float64) {
		if got < 0.97*want || got > 1.03*want {
			t.Errorf("%s: %.4f, want %.4f", what, got, want)
		}
	}
	near("chosen", float64(chosen)/n, 0.15*996/1000)
	near("masked", float64(masked)/float64(chosen), 0.8)
	near("kept", float64(kept)/float64(chosen), 0.1)
	near("random tokens in the lower half", float64(low)/float64(chosen-masked-kept), 0.5)
}

func TestMaskChoosesWholeWords(t *testing.T) {
	var text []int32
	for range 300 {
		text = append(text, 5, 7, 10, 8, 0, 7, 9, 13) // words are 5 7 10, 8, 7 and 9 13
	}
	ds, err := Mask(texts(true, text), 3, 20, []int{0}, WholeWords(everyThird), MaskRates(0.4, 0.8, 0.1))
	if err != nil {
		t.Fatal(err)
	}
	labels, words := dataset.ValuesOf[int32](datatest.Sample(t, ds, 0)["labels"]), 0
	for i := 0; i < len(labels); i += 8 {
		var chosen []bool
		for _, l := range labels[i : i+8] {
			chosen = append(chosen, l != -100)
		}
		if chosen[0] != chosen[1] || chosen[0] != chosen[2] || chosen[4] || chosen[6] != chosen[7] {
			t.Fatalf("place %d: %v", i, chosen)
		}
		for _, k := range []int{0, 3, 5, 6} {
			if chosen[k] {
				words++
			}
		}
	}
	if words < 400 || words > 560 {
		t.Errorf("%d of 1200 words are chosen: want 40 %%", words)
	}
}

// masked is all samples of an epoch as text, by their index.
func masked(t *testing.T, ds dataset.Dataset, epoch int, options ...loader.Option) map[int]string {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := map[int]string{}
	for b, err := range l.Epoch(t.Context(), epoch) {
		if err != nil {
			t.Fatal(err)
		}
		for r, i := range b.Indices() {
			for _, f := range b.Spec() {
				bytes := b.Bytes(f.Name)
				n := len(bytes) / b.Len()
				all[i] += fmt.Sprint(bytes[r*n : (r+1)*n])
			}
		}
	}
	return all
}

// sameForAny checks that samples depend on the seed, the epoch and the place alone.
func sameForAny(t *testing.T, ds dataset.Dataset) {
	t.Helper()
	shuffled := []loader.Option{loader.Shuffle(true), loader.Seed(5)}
	want := masked(t, ds, 1, append(shuffled, loader.BatchSize(4), loader.Workers(1))...)
	equal := func(got, want map[int]string) (n int) {
		for i, s := range got {
			if s == want[i] {
				n++
			}
		}
		return n
	}
	if got := masked(t, ds, 1, append(shuffled, loader.BatchSize(7), loader.Workers(3))...); equal(got, want) != ds.Len() {
		t.Error("samples depend on batches or workers")
	}
	for rank := range 2 {
		got := masked(t, ds, 1, append(shuffled, loader.BatchSize(3), loader.Ranks(rank, 2, sampler.KeepExact))...)
		if equal(got, want) != len(got) || len(got) == 0 {
			t.Error("samples depend on the ranks")
		}
	}
	if n := equal(masked(t, ds, 2, append(shuffled, loader.BatchSize(4))...), want); n > ds.Len()/10 {
		t.Errorf("%d samples are the same in another epoch", n)
	}
	if n := equal(masked(t, ds, 1, loader.Shuffle(true), loader.Seed(6), loader.BatchSize(4)), want); n > ds.Len()/10 {
		t.Errorf("%d samples are the same with another seed", n)
	}
}

func many() [][]int64 {
	all := make([][]int64, 60)
	for i := range all {
		for j := range 40 {
			all[i] = append(all[i], int64(4+(i+j)%90))
		}
	}
	return all
}

func TestMasksAreTheSameForAnyBatchesWorkersAndRanks(t *testing.T) {
	ds, err := Mask(texts(false, many()...), 3, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameForAny(t, ds)
}

func TestMasksOfNumPyAreNotCached(t *testing.T) {
	ds, err := Mask(texts(false, many()...), 3, 100, nil, NumPy(1))
	if err != nil {
		t.Fatal(err)
	}
	cached, err := dataset.Cached(ds, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(cached, loader.BatchSize(10))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err = range l.Epoch(t.Context(), 0) {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "is made with random numbers") {
		t.Errorf("got %v, want that samples are random", err)
	}
}

func TestMaskReplacesLabelsAndPassesOtherFieldsOn(t *testing.T) {
	lengths := []int32{3, 2, 4}
	rows, err := Pack(documents(lengths), lengths, 8, Wrap)
	if err != nil {
		t.Fatal(err)
	}
	ds, err := Mask(rows, 3, 3000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ds.Spec().String(), rows.Spec().String(); got != want {
		t.Errorf("fields %s: want %s", got, want)
	}
	f := texts(true, []int64{1})
	if ds, err = Mask(f, 3, 10, nil); err != nil || ds.Spec().String() != "input_ids int64 (n), labels int64 (n)" {
		t.Errorf("fields %v, %v", ds.Spec(), err)
	}
}

func TestMaskRefusesMistakes(t *testing.T) {
	ok := texts(true, []int64{5, 9, 4})
	other, _ := dataset.Rename(ok, map[string]string{"input_ids": "text"})
	for _, c := range []struct {
		ds         dataset.Dataset
		vocabulary int
		special    []int
		options    []MaskOption
		want       string
	}{
		{nil, 10, nil, nil, "no dataset"},
		{other, 10, nil, nil, `no field "input_ids" or "tokens": the dataset has text`},
		{texts(false, []int32{1}), 0, nil, nil, "a vocabulary of 0 tokens: want 1 to 16777216"},
		{ok, 1 << 25, nil, nil, "a vocabulary of 33554432 tokens"},
		{ok, 3, nil, nil, "special token 3: want 0 to 2"},
		{ok, 10, []int{-1}, nil, "special token -1: want 0 to 9"},
		{ok, 10, nil, []MaskOption{MaskRates(1.5, 0, 0)}, "MaskRates(1.5, 0, 0): want 0 to 1"},
		{ok, 10, nil, []MaskOption{MaskRates(0.1, 0.8, 0.3)}, "also for the last two together"},
	} {
		if _, err := Mask(c.ds, 3, c.vocabulary, c.special, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	ds, err := Mask(ok, 3, 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), ds, 0); err == nil || !strings.Contains(err.Error(), "token 9 at place 1: want 0 to 8") {
		t.Errorf("a token that is no token: %v", err)
	}
}

func TestMaskAllocatesNothing(t *testing.T) {
	for _, options := range [][]MaskOption{nil, {NumPy(3)}} {
		ds, err := Mask(texts(false, many()...), 3, 100, nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		if n := allocs.PerRun(0, 100, func() {
			if err := r.Place(t.Context(), 7, slot); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations per sample", n)
		}
	}
}
