package files_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
)

func TestScanCallsEveryNumberOnceAndJoinsErrorsInOrder(t *testing.T) {
	var calls [100]atomic.Int32
	err := files.Scan(len(calls), 7, func(k int) error {
		calls[k].Add(1)
		if k%8 == 3 {
			return fmt.Errorf("number %d", k)
		}
		return nil
	})
	for k := range calls {
		if n := calls[k].Load(); n != 1 {
			t.Errorf("number %d: %d calls", k, n)
		}
	}
	want := "number 3\nnumber 11\nnumber 19\nnumber 27\nnumber 35\nnumber 43\nnumber 51\nnumber 59\nnumber 67\nnumber 75\nand 3 more errors"
	if got := fmt.Sprint(err); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if err := files.Scan(0, 7, func(int) error { return io.EOF }); err != nil {
		t.Error(err)
	}
}

func TestPathsAreThoseOfTheList(t *testing.T) {
	list := []string{"a", "", "b/c", "ä"}
	p := files.NewPaths(list)
	if p.Len() != len(list) {
		t.Fatalf("length %d", p.Len())
	}
	for i, want := range list {
		if got := p.At(i); got != want {
			t.Errorf("path %d: got %q, want %q", i, got, want)
		}
	}
}

func TestMatchIsSortedAndNeverEmpty(t *testing.T) {
	fsys := fstest.MapFS{"b.x": {}, "a.x": {}, "c": {}}
	names, err := files.Match(fsys, "*.x")
	if got := fmt.Sprint(names, err); got != "[a.x b.x] <nil>" {
		t.Error(got)
	}
	for pattern, want := range map[string]string{"*.y": `no file matches "*.y"`, "[": `match "[": syntax error in pattern`} {
		if _, err := files.Match(fsys, pattern); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestErrorsLeaveOutTheName(t *testing.T) {
	fsys := fstest.MapFS{"d/f": {Data: []byte("abc")}}
	if _, _, err := files.Open(fsys, "none"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "none") {
		t.Errorf("a file that is missing: %v", err)
	}
	if _, _, err := files.Open(fsys, "d"); err == nil || err.Error() != "not a file" {
		t.Errorf("a folder: %v", err)
	}
	if _, _, err := files.Open(datatest.PipeFS{T: t}, "p"); fmt.Sprint(err) != "not a file" {
		t.Errorf("a pipe: %v", err)
	}
	f, size, err := files.Open(fsys, "d/f")
	if err != nil || size != 3 {
		t.Fatal(size, err)
	}
	f.Close()
}

// seeking files have no ReadAt; other files have neither ReadAt nor Seek.
type seeking struct {
	fs.File
	io.Seeker
}

func TestReaderAtReadsFilesThatCanSeek(t *testing.T) {
	fsys := fstest.MapFS{"f": {Data: []byte("abcdef")}}
	open := func() fs.File {
		f, err := fsys.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	at, err := files.ReaderAt(seeking{f, f.(io.Seeker)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset int64
		want   string
	}{{2, "cd <nil>"}, {0, "ab <nil>"}, {5, "f EOF"}, {6, " EOF"}} {
		p := make([]byte, 2)
		n, err := at.ReadAt(p, c.offset)
		if got := fmt.Sprintf("%s %v", p[:n], err); got != c.want {
			t.Errorf("at %d: got %q, want %q", c.offset, got, c.want)
		}
	}
	if _, err := files.ReaderAt(struct{ fs.File }{f}); err == nil {
		t.Error("a stream is read at an offset")
	}
}
