package objects_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/jsonl"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/internal/datatest"
)

// Document k and line k are textLengths[k] times the same.
var textLengths = []int32{3000, 1, 9000, 250, 0, 5000, 20000}

// texts writes the documents as train.idx and train.bin, and as lines.jsonl.
func texts(t *testing.T) fstest.MapFS {
	t.Helper()
	dir := t.TempDir()
	w, err := tokens.Create(t.Context(), dir+"/train", dataset.Uint16, "numbers")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var lines bytes.Buffer
	for k, n := range textLengths {
		if err := w.Append(k+1, slices.Repeat([]int32{int32(k)}, int(n))); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "{\"text\": %q}\n", strings.Repeat(fmt.Sprint(k), int(n)))
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"lines.jsonl": {Data: lines.Bytes()}}
	for _, name := range []string{"train.idx", "train.bin"} {
		data, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

func openLines(ctx context.Context, fsys fs.FS) (dataset.Dataset, error) {
	return jsonl.Open(ctx, fsys, "lines.jsonl", []jsonl.Column{jsonl.Text("tokens", "text")})
}

func openTokens(_ context.Context, fsys fs.FS) (dataset.Dataset, error) {
	return tokens.Open(fsys, "train.idx")
}

func TestTextsAreTheSameOverHTTP(t *testing.T) {
	files := texts(t)
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return openLines(t.Context(), fsys) })
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) { return openTokens(t.Context(), fsys) })
	same(t, files, func(fsys fs.FS) (dataset.Dataset, error) {
		return tokens.Pack(must(openTokens(t.Context(), fsys)), textLengths, 512, tokens.BestFit)
	})
}

func must(ds dataset.Dataset, err error) dataset.Dataset {
	if err != nil {
		panic(err)
	}
	return ds
}

// TestOnlyTheTextsThatAreAskedForAreFetched: a text is one request for its own bytes, or with a cache one for each block of
// them, and none twice. The index of tokens is read beside them.
func TestOnlyTheTextsThatAreAskedForAreFetched(t *testing.T) {
	dir, files := t.TempDir(), texts(t)
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	const block = 1024
	for _, c := range []struct {
		name, file string
		per        int // bytes of the file for an element of a text
		beside     int // bytes of a line that are not its text
		before     int // bytes that are read with a text: the end of the line before it
		open       func(context.Context, fs.FS) (dataset.Dataset, error)
	}{{"tokens", "train.bin", 2, 0, 0, openTokens}, {"lines", "lines.jsonl", 1, len("{\"text\": \"\"}\n"), 1, openLines}} {
		for _, cached := range []bool{false, true} {
			s := &noting{Store: objects.Folder(dir)}
			store := objects.Store(s)
			if cached {
				disk, err := cache.New(s, t.TempDir(), 1<<20, cache.BlockSize(block), cache.Identity("texts"))
				if err != nil {
					t.Skip(err) // some systems cannot have one
				}
				defer disk.Close()
				store = disk
			}
			fsys, err := objects.NewFS(t.Context(), store, "")
			if err != nil {
				t.Fatal(err)
			}
			ds := must(c.open(t.Context(), fsys))
			s.take() // of headers, or of the whole file of lines
			for pass := range 2 {
				for _, k := range []int{2, 6, 0, 3} {
					got := datatest.Sample(t, ds, k)["tokens"]
					if n := got.Shape()[0]; n != int(textLengths[k]) {
						t.Fatalf("%s: text %d has %d elements, want %d", c.name, k, n, textLengths[k])
					}
					from := k * c.beside
					for _, n := range textLengths[:k] {
						from += c.per * int(n)
					}
					to := from + c.per*int(textLengths[k]) + c.beside
					from = max(from-c.before, 0)
					reads := slices.DeleteFunc(s.take(), func(read string) bool { return strings.HasPrefix(read, "train.idx") })
					fetched := 0
					for _, read := range reads {
						var off, n int
						if _, err := fmt.Sscanf(read, c.file+" %d+%d", &off, &n); err != nil {
							t.Fatalf("%s: %q was read", c.name, read)
						}
						fetched += n
						if off < from || off+n > to || n > block && cached {
							t.Errorf("%s: for the bytes from %d to %d, %q was read", c.name, from, to, read)
						}
					}
					switch {
					case cached && pass == 1 && fetched > 0:
						t.Errorf("%s: %q was read again", c.name, reads)
					case !cached && len(reads) != 1:
						t.Errorf("%s: text %d took the reads %q, want one", c.name, k, reads)
					case (!cached || pass == 0) && fetched != to-from:
						t.Errorf("%s: for the bytes from %d to %d, %d bytes were read", c.name, from, to, fetched)
					}
				}
			}
		}
	}
}
