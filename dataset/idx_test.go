package dataset_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// idxFile is a file of that type and shape, with values big-endian.
func idxFile(code byte, shape []int, values any) []byte {
	b := []byte{0, 0, code, byte(len(shape))}
	for _, d := range shape {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	b, err := binary.Append(b, binary.BigEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func TestIDXReadsEveryType(t *testing.T) {
	for _, c := range []struct {
		code   byte
		values any
	}{
		{0x08, [][3]uint8{{1, 2, 3}, {4, 5, 255}}},
		{0x09, [][3]int8{{1, -2, 3}, {4, 5, -128}}},
		{0x0b, [][3]int16{{1, -2, 3}, {4, 0x1234, -32768}}},
		{0x0c, [][3]int32{{1, -2, 3}, {4, 0x12345678, math.MinInt32}}},
		{0x0d, [][3]float32{{1, -2.5, 3}, {4, 5e10, -1e-40}}},
		{0x0e, [][3]float64{{1, -2.5, 3}, {4, 5e100, -1e-310}}},
	} {
		want := tensors(t, dataset.Named("x", c.values))
		plain := idxFile(c.code, []int{2, 3}, c.values)
		for name, data := range map[string][]byte{"plain": plain, "gzip": zipped(plain)} {
			for _, limit := range []dataset.MemoryLimit{1, 1 << 20} {
				got, err := dataset.IDX(fstest.MapFS{"x": {Data: data}}, "x", "x", limit)
				if limit == 1 && name == "gzip" {
					if err == nil || !strings.Contains(err.Error(), "because they are compressed, MemoryLimit leaves 1") {
						t.Errorf("error %v, want one of the limit", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				sameSamples(t, got, want)
			}
		}
		var written bytes.Buffer
		if err := dataset.WriteIDX(t.Context(), &written, want, "x"); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written.Bytes(), plain) {
			t.Errorf("type %#x: wrote % x, want % x", c.code, written.Bytes(), plain)
		}
	}
}

func TestIDXReadsEveryRank(t *testing.T) {
	for shape, want := range map[string]string{
		"4":                             "x uint8 ()",
		"2 2":                           "x uint8 (2)",
		"1 2 1 2":                       "x uint8 (2, 1, 2)",
		"4" + strings.Repeat(" 1", 254): "x uint8 (" + strings.Repeat("1, ", 253) + "1)",
		"0 5 5":                         "x uint8 (5, 5)",
	} {
		var dims []int
		n := 1
		for _, text := range strings.Fields(shape) {
			d := int(text[0] - '0')
			dims = append(dims, d)
			n *= d
		}
		ds, err := dataset.IDX(fstest.MapFS{"x": {Data: idxFile(8, dims, make([]byte, n))}}, "x", "x")
		if err != nil {
			t.Fatal(err)
		}
		if got := ds.Spec().String(); got != want || ds.Len() != dims[0] {
			t.Errorf("%d samples of %s, want %d of %s", ds.Len(), got, dims[0], want)
		}
	}
}

func TestIDXSaysWhatIsWrong(t *testing.T) {
	good := idxFile(0x0c, []int{2, 2}, []int32{1, 2, 3, 4})
	broken := zipped(good)
	broken[len(broken)-8] ^= 1 // the checksum
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, "byte 0: unexpected EOF"},
		{good[:7], "byte 7: unexpected EOF"},
		{[]byte{0, 1, 8, 1}, "byte 0: magic number 00 01 08 01, want 00 00, the type and the rank"},
		{[]byte{0, 0, 10, 1}, "byte 2: type 0x0a, want 0x08, 0x09 or 0x0b to 0x0e"},
		{[]byte{0, 0, 8, 0}, "byte 3: rank 0, want a first dimension that counts the samples"},
		{idxFile(8, []int{1, -2}, []byte{}), "byte 8: dimension 1 is -2, below 0"},
		{idxFile(8, []int{1, 0}, []byte{}), "dataset: spec: field \"x\": shape [0] has a dimension below 1"},
		{idxFile(8, []int{1, 1 << 30, 1 << 30}, []byte{}), "dataset: spec: field \"x\": shape [1073741824 1073741824] is larger than 1 TiB"},
		{idxFile(14, []int{math.MaxInt32, 1 << 30}, []byte{}), "shape [2147483647 1073741824] is larger than any file"},
		{idxFile(8, []int{math.MaxInt32, 1 << 30}, []byte{}), "header promises 2305843008139952128 bytes of data from byte 12, the file has 0: unexpected EOF"},
		{good[:27], "header promises 16 bytes of data from byte 12, the file has 15: unexpected EOF"},
		{append(slices.Clone(good), 0), "1 bytes after the data, which ends at byte 28"},
		{zipped(good[:27]), "byte 27 of the decompressed data: unexpected EOF"},
		{zipped(append(slices.Clone(good), 0)), "more data after byte 28, where the header lets it end"},
		{zipped(good)[:30], "byte 28 of the decompressed data: unexpected EOF"},
		{broken, "byte 28 of the decompressed data: gzip: invalid checksum"},
		{zipped(idxFile(8, []int{1 << 30}, []byte{})), "header promises 1073741824 bytes of data, more than 32 compressed ones can hold"},
	} {
		_, err := dataset.IDX(fstest.MapFS{"x": {Data: c.data}}, "x", "x")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, "dataset: read x: ") || !strings.Contains(got, c.want) {
			t.Errorf("% x\ngot  %s\nwant %s", c.data[:min(len(c.data), 30)], got, c.want)
		}
	}
	_, err := dataset.IDX(fstest.MapFS{"x": {Data: good}}, "x", "x", dataset.MemoryLimit(0))
	if got, want := fmt.Sprint(err), "dataset: MemoryLimit(0): want 1 or more"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAFileThatShrinksIsAnError cuts a file short after it was opened.
func TestAFileThatShrinksIsAnError(t *testing.T) {
	file := &fstest.MapFile{Data: idxFile(0x0c, []int{2, 2}, []int32{1, 2, 3, 4})}
	ds, err := dataset.IDX(fstest.MapFS{"x": file}, "x", "x", dataset.MemoryLimit(1))
	if err != nil {
		t.Fatal(err)
	}
	file.Data = file.Data[:25]
	_, err = dataset.At(t.Context(), ds, 1)
	if got, want := fmt.Sprint(err), "dataset: read x: file ended at byte 25, want 28: unexpected EOF"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func mnistFiles(prefix, images, labels string) fstest.MapFS {
	return fstest.MapFS{
		prefix + images: {Data: idxFile(8, []int{3, 2, 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
		prefix + labels: {Data: idxFile(8, []int{3}, []byte{7, 0, 255})},
	}
}

func TestMNISTFindsItsFiles(t *testing.T) {
	for _, c := range []struct {
		part           dataset.Part
		prefix         string
		images, labels string
		zip            bool
	}{
		{dataset.Train, "", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", false},
		{dataset.Train, "", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", true},
		{dataset.Train, "", "train-images.idx3-ubyte", "train-labels.idx1-ubyte.gz", false},
		{dataset.Test, "", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", true},
		{dataset.Test, "emnist-letters-", "emnist-letters-test-images-idx3-ubyte.gz", "emnist-letters-test-labels-idx1-ubyte.gz", true},
	} {
		fsys := mnistFiles("", c.images, c.labels)
		if c.zip {
			for _, f := range fsys {
				f.Data = zipped(f.Data)
			}
		}
		ds, err := dataset.MNIST(fsys, c.part, dataset.Prefix(c.prefix))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := ds.Spec().String(), "image uint8 (1, 2, 2), label int64 ()"; got != want {
			t.Errorf("spec %s, want %s", got, want)
		}
		s := sample(t, ds, 1)
		if got, want := s["image"].Data().([]uint8), []byte{5, 6, 7, 8}; !bytes.Equal(got, want) || s["label"].Data() != int64(0) {
			t.Errorf("%v with label %v, want %v with 0", got, s["label"].Data(), want)
		}
		if got, want := ds.Labels(), []int{7, 0, 255}; !slices.Equal(got, want) {
			t.Errorf("labels %v, want %v", got, want)
		}
		if got, want := ds.Name(2), c.images+", picture 2"; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
}

func TestMNISTSaysWhatIsWrong(t *testing.T) {
	const x, y = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	with := func(name string, data []byte) fstest.MapFS {
		fsys := mnistFiles("", x, y)
		fsys[name] = &fstest.MapFile{Data: data}
		return fsys
	}
	for _, c := range []struct {
		fsys fstest.MapFS
		want string
	}{
		{fstest.MapFS{}, "dataset: MNIST: none of the files train-images-idx3-ubyte, train-images-idx3-ubyte.gz, train-images.idx3-ubyte, train-images.idx3-ubyte.gz: file does not exist"},
		{with(x, idxFile(8, []int{2, 2, 2}, make([]byte, 8))), "dataset: train-images-idx3-ubyte has 2 pictures, train-labels-idx1-ubyte has 3 labels"},
		{with(x, idxFile(9, []int{3, 2, 2}, make([]byte, 12))), "dataset: read train-images-idx3-ubyte: samples are image int8 (2, 2), want uint8 of two dimensions"},
		{with(y, idxFile(8, []int{3, 2}, make([]byte, 6))), "dataset: read train-labels-idx1-ubyte: samples are label uint8 (2), want a number each"},
		{with(y, idxFile(13, []int{3}, make([]float32, 3))), "dataset: read train-labels-idx1-ubyte: labels of kind float32, want whole numbers"},
		{with(y, idxFile(8, []int{3}, make([]byte, 2))), "dataset: read train-labels-idx1-ubyte: header promises 3 bytes of data from byte 8, the file has 2: unexpected EOF"},
	} {
		_, err := dataset.MNIST(c.fsys, dataset.Train)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	_, err := dataset.MNIST(mnistFiles("", x, y), dataset.Train, dataset.MemoryLimit(13))
	if got, want := fmt.Sprint(err), "dataset: read "+y+": 3 bytes of samples to be held in memory, MemoryLimit leaves 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriteMNISTWritesWhatMNISTReads(t *testing.T) {
	const x, y = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	want := mnistFiles("", x, y)
	ds, err := dataset.MNIST(want, dataset.Train)
	if err != nil {
		t.Fatal(err)
	}
	var images, labels bytes.Buffer
	if err := dataset.WriteMNIST(t.Context(), &images, &labels, ds); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(images.Bytes(), want[x].Data) || !bytes.Equal(labels.Bytes(), want[y].Data) {
		t.Errorf("wrote % x and % x", images.Bytes(), labels.Bytes())
	}
}

func TestWriteIDXRefusesOtherKinds(t *testing.T) {
	gray := dataset.Named("image", tensor.New(tensor.WithShape(1, 1, 2, 2), tensor.WithBacking(make([]uint8, 4))))
	out := new(bytes.Buffer)
	for got, want := range map[error]string{
		dataset.WriteIDX(t.Context(), out, tensors(t, dataset.Named("x", []int64{1})), "x"):               "dataset: field x int64 (): want uint8, int8, int16, int32, float32 or float64",
		dataset.WriteMNIST(t.Context(), out, out, tensors(t, gray, dataset.Named("label", []int64{256}))): "dataset: write sample 0: label 256, want 0 to 255",
		dataset.WriteMNIST(t.Context(), out, out, tensors(t, dataset.Named("image", [][2]uint8{{}}))):     "dataset: field image uint8 (2): want uint8 (1, h, w) or (h, w)",
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(idxFile(8, []int{2, 2}, []byte{1, 2, 3, 4}))
	f.Add(idxFile(0x0c, []int{2}, []int32{1, 2}))
	f.Add(zipped(idxFile(0x0d, []int{1, 2}, []float32{1, 2})))
	f.Fuzz(func(t *testing.T, data []byte) {
		ds, err := dataset.IDX(fstest.MapFS{"x": {Data: data}}, "x", "x", dataset.MemoryLimit(1<<20))
		if err != nil || ds.Len() == 0 {
			return
		}
		var again bytes.Buffer
		if err := dataset.WriteIDX(t.Context(), &again, ds, "x"); err != nil {
			t.Fatal(err)
		}
		if data[0] == 0 && !bytes.Equal(again.Bytes(), data) {
			t.Error("differs after reading and writing")
		}
	})
}
