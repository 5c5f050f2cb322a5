package tokens_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
)

// documents32 are the documents of a golden file.
func documents32(t testing.TB, name string) (documents [][]int32) {
	g, _ := readGolden(t)
	for _, d := range g.Documents[name] {
		var tokens []int32
		for _, v := range d {
			tokens = append(tokens, int32(v))
		}
		documents = append(documents, tokens)
	}
	return documents
}

func create(t testing.TB, path string, dt dataset.Dtype, origin string) *tokens.Writer {
	t.Helper()
	w, err := tokens.Create(t.Context(), path, dt, origin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// write appends the documents that remain, as many at a time as many says.
func write(t testing.TB, w *tokens.Writer, documents [][]int32, many int) {
	t.Helper()
	for w.Next() < len(documents) {
		next := min(w.Next()+many, len(documents))
		if err := w.Append(next, documents[w.Next():next]...); err != nil {
			t.Fatal(err)
		}
	}
}

// pair is both files of a path.
func pair(t testing.TB, path string) []byte {
	t.Helper()
	bin, err := os.ReadFile(path + ".bin")
	idx, err2 := os.ReadFile(path + ".idx")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return append(bin, idx...)
}

func TestAWriterWritesTheFilesOfMegatron(t *testing.T) {
	_, fsys := readGolden(t)
	for name, dt := range map[string]dataset.Dtype{"u2": dataset.Uint16} {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path, dt, "")
		write(t, w, documents32(t, name+".idx"), 3)
		if w.Len() != 7 || w.Next() != 7 {
			t.Errorf("%d documents, next is %d", w.Len(), w.Next())
		}
		if _, err := os.Stat(path + ".bin"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before Finish: %v, want no file", err)
		}
		if err := errors.Join(w.Finish(), w.Close()); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{".bin", ".idx"} {
			want, err := fs.ReadFile(fsys, name+end)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path + end); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s%s, %v:\ngot  %x\nwant %x", name, end, err, got, want)
			}
		}
		if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 2 {
			t.Errorf("files %v, want two", left)
		}
	}
}

func TestAWriterWritesWhatOpenReads(t *testing.T) {
	documents := [][]int32{{1, 2, 3}, {}, {127}, {-128, 5}}
	for _, dt := range []dataset.Dtype{dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64} {
		folder := t.TempDir()
		w := create(t, filepath.Join(folder, "x"), dt, "")
		write(t, w, documents, 2)
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		f := open(t, os.DirFS(folder), "x.idx")
		if f.Len() != len(documents) {
			t.Fatalf("%v: %d documents", dt, f.Len())
		}
		for i, want := range documents {
			s, err := dataset.At(t.Context(), f, i)
			if err != nil || !slices.Equal(dataset.ValuesOf[int32](s["tokens"]), want) {
				t.Errorf("%v, document %d: got %v, %v, want %v", dt, i, s, err, want)
			}
		}
	}
}

// A kill leaves any beginning of what was written to each of the two files: the journal is written after the part.
func TestAWriterThatIsKilledAtAnyByteGivesTheSameFiles(t *testing.T) {
	documents := documents32(t, "u2.idx")
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole")
	w := create(t, whole, dataset.Uint16, "o")
	write(t, w, documents, 2)
	part, err := os.ReadFile(whole + ".bin.part")
	journal, err2 := os.ReadFile(whole + ".bin.journal")
	if err := errors.Join(err, err2, w.Finish()); err != nil {
		t.Fatal(err)
	}
	want := pair(t, whole)
	resumed := map[int]bool{}
	for kept := range len(part) + len(journal) + 1 {
		path := filepath.Join(folder, fmt.Sprint(kept))
		head := bytes.IndexByte(journal, '\n') + 1
		lines := journal[:min(kept, len(journal))]
		bytes := part
		if kept > len(journal) { // as if the machine had failed
			bytes = part[:len(part)-(kept-len(journal))]
		} else if kept < head {
			bytes = nil // it is made after the first line
		}
		if err := errors.Join(os.WriteFile(path+".bin.part", bytes, 0o600), os.WriteFile(path+".bin.journal", lines, 0o600)); err != nil {
			t.Fatal(err)
		}
		w := create(t, path, dataset.Uint16, "o")
		resumed[w.Next()] = true
		write(t, w, documents, 1+kept%3)
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		if got := pair(t, path); string(got) != string(want) {
			t.Fatalf("%d bytes kept: got %x\nwant %x", kept, got, want)
		}
	}
	if len(resumed) != 5 { // at 0, 2, 4, 6 and 7
		t.Errorf("continued at %v", resumed)
	}
}

// Finish may be killed between its steps, too.
func TestAFinishThatIsKilledIsDoneAgain(t *testing.T) {
	documents := documents32(t, "u2.idx")
	path := filepath.Join(t.TempDir(), "x")
	w := create(t, path, dataset.Uint16, "")
	write(t, w, documents, 2)
	if err := os.Mkdir(path+".bin", 0o777); err != nil { // a folder has the name of the file
		t.Fatal(err)
	}
	if err := w.Finish(); err == nil || !strings.Contains(err.Error(), "tokens: write ") {
		t.Errorf("a folder in the way gives the error %v", err)
	}
	if err := os.Remove(path + ".bin"); err != nil {
		t.Fatal(err)
	}
	w = create(t, path, dataset.Uint16, "")
	if w.Next() != 7 || w.Len() != 7 {
		t.Errorf("continued at %d with %d documents", w.Next(), w.Len())
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if f := open(t, os.DirFS(filepath.Dir(path)), "x.idx"); f.Len() != 7 {
		t.Errorf("%d documents", f.Len())
	}
}

func TestAWriterRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	w := create(t, path, dataset.Uint16, "a")
	if err := w.Append(3, []int32{1}); err != nil {
		t.Fatal(err)
	}
	again := func(dt dataset.Dtype, origin string) error {
		_, err := tokens.Create(t.Context(), path, dt, origin)
		return err
	}
	other := "exist already, with other fields, columns or options, or of another source: remove them to start again"
	signed := create(t, path+"8", dataset.Int8, "")
	closed := create(t, path+"closed", dataset.Int8, "")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{again(dataset.Uint16, "b"), other},
		{again(dataset.Int32, "a"), other},
		{again(dataset.Uint32, "a"), "dtype uint32: want uint8, uint16, int8, int16, int32 or int64"},
		{w.Append(2), "next is 2, but was 3"},
		{w.Append(4, []int32{0}, []int32{5, -1}), "document 2: token 1 is -1: want 0 to 65535 for uint16"},
		{w.Append(4, []int32{math.MaxInt32}), "document 1: token 0 is 2147483647"},
		{signed.Append(1, []int32{128}), "token 0 is 128: want -128 to 127 for int8"},
		{w.Append(4, make([][]int32, 5001)...), "5001 documents: want 5000 at most"},
		{w.Append(4, make([][]int32, 5000)...), "<nil>"},
		{w.Finish(), "<nil>"},
		{w.Append(5), "finished"},
		{closed.Append(1), "closed"},
	} {
		if got := fmt.Sprint(c.err); !strings.Contains(got, c.want) {
			t.Errorf("got error  %v\nwant       %s", got, c.want)
		}
	}
	if f := open(t, os.DirFS(filepath.Dir(path)), "x.idx"); f.Len() != 5001 || f.Tokens() != 1 {
		t.Errorf("%d documents of %d tokens", f.Len(), f.Tokens())
	}
}
