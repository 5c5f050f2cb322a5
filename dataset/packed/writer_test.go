package packed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A tensorBatch is samples in tensors.
type tensorBatch struct {
	spec   dataset.Spec
	fields []dataset.Tensor
}

func (b tensorBatch) Spec() dataset.Spec        { return b.spec }
func (b tensorBatch) Bytes(field string) []byte { return b.fields[b.spec.Index(field)].Bytes() }
func (b tensorBatch) Offsets(string) []int      { return nil }

// pairBatch is the given samples of [pairs] as a batch.
func pairBatch(t testing.TB, indices ...int) dataset.Batch {
	var pair []uint16
	var label []int16
	for _, i := range indices {
		pair = append(pair, uint16(2*i+1), uint16(2*i+2))
		label = append(label, int16(-i-1))
	}
	return tensorBatch{datatest.Pairs(t).Spec(), []dataset.Tensor{dataset.TensorOf(pair, len(indices), 2), dataset.TensorOf(label, len(indices))}}
}

func newWriter(t testing.TB, path string, options ...packed.Option) *packed.Writer {
	t.Helper()
	p, err := packed.Create(t.Context(), path, datatest.Pairs(t).Spec(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// pack appends the samples of pairs that remain, a few at a time, up to but not
// including end, and leaves sample 2 out.
func pack(t testing.TB, p *packed.Writer, batch, end int) {
	t.Helper()
	for p.Next() < end {
		from := p.Next()
		var indices []int
		for i := from; i < min(from+batch, end); i++ {
			if i != 2 {
				indices = append(indices, i)
			}
		}
		if len(indices) == 0 { // so that Next passes sample 2
			indices = []int{3}
		}
		if err := p.AppendBatch(indices, pairBatch(t, indices...)); err != nil {
			t.Fatal(err)
		}
	}
}

func packedWhole(t testing.TB, options ...packed.Option) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole")
	p := newWriter(t, path, options...)
	pack(t, p, 5, 5)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestOpenReadsWhatAWriterWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs")
	p := newWriter(t, path, packed.Classes("left", "right"))
	pack(t, p, 2, 5)
	if p.Len() != 4 || p.Next() != 5 {
		t.Errorf("%d samples, next is %d", p.Len(), p.Next())
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before Finish: %v, want no file", err)
	}
	if err := errors.Join(p.Finish(), p.Close()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, want %s alone", left, path)
	}
	want, err := dataset.Subset(datatest.Pairs(t), []int{0, 1, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	ds, err := packed.Open(os.DirFS(filepath.Dir(path)), "pairs")
	if err != nil {
		t.Fatal(err)
	}
	datatest.Same(t, ds, want)
	if got := ds.Classes(); !slices.Equal(got, []string{"left", "right"}) {
		t.Errorf("classes %q", got)
	}
}

func TestInterruptedWriterGivesTheSameFile(t *testing.T) {
	whole := packedWhole(t)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		path := filepath.Join(t.TempDir(), "pairs")
		for end := 1; end < 5; end++ {
			p := newWriter(t, path)
			pack(t, p, 1+round%3, end)
			if round%2 == 0 {
				continue // killed: nothing is closed
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 { // as if the machine had failed: some of the bytes were not written
				shorten(t, path+".part", r)
				shorten(t, path+".journal", r)
			}
		}
		p := newWriter(t, path)
		pack(t, p, 2, 5)
		if err := p.Finish(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, whole) {
			t.Fatalf("round %d: %x, want %x", round, got, whole)
		}
	}
}

// shorten cuts up to 12 bytes off the file, or changes one of the last 12, but
// leaves the first line alone.
func shorten(t *testing.T, name string, r *rand.Rand) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	n := r.IntN(min(12, len(data)+1-bytes.IndexByte(data, '\n')-1) + 1)
	if strings.HasSuffix(name, ".part") {
		n = r.IntN(min(12, len(data)) + 1)
	}
	if n > 0 && r.IntN(2) == 0 {
		data[len(data)-n] ^= 0x40
	} else {
		data = data[:len(data)-n]
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestResumedWriterKnowsWhatWasDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs")
	p := newWriter(t, path, packed.Origin("a"))
	pack(t, p, 2, 4)
	q := newWriter(t, path, packed.Origin("a"))
	if q.Next() != 4 || q.Len() != 3 {
		t.Errorf("next %d, %d samples; want 4, 3", q.Next(), q.Len())
	}
}

func TestDamageWhileInterruptedIsDoneAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs")
	p := newWriter(t, path)
	pack(t, p, 1, 5)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	part, err := os.ReadFile(path + ".part")
	if err != nil {
		t.Fatal(err)
	}
	part[7]++ // in sample 1
	write(t, path+".part", string(part))
	q := newWriter(t, path)
	if q.Next() != 1 || q.Len() != 1 {
		t.Errorf("next %d after %d samples, want 1 after 1", q.Next(), q.Len())
	}
	pack(t, q, 1, 2)
	if next := newWriter(t, path).Next(); next != 2 { // the lines after the damage do not count
		t.Errorf("next %d, want 2", next)
	}
}

// Nothing is lost if another Writer begins where no sample was appended, or where only the journal
// of a finished file is left, because the program was killed before it was removed.
func TestAnotherSourceMayFollowAWriterWithoutSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := newWriter(t, path, packed.Origin("first")).Close(); err != nil {
		t.Fatal(err)
	}
	p := newWriter(t, path, packed.Origin("second"))
	pack(t, p, 2, 5)
	journal, err := os.ReadFile(path + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Finish(), os.WriteFile(path+".journal", journal, 0o600)); err != nil {
		t.Fatal(err)
	}
	p = newWriter(t, path, packed.Origin("third"))
	if p.Next() != 0 || p.Len() != 0 {
		t.Errorf("after a finished file, it begins at %d with %d samples", p.Next(), p.Len())
	}
	pack(t, p, 2, 5)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = newWriter(t, path, packed.Origin("third"))
	if p.Next() != 5 || p.Len() != 4 {
		t.Errorf("resumed at %d with %d samples, want 5 and 4", p.Next(), p.Len())
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	ds, err := packed.Open(os.DirFS(filepath.Dir(path)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if ds.Origin() != "third" || ds.Len() != 4 {
		t.Errorf("got %d samples of %s", ds.Len(), ds.Origin())
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pairs")
	p := newWriter(t, path, packed.Origin("a"))
	pack(t, p, 2, 2)
	again := func(path string, options ...packed.Option) error {
		_, err := packed.Create(t.Context(), path, datatest.Pairs(t).Spec(), options...)
		return err
	}
	write(t, filepath.Join(dir, "mine.part"), "a user's")
	write(t, filepath.Join(dir, "my.journal"), strings.Repeat("dear diary, ", 20))
	other := "exist already, with other fields, columns or options, or of another source: remove them to start again"
	foreign := "exists already, and is no work that can be continued: remove it to start again"
	batch := pairBatch(t, 2, 3)
	pairs := batch.(tensorBatch).fields
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := packed.Create(cancelled, path, datatest.Pairs(t).Spec(), packed.Origin("a"))
	closed := newWriter(t, filepath.Join(dir, "closed"))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{again(path, packed.Origin("b")), other},
		{again(path, packed.Origin("a"), packed.Classes("x")), other},
		{again(filepath.Join(dir, "mine")), foreign},
		{again(filepath.Join(dir, "my")), foreign},
		{again(filepath.Join(dir, "no", "folder")), "folder.journal: "},
		{err, "context canceled"},
		{p.AppendBatch([]int{1, 2}, batch), "sample 1: indices must increase, the last one was 1"},
		{p.AppendBatch([]int{4, 2}, batch), "sample 2: indices must increase, the last one was 4"},
		{p.AppendBatch([]int{2}, batch), `field "pair": 8 bytes, want 1 samples of 4`},
		{p.AppendBatch([]int{2, 3}, tensorBatch{batch.Spec()[:1], pairs}), "batch of pair uint16 (2), want pair uint16 (2), label int16 ()"},
		{p.Finish(), "<nil>"},
		{p.AppendBatch([]int{4}, pairBatch(t, 4)), "finished"},
		{closed.AppendBatch([]int{0}, pairBatch(t, 0)), "closed"},
	} {
		if got := fmt.Sprint(c.err); !strings.Contains(got, c.want) {
			t.Errorf("got error  %v\nwant       %s", got, c.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "mine.part")); string(got) != "a user's" {
		t.Errorf("a file of another's is now %q, %v", got, err)
	}
}

func TestWriterThatCannotWriteSaysSoAndResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs")
	p := newWriter(t, path)
	pack(t, p, 2, 2)
	if err := os.Mkdir(path, 0o777); err != nil { // a folder has the name of the file
		t.Fatal(err)
	}
	if err := p.Finish(); err == nil {
		t.Error("a folder in the way gives no error")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p = newWriter(t, path)
	pack(t, p, 2, 5)
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := packedWhole(t); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v; want %x", got, err, want)
	}
}
