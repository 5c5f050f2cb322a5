package tokens

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/sampler"
)

// The special tokens of these tests, which no document has; 1 to 3 are StarCoder's.
const prefixToken, middleToken, suffixToken = 1, 2, 3

// whole is a document that FillInTheMiddle has moved, in its first order, and where the piece began that was moved.
func whole(t *testing.T, moved []int32) (text []int32, from int, spm bool) {
	t.Helper()
	if moved[0] != prefixToken {
		t.Fatalf("%v does not begin with a prefix", moved)
	}
	at := func(token int32) int { return slices.Index(moved, token) }
	s, m := at(suffixToken), at(middleToken)
	if s < 0 || m < s {
		t.Fatalf("%v: suffix at %d, middle at %d", moved, s, m)
	}
	suffix := moved[s+1 : m]
	if s == 1 && len(moved) > m+1 && moved[m+1]%1000 == 0 || s == 1 && len(moved) == m+1 { // prefix and middle together, or nothing but a suffix
		return append(slices.Clone(moved[m+1:]), suffix...), 0, true
	}
	text = append(append(slices.Clone(moved[1:s]), moved[m+1:]...), suffix...)
	return text, s - 1, false
}

func fim(rate, spm float64) PackOption {
	return FillInTheMiddle(rate, spm, prefixToken, middleToken, suffixToken, 999)
}

// long has documents that begin with a multiple of 1000, from 1000 on, and end with 999.
func long(t *testing.T, n, length int) (dataset.Dataset, []int32) {
	t.Helper()
	all, lengths := make([][]int32, n), make([]int32, n)
	for i := range all {
		lengths[i] = int32(length + i%7)
		for j := range lengths[i] - 1 {
			all[i] = append(all[i], int32(1000*(i+1))+j)
		}
		all[i] = append(all[i], 999)
	}
	return texts(true, all...), lengths
}

func TestFillInTheMiddleMovesAPieceAndLosesNothing(t *testing.T) {
	const n = 400
	ds, lengths := long(t, n, 20)
	// Two documents, with three more tokens each, have room in a row, and three have not.
	for spm := range 2 {
		rows, err := Pack(ds, lengths, 59, FirstFit, Window(1), fim(1, float64(spm)), Fields("input_ids", "segment_ids", "labels", "position_ids"))
		if err != nil {
			t.Fatal(err)
		}
		places := [3]int{} // of the beginning of the middle, by thirds
		found := 0
		for k := range rows.Len() {
			slot := dataset.NewSlot(rows.Spec()...)
			datatest.Reset(slot, 1, 0, k)
			if err := datatest.Open(t, rows).Place(t.Context(), k, slot); err != nil {
				t.Fatal(err)
			}
			ids, segments, labels := dataset.Row[int32](slot, 0), dataset.Row[int32](slot, 1), dataset.Row[int32](slot, 2)
			for s, from := int32(1), 0; ; s++ {
				to := from
				for to < len(ids) && segments[to] == s {
					to++
				}
				if to == from {
					break
				}
				if labels[from] != -100 || !slices.Equal(labels[from+1:to], ids[from+1:to]) || dataset.Row[int32](slot, 3)[to-1] != int32(to-from-1) {
					t.Fatalf("row %d: labels %v or positions %v of %v", k, labels, dataset.Row[int32](slot, 3), ids)
				}
				if ids[to-1] != 999 {
					t.Fatalf("row %d: %v does not end with the token that ends", k, ids[from:to])
				}
				text, begin, isSPM := whole(t, ids[from:to-1])
				for j := range text {
					if want := int32(1000*(found+1) + j); text[j] != want {
						t.Fatalf("row %d, document %d: token %d of %v is not %d", k, found, j, ids[from:to], want)
					}
				}
				if len(text) != int(lengths[found])-1 {
					t.Fatalf("row %d, document %d: %d tokens, want %d", k, found, len(text), lengths[found]-1)
				}
				// A prefix that is empty looks like spm.
				if spm == 1 && !isSPM {
					t.Fatalf("row %d: %v is not in the order of spm", k, ids[from:to])
				}
				places[min(3*begin/22, 2)]++ // 22 tokens on average
				found++
				from = to
			}
		}
		if found != n {
			t.Errorf("%d documents, want %d", found, n)
		}
		// The first of two places is in the first third of a document with probability 5/9, and in the last with 1/9.
		if spm == 0 && (places[0] < n*45/100 || places[0] > n*65/100 || places[2] < n*6/100 || places[2] > n*17/100) {
			t.Errorf("middles begin in the thirds %v", places)
		}
	}
}

