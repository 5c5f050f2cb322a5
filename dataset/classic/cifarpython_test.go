package classic_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// pythons are the files that testdata/make.py wrote, in a folder for every
// version of Python and protocol.
func pythons(t testing.TB) fstest.MapFS {
	t.Helper()
	f, err := os.Open("testdata/golden.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return fsys
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			fsys[strings.TrimPrefix(h.Name, "./")] = &fstest.MapFile{Data: data}
		}
	}
}

func TestCIFARReadsThePythonVersion(t *testing.T) {
	all := pythons(t)
	for _, version := range []string{"python2-2", "python3-2", "python3-3", "python3-4", "python3-5"} {
		root, err := fs.Sub(all, version)
		if err != nil {
			t.Fatal(err)
		}
		files, err := fs.Sub(root, "cifar-10-batches-py")
		if err != nil {
			t.Fatal(err)
		}
		for place, fsys := range map[string]fs.FS{"": files, "cifar-10-batches-py/": root} {
			train, err := classic.CIFAR10(fsys, classic.Train)
			if err != nil {
				t.Errorf("%s: %v", version, err)
				continue
			}
			if got, want := train.Labels(), []int{1, 8, 2, 7, 3, 6, 4, 5, 5, 4}; !slices.Equal(got, want) {
				t.Errorf("%s, %s: labels %v, want %v", version, place, got, want)
			}
			if got := train.Classes(); len(got) != 10 || got[9] != "class 9" {
				t.Errorf("%s, %s: classes %q", version, place, got)
			}
			if got, want := train.Name(7), place+"data_batch_4, image 1"; got != want {
				t.Errorf("%s: name %q, want %q", version, got, want)
			}
			image := dataset.ValuesOf[uint8](datatest.Sample(t, train, 7)["image"])
			if got, want := []byte{image[0], image[1023], image[1024], image[2048], image[3071]}, []byte{41, 41, 104, 201, 201}; !bytes.Equal(got, want) {
				t.Errorf("%s, %s: pixels %v, want %v", version, place, got, want)
			}
		}
		hundred, err := classic.CIFAR100(root, classic.Test)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		s := datatest.Sample(t, hundred, 1)
		if dataset.ValuesOf[int64](s["label"])[0] != 51 || dataset.ValuesOf[int64](s["coarse"])[0] != 8 || dataset.ValuesOf[uint8](s["image"])[2048] != 201 {
			t.Errorf("%s: labels %v and %v", version, s["label"].Data(), s["coarse"].Data())
		}
		if fine, coarse := hundred.Classes(), hundred.CoarseClasses(); fine[99] != "fine 99" || coarse[19] != "coarse 19" {
			t.Errorf("%s: classes %q and %q", version, fine, coarse)
		}
	}
}

func TestDamagedPythonVersionsAreErrors(t *testing.T) {
	all := pythons(t)
	const folder = "python2-2/cifar-10-batches-py"
	whole := all[folder+"/test_batch"].Data
	read := func(name string, data []byte) error {
		_, err := classic.CIFAR10(fstest.MapFS{name: {Data: data}}, classic.Test)
		return err
	}
	for n := range len(whole) - 1 {
		if n > 250 && n < len(whole)-150 && n%97 > 0 {
			continue // in the pixels
		}
		if err := read("test_batch", whole[:n]); err == nil || !strings.HasPrefix(err.Error(), "classic: read test_batch: ") {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	for at := range whole {
		if at > 250 && at < len(whole)-150 {
			continue
		}
		for _, bit := range []byte{1, 4, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[at] ^= bit
			read("test_batch", damaged) // may be read, must return
		}
	}
	for name, want := range map[string]string{
		"labels": `key "labels": None, want a list of integers`,
		"data":   `key "data" is missing or not an array`,
	} {
		other := bytes.Replace(whole, []byte(name), []byte(strings.ToUpper(name)), 1)
		if err := read("test_batch", other); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want … %s", err, want)
		}
	}
}

// manyTypes is a pickle that makes n types of the same 50 n bytes.
func manyTypes(n int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("\x80\x02cnumpy\ndtype\nq\x00B"), uint32(50*n))
	b = append(b, bytes.Repeat([]byte("x"), 50*n)...)
	b = append(b, "q\x01]("...)
	b = append(b, bytes.Repeat([]byte("h\x00h\x01\x85R"), n)...)
	return append(b, "e."...)
}

func TestAPickleOfManyCopiesIsAnError(t *testing.T) {
	fsys := fstest.MapFS{"data_batch_1": {Data: manyTypes(20_000)}}
	hostile.Bounded(t, len(fsys["data_batch_1"].Data), 0, func() {
		_, err := classic.CIFAR10(fsys, classic.Train)
		if got := fmt.Sprint(err); !errors.Is(err, budget.ErrExceeded) || !strings.HasPrefix(got, "classic: read data_batch_1: pickle: byte ") {
			t.Errorf("got %s", got)
		}
	})
	names := fstest.MapFS{"test_batch": {Data: cifarRecord(0, 0, 0, 1)}, "batches.meta": {Data: manyTypes(500)}}
	if _, err := classic.CIFAR10(names, classic.Test); err == nil || !strings.HasPrefix(err.Error(), "classic: read batches.meta: pickle: ") {
		t.Errorf("got %v", err)
	}
}

// TestCIFARReadsLabelsAsArrays reads what Python 3 writes in protocol 2 for labels that are an
// array: of int64 with two images, and without images, whose bytes are made by a call.
func TestCIFARReadsLabelsAsArrays(t *testing.T) {
	text := func(s string) string { return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s }
	array := func(dtype, order, shape, data string) string {
		return "cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text("b") + "\x87R(K\x01" + shape + "cnumpy\ndtype\n" + text(dtype) +
			"\x89\x88\x87R(K\x03" + text(order) + "NNNtb\x89" + data + "tb"
	}
	bytes := func(s string) string { return "c_codecs\nencode\n" + text(s) + text("latin1") + "\x86R" }
	none := "c__builtin__\nbytes\n)R"
	for want, file := range map[string]string{
		"[7 3]": "\x80\x02}(" + text("data") + array("u1", "|", "K\x02M\x00\x0c\x86", bytes(strings.Repeat("a", 6144))) +
			text("labels") + array("i8", "<", "K\x02\x85", bytes("\x07\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00")) + "u.",
		"[]": "\x80\x02}(" + text("data") + array("u1", "|", "K\x00M\x00\x0c\x86", none) + text("labels") + array("i8", "<", "K\x00\x85", none) + "u.",
	} {
		ds, err := classic.CIFAR10(fstest.MapFS{"test_batch": {Data: []byte(file)}}, classic.Test)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ds.Labels()); got != want {
			t.Errorf("labels %s, want %s", got, want)
		}
	}
}
