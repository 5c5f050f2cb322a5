package transform_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
)

// counted is a file system of one file, which counts the bytes that are read.
type counted struct {
	fstest.MapFS
	read  *int
	wrong *error // of reading, or nil
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.MapFS.Open(name)
	return countedFile{f, c}, err
}

type countedFile struct {
	fs.File
	counted
}

func (f countedFile) ReadAt(p []byte, offset int64) (int, error) {
	*f.read += len(p)
	if *f.wrong != nil {
		return 0, *f.wrong
	}
	return copy(p, f.MapFS["f"].Data[offset:]), nil
}

func (f countedFile) Close() error               { return f.File.Close() }
func (f countedFile) Stat() (fs.FileInfo, error) { return f.File.Stat() }

// noise has a JPEG file and a PNG file of noise, each with a label.
func noise(t *testing.T) dataset.Dataset {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 200, 320))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = uint8(r.IntN(256)) | uint8(i%4/3*255)
	}
	var photo, lossless bytes.Buffer
	if err := errors.Join(jpeg.Encode(&photo, m, nil), png.Encode(&lossless, m)); err != nil {
		t.Fatal(err)
	}
	files := [][]byte{photo.Bytes(), lossless.Bytes()}
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}, {Name: "label", Dtype: dataset.Int64}}
	return dataset.Func(len(files), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(files[i])), files[i])
		dataset.Set(dst, 1, int64(7+i))
		return nil
	})
}

func TestLaterEpochsReadOnlyTheRowsOfACrop(t *testing.T) {
	photos := noise(t)
	packing, err := packed.Photos(photos, packed.Fast)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := packed.Write(t.Context(), &data, packing); err != nil {
		t.Fatal(err)
	}
	read, wrong := 0, error(nil)
	file, err := packed.Open(counted{fstest.MapFS{"f": {Data: data.Bytes()}}, &read, &wrong}, "f")
	if err != nil {
		t.Fatal(err)
	}
	reversed, err := dataset.Subset(file, []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	steps := []transform.Item{transform.Crop(144, 0, 20, 200), transform.PILToTensor()}
	direct, err := transform.Images(photos, steps...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		ds     dataset.Dataset
		photo  int // the index of the JPEG file
		shares [2][2]float64
	}{
		// In the first epoch all bytes are compared with their checksum; PNG files have no parts.
		{"file", file, 0, [2][2]float64{{1, 0.25}, {1, 1}}},
		{"subset", reversed, 1, [2][2]float64{{0.25, 0.25}, {1, 1}}},
	} {
		x, err := transform.Images(c.ds, steps...)
		if err != nil {
			t.Fatal(err)
		}
		r, slot := datatest.Open(t, x), dataset.NewSlot(x.Spec()...)
		for epoch := range 2 {
			for i := range 2 {
				read = 0
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Fatal(err)
				}
				of := 0 // the photo
				if i != c.photo {
					of = 1
				}
				want := datatest.Sample(t, direct, of)
				if !slices.Equal(dataset.Row[uint8](slot, 0), dataset.ValuesOf[uint8](want["image"])) || dataset.Row[int64](slot, 1)[0] != int64(7+of) {
					t.Errorf("%s, epoch %d: sample %d differs", c.name, epoch, i)
				}
				size := len(dataset.ValuesOf[uint8](datatest.Sample(t, packing, of)["image"]))
				if got, most := float64(read)/float64(size), c.shares[of][epoch]; got > most+0.01 || got < most/2 {
					t.Errorf("%s, epoch %d: sample %d reads %.2f of its %d bytes, want %.2f", c.name, epoch, i, got, size, most)
				}
			}
		}
		if n := allocs.PerRun(0, 20, func() {
			if err := r.Place(t.Context(), c.photo, slot); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations for a photo", c.name, n)
		}
	}

	x, err := transform.Images(file, steps...)
	if err != nil {
		t.Fatal(err)
	}
	photo := data.Bytes()[:len(dataset.ValuesOf[uint8](datatest.Sample(t, packing, 0)["image"]))]
	photo[len(photo)/8] ^= 1 // among the first rows, which the crop does not need
	if _, err := dataset.At(t.Context(), x, 0); err != nil {
		t.Errorf("damage in other rows: %v", err)
	}
	photo[len(photo)/2] ^= 1
	if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), "transform: decode: packed photo: photo: MCU row ") {
		t.Errorf("damage: error %v", err)
	}
	wrong = errors.New("the disk is gone")
	if _, err := dataset.At(t.Context(), x, 0); !errors.Is(err, wrong) {
		t.Errorf("error %v, want %v", err, wrong)
	}
}

// inMemory is a dataset of one file, whose Reader leaves the file out and gives a bytes.Reader of it.
type inMemory []byte

func (m inMemory) Len() int                      { return 1 }
func (m inMemory) Open() (dataset.Reader, error) { return m, nil }
func (m inMemory) Close() error                  { return nil }

func (m inMemory) Spec() dataset.Spec {
	return dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}}
}

func (m inMemory) Place(_ context.Context, _ int, dst dataset.Slot) error {
	copy(dataset.Grow[uint8](dst, 0, len(m)), m)
	return nil
}

func (m inMemory) PlaceParts(context.Context, int, int, dataset.Slot) (int, io.ReaderAt, error) {
	return len(m), bytes.NewReader(m), nil
}

// An io.ReaderAt may say io.EOF where it reads up to the end, and a bytes.Reader does so of nothing at the end.
func TestPartsMayEndWithTheFile(t *testing.T) {
	file, err := os.ReadFile("testdata/rgb.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, padding := range []int{0, 10_000} { // less and more than is read first
		file := inMemory(append(slices.Clone(file), make([]byte, padding)...))
		for name, ds := range map[string]dataset.Dataset{"a bytes.Reader": file, "io.EOF with the last byte": eofAtOnce{file}} {
			x, err := transform.Images(ds, transform.CenterCrop(8), transform.PILToTensor())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := dataset.At(t.Context(), x, 0); err != nil {
				t.Errorf("%s, %d bytes: %v", name, len(file), err)
			}
		}
	}
}

// eofAtOnce says io.EOF together with the last byte.
type eofAtOnce struct{ inMemory }

func (m eofAtOnce) Open() (dataset.Reader, error) { return m, nil }

func (m eofAtOnce) PlaceParts(context.Context, int, int, dataset.Slot) (int, io.ReaderAt, error) {
	return len(m.inMemory), m, nil
}

func (m eofAtOnce) ReadAt(p []byte, offset int64) (int, error) {
	n := copy(p, m.inMemory[offset:])
	if int(offset)+n == len(m.inMemory) {
		return n, io.EOF
	}
	return n, nil
}
