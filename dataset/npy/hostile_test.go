package npy_test

import (
	"archive/zip"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A megabyte that does not compress could hold 900 MB if it did.
func TestPromisesOfCompressedFilesTakeNoMemory(t *testing.T) {
	testenv.OneGoroutine(t)
	noise := make([]byte, 1<<20)
	if _, err := io.ReadFull(rand.NewChaCha8([32]byte{5}), noise); err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{
		"c.npy.gz":    datatest.Gzip(npyFile("<f4", "225000000,", noise)),
		"half.npy.gz": datatest.Gzip(npyFile("<f2", "225000000,", noise)),
		"fort.npy.gz": datatest.Gzip(npyText("{'descr': '<f8', 'fortran_order': True, 'shape': (112500, 1000)}", noise)),
		"x.npz":       npzFile(zip.Deflate, "a.npy", string(npyFile("|u1", "900000000,", noise))),
	} {
		fsys := fstest.MapFS{file: {Data: data}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := npy.Open(fsys, file, "x")
		if file == "x.npz" {
			_, err = npy.OpenNpz(fsys, file, nil)
		}
		runtime.ReadMemStats(&after)
		if got, want := fmt.Sprint(err), "of the decompressed data: unexpected EOF"; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "npy: read "+file) {
			t.Errorf("%s: got %s, want … %s", file, got, want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
			t.Errorf("%s: %d bytes allocated for a file of 1 MiB", file, got)
		}
	}
}

func TestPipesAreNotOpened(t *testing.T) {
	fsys := datatest.PipeFS{T: t}
	_, array := npy.Open(fsys, "a", "x")
	_, archive := npy.OpenNpz(fsys, "a", nil)
	for _, err := range []error{array, archive} {
		if got, want := fmt.Sprint(err), "npy: read a: not a file"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
