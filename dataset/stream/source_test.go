package stream_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// numbers is a log of n records, or of endless ones if n is negative. Record i has the
// fields n, which is i, and text, which has i%50 times the letter x.
type numbers struct {
	n, at int
	fail  map[int]error // the first time that a record is read
	wait  func(ctx context.Context, i int) error
	seeks []int
}

var numbersSpec = dataset.Spec{{Name: "n", Dtype: dataset.Int64}, {Name: "text", Dtype: dataset.Uint8, Ragged: true}}

func (s *numbers) Spec() dataset.Spec { return numbersSpec }
func (s *numbers) String() string     { return "numbers" }
func (s *numbers) Mark() []byte       { return strconv.AppendInt(nil, int64(s.at), 10) }

func (s *numbers) Next(ctx context.Context, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.wait != nil {
		if err := s.wait(ctx, s.at); err != nil {
			return err
		}
	}
	if err := s.fail[s.at]; err != nil {
		delete(s.fail, s.at)
		return err
	}
	if s.at == s.n {
		return io.EOF
	}
	dataset.Set(dst, 0, int64(s.at))
	copy(dataset.Grow[byte](dst, 1, s.at%50), strings.Repeat("x", 50))
	s.at++
	return nil
}

// A seeking source can go back.
type seeking struct{ *numbers }

func (s seeking) Seek(_ context.Context, mark []byte) (err error) {
	s.at, err = strconv.Atoi(string(mark))
	s.seeks = append(s.seeks, s.at)
	return err
}

func open(t testing.TB, source stream.Source, dir string, options ...stream.Option) *stream.Dataset {
	t.Helper()
	ds, err := stream.New(source, dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ds.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return ds
}

// order is the records in the order in which they are drawn.
func order(n, window int, seed uint64) (records []int64) {
	for begin := 0; begin < n; begin += window {
		size := min(window, n-begin)
		o := sampler.Shuffle(size, seed).Epoch(begin / window)
		for k := range size {
			records = append(records, int64(begin+o.At(k)))
		}
	}
	return records
}

// A seen batch is what a loop body got.
type seen struct {
	records  []int64
	position loader.Position
}

// collect reads up to so many batches, and checks that the texts belong to the numbers.
func collect(t testing.TB, l *loader.Loader, from loader.Position, most int) (batches []seen) {
	t.Helper()
	for b, err := range l.From(t.Context(), from, 1) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, seen{checked(t, b), b.Position()})
		if len(batches) == most {
			break
		}
	}
	return batches
}

func checked(t testing.TB, b *loader.Batch) []int64 {
	t.Helper()
	records := append([]int64(nil), loader.Values[int64](b, "n")...)
	offsets := b.Offsets("text")
	for row, n := range records {
		if got := int(offsets[row+1] - offsets[row]); got != int(n%50) {
			t.Errorf("record %d has a text of %d letters", n, got)
		}
	}
	return records
}

func flat(batches []seen) (records []int64) {
	for _, b := range batches {
		records = append(records, b.records...)
	}
	return records
}

var errBroken = errors.New("the network broke")
