package dataset_test

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
)

// A megabyte that does not compress could hold 900 MB if it did.
func TestPromisesOfCompressedFilesTakeNoMemory(t *testing.T) {
	noise := make([]byte, 1<<20)
	if _, err := io.ReadFull(rand.NewChaCha8([32]byte{5}), noise); err != nil {
		t.Fatal(err)
	}
	npy := func(file string) func(fstest.MapFS) error {
		return func(fsys fstest.MapFS) error {
			_, err := dataset.Npy(fsys, file, "x")
			return err
		}
	}
	fsys := fstest.MapFS{
		"c.npy.gz":    {Data: zipped(npyFile("<f4", "225000000,", noise))},
		"half.npy.gz": {Data: zipped(npyFile("<f2", "225000000,", noise))},
		"fort.npy.gz": {Data: zipped(npyText("{'descr': '<f8', 'fortran_order': True, 'shape': (112500, 1000)}", noise))},
		"x.idx.gz":    {Data: zipped(append([]byte{0, 0, 8, 1, 0x35, 0xa4, 0xe9, 0}, noise...))},
		"x.npz":       {Data: npzFile(zip.Deflate, "a.npy", string(npyFile("|u1", "900000000,", noise)))},
	}
	for file, read := range map[string]func(fstest.MapFS) error{
		"c.npy.gz": npy("c.npy.gz"), "half.npy.gz": npy("half.npy.gz"), "fort.npy.gz": npy("fort.npy.gz"),
		"x.idx.gz": func(fsys fstest.MapFS) error {
			_, err := dataset.IDX(fsys, "x.idx.gz", "x")
			return err
		},
		"x.npz": func(fsys fstest.MapFS) error {
			_, err := dataset.Npz(fsys, "x.npz")
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(fsys)
		runtime.ReadMemStats(&after)
		if got, want := fmt.Sprint(err), "of the decompressed data: unexpected EOF"; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "dataset: read "+file) {
			t.Errorf("%s: got %s, want … %s", file, got, want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
			t.Errorf("%s: %d bytes allocated for a file of 1 MiB", file, got)
		}
	}
}

// A pipeFS has a pipe under every name.
type pipeFS struct {
	fstest.MapFS
	t *testing.T
}

func (p pipeFS) Open(name string) (fs.File, error) {
	p.t.Errorf("%s was opened, which waits until someone writes to it", name)
	return nil, fs.ErrInvalid
}

func (p pipeFS) Stat(name string) (fs.FileInfo, error) {
	return fstest.MapFS{name: {Mode: fs.ModeNamedPipe}}.Stat(name)
}

func TestPipesAreNotOpened(t *testing.T) {
	fsys := pipeFS{t: t}
	for name, read := range map[string]func() error{
		"a.npy": func() error { _, err := dataset.Npy(fsys, "a.npy", "x"); return err },
		"a.npz": func() error { _, err := dataset.Npz(fsys, "a.npz"); return err },
		"a.idx": func() error { _, err := dataset.IDX(fsys, "a.idx", "x"); return err },
		"a.bin": func() error { _, err := dataset.CIFAR10(fsys, dataset.Train, dataset.Files("a.bin")); return err },
		"a.csv": func() error {
			_, err := dataset.CSV(fsys, "a.csv", []dataset.CSVField{dataset.Text("x", "a")})
			return err
		},
		"train-images-idx3-ubyte": func() error { _, err := dataset.MNIST(fsys, dataset.Train); return err },
		"a.pack":                  func() error { _, err := dataset.PackedTensors(fsys, "a.pack", nil); return err },
	} {
		got := fmt.Sprint(read())
		if !strings.HasPrefix(got, "dataset: read "+name+": ") || !strings.HasSuffix(got, "not a file") {
			t.Errorf("got %s, want dataset: read %s: not a file", got, name)
		}
	}
}