func TestFillInTheMiddleCutsARowWhereItsEndIs(t *testing.T) {
	ds, lengths := long(t, 50, 20)
	for _, options := range [][]PackOption{{Shifted(), Joined()}, {Shifted()}, {}, {Megatron(20, 1)}} {
		fields := Fields("input_ids", "labels", "sequence_lengths")
		plain, err := Pack(ds, lengths, 64, Wrap, append(options, fields)...)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Pack(ds, lengths, 64, Wrap, append(options, fields, fim(0.7, 0.5))...)
		if err != nil {
			t.Fatal(err)
		}
		zero, err := Pack(ds, lengths, 64, Wrap, append(options, fields, fim(0, 0.5))...)
		if err != nil {
			t.Fatal(err)
		}
		datatest.Same(t, zero, plain)
		if rows.Len() != plain.Len() {
			t.Fatalf("%d rows, want %d", rows.Len(), plain.Len())
		}
		for k := range rows.Len() {
			s := datatest.Sample(t, rows, k)
			ids, labels := dataset.ValuesOf[int32](s["input_ids"]), dataset.ValuesOf[int32](s["labels"])
			sum := int32(0)
			for _, n := range dataset.ValuesOf[int32](s["sequence_lengths"]) {
				sum += n
			}
			if sum != 64 {
				t.Errorf("row %d: documents of %d tokens", k, sum)
			}
			for i, l := range labels {
				if len(options) > 0 && i < 63 && l != -100 && l != ids[i+1] || len(options) == 0 && l != -100 && l != ids[i] {
					t.Fatalf("row %d, place %d: label %d of %v", k, i, l, ids)
				}
			}
			if k < rows.Len()-1 && slices.Contains(ids, 0) {
				t.Errorf("row %d is padded: %v", k, ids)
			}
		}
	}
}

func TestFillInTheMiddleIsAsOftenAsTheRatesSay(t *testing.T) {
	const n = 3000
	ds, lengths := long(t, n, 20)
	rows, err := Pack(ds, lengths, 32, FirstFit, Window(1), Order(sampler.Shuffle(n, 3)), fim(0.3, 0.25), Fields("input_ids"))
	if err != nil {
		t.Fatal(err)
	}
	r, slot := datatest.Open(t, rows), dataset.NewSlot(rows.Spec()...)
	moved, spm := 0, 0
	for k := range rows.Len() {
		datatest.Reset(slot, 1, 0, k)
		if err := r.Place(t.Context(), k, slot); err != nil {
			t.Fatal(err)
		}
		if ids := dataset.Row[int32](slot, 0); ids[0] == prefixToken {
			moved++
			if ids[1] == suffixToken {
				spm++
			}
		}
	}
	// A prefix is empty in about one of eleven texts, also without spm.
	if moved < 830 || moved > 970 || spm < moved*27/100 || spm > moved*37/100 {
		t.Errorf("of %d documents %d are moved, and %d look like spm", n, moved, spm)
	}
}

func TestFillInTheMiddleIsTheSameForAnyBatchesWorkersAndRanks(t *testing.T) {
	ds, lengths := long(t, 200, 20)
	rows, err := Pack(ds, lengths, 64, Wrap, fim(1, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	sameForAny(t, rows)
}

func TestFillInTheMiddleRefusesMistakes(t *testing.T) {
	ds, lengths := long(t, 5, 20)
	for want, o := range map[string]PackOption{
		"FillInTheMiddle: rate 1.5: want 0 to 1":              FillInTheMiddle(1.5, 0, 1, 2, 3, 0),
		"FillInTheMiddle: rate -1: want 0 to 1":               FillInTheMiddle(1, -1, 1, 2, 3, 0),
		"FillInTheMiddle: token -2: want 0 to 2147483647":     FillInTheMiddle(1, 1, 1, -2, 3, 0),
		"token -1: want 0 to 2147483647; FillInTheMiddle: to": FillInTheMiddle(1, 1, -1, -1, 3, 0),
	} {
		_, err := Pack(ds, lengths, 8, Wrap, o)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\n", "; "), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
