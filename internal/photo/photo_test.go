package photo_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/blockcode"
	"github.com/penstock-go/penstock/internal/jpeg"
	"github.com/penstock-go/penstock/internal/photo"
)

const shared = "../../../shared"

var levels = map[string]blockcode.Level{"fast": blockcode.Fast, "small": blockcode.Small}

// A picture is a JPEG file.
type picture struct {
	name string
	data []byte
}

// testImages are the synthetic images of package jpeg, in all samplings and modes, with
// what is wrong with some.
func testImages(tb testing.TB) []picture {
	archive, err := zip.OpenReader("../jpeg/testdata/images.zip")
	if err != nil {
		tb.Fatal(err)
	}
	defer archive.Close()
	var set []picture
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, ".jpg") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		set = append(set, picture{f.Name, data})
	}
	return set
}

// sharedPhotos are the shared photos, one in twenty in short tests.
func sharedPhotos(tb testing.TB) []picture {
	paths, err := filepath.Glob(filepath.Join(shared, "photos", "*", "*.JPEG"))
	if err != nil || len(paths) == 0 {
		tb.Skip("shared photos are missing")
	}
	var set []picture
	for i, path := range paths {
		if testing.Short() && i%20 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		set = append(set, picture{filepath.Base(path), data})
	}
	return set
}

func newDecoder() *photo.Decoder { return &photo.Decoder{JPEG: new(jpeg.Decoder)} }

func pack(tb testing.TB, data []byte, level blockcode.Level) []byte {
	tb.Helper()
	var p photo.Packer
	record, err := p.Pack(nil, data, level)
	if err != nil {
		tb.Fatal(err)
	}
	return record
}

// whole decodes all of an image.
func whole(d interface {
	Header(data []byte) (jpeg.Config, error)
	Decode(dst []byte, stride int, window image.Rectangle) error
}, data []byte) (c jpeg.Config, pixels []byte, err error) {
	if c, err = d.Header(data); err != nil {
		return c, nil, err
	}
	pixels = make([]byte, 4*c.Width*c.Height)
	return c, pixels, d.Decode(pixels, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
}

// crop is a window of an image with these pixels.
func crop(c jpeg.Config, pixels []byte, w image.Rectangle) []byte {
	var part []byte
	for y := w.Min.Y; y < w.Max.Y; y++ {
		part = append(part, pixels[4*(y*c.Width+w.Min.X):4*(y*c.Width+w.Max.X)]...)
	}
	return part
}

// sameAsFile compares a record with its file: the header, all pixels, and some windows.
func sameAsFile(t *testing.T, from *jpeg.Decoder, to *photo.Decoder, p picture, record []byte) {
	t.Helper()
	want, pixels, err := whole(from, p.data)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	got, again, err := whole(to, record)
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
		return
	}
	if got.Width != want.Width || got.Height != want.Height || got.Model != want.Model || got.Orientation != want.Orientation {
		t.Errorf("%s: header %+v, want %+v", p.name, got, want)
	}
	if !bytes.Equal(again, pixels) {
		t.Errorf("%s: %+v: other pixels than the file's", p.name, got)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(record))))
	for range 3 {
		x, y := r.IntN(want.Width), r.IntN(want.Height)
		w := image.Rect(x, y, x+1+r.IntN(want.Width-x), y+1+r.IntN(want.Height-y))
		part := make([]byte, 4*w.Dx()*w.Dy())
		if err := to.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(want, pixels, w)) {
			t.Errorf("%s: window %v differs: %v", p.name, w, err)
		}
	}
}

func TestRecordsHaveTheFilesPixels(t *testing.T) {
	for name, level := range levels {
		t.Run(name, func(t *testing.T) {
			from, to, packer := new(jpeg.Decoder), newDecoder(), new(photo.Packer)
			packed := 0
			for _, p := range testImages(t) {
				c, _, wrong := whole(from, p.data)
				record, err := packer.Pack(nil, p.data, level)
				if err != nil {
					if wrong == nil && !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%s: %v", p.name, err)
					}
					continue
				}
				if wrong != nil || c.Components == 4 {
					t.Errorf("%s was packed, though it has %d components and decodes with %v", p.name, c.Components, wrong)
					continue
				}
				sameAsFile(t, from, to, p, record)
				packed++
			}
			if packed < 90 {
				t.Errorf("%d images were packed", packed)
			}
		})
	}
}

func TestAllSharedPhotosHaveTheirPixels(t *testing.T) {
	photos := sharedPhotos(t)
	for name, level := range levels {
		t.Run(name, func(t *testing.T) {
			from, to, packer := new(jpeg.Decoder), newDecoder(), new(photo.Packer)
			bytes, files := 0, 0
			for _, p := range photos {
				record, err := packer.Pack(nil, p.data, level)
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
					continue
				}
				sameAsFile(t, from, to, p, record)
				bytes, files = bytes+len(record), files+len(p.data)
			}
			most := map[blockcode.Level]float64{blockcode.Fast: 1.33, blockcode.Small: 1.05}[level]
			if ratio := float64(bytes) / float64(files); ratio > most {
				t.Errorf("the records of %d photos have %.3f times the bytes of their files, want at most %.2f", len(photos), ratio, most)
			}
		})
	}
}

func TestWindowReadsOnlyItsRows(t *testing.T) {
	data := find(t, testImages(t), "progressive-restart-2x2-40x70-q75.jpg")
	for name, level := range levels {
		record := pack(t, data, level)
		d := newDecoder()
		c, pixels, err := whole(d, record)
		if err != nil {
			t.Fatal(err)
		}
		w := image.Rect(0, c.Height/2, c.Width, c.Height/2+1)
		from, to := rowsOf(t, record, w)
		for i := range record { // everything between the header and the rows, and after them, is damaged
			if i >= headerSize(record) && (i < from || i >= to) {
				record[i] ^= 0xff
			}
		}
		part := make([]byte, 4*w.Dx())
		if _, err := d.Header(record); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(c, pixels, w)) {
			t.Errorf("%s: a row of pixels reads more than its rows: %v", name, err)
		}
		want := fmt.Sprintf("photo: MCU row 0 at byte %d: damaged: its CRC-32C is ", headerSize(record))
		if err := d.Decode(part, 4*w.Dx(), image.Rect(0, 0, 1, 1)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: damaged row: got %v, want %s…", name, err, want)
		}
	}
}

func find(tb testing.TB, set []picture, name string) []byte {
	for _, p := range set {
		if p.name == name {
			return p.data
		}
	}
	tb.Fatalf("no image %s in the set", name)
	return nil
}

// An index is what docs/packed-photos.md says of a record's rows.
type index struct {
	header     int // bytes
	components int
	rows       int // of MCUs
	high       int // a row of MCUs, in pixels
}

func indexOf(record []byte) index {
	x := index{components: 1, high: 8}
	if record[10] > 0 {
		x.components = 3
	}
	for i := range x.components {
		x.high = max(x.high, 8*int(record[18+2*i]&15))
	}
	x.rows = (int(binary.LittleEndian.Uint16(record[14:])) + x.high - 1) / x.high
	x.header = 24 + 128*int(record[16]) + x.rows*4*(x.components+1) + 4
	return x
}

func headerSize(record []byte) int { return indexOf(record).header }

// rowsOf are the bytes of the rows of MCUs that a window with all columns needs, and the
// pixels above and below it.
func rowsOf(tb testing.TB, record []byte, w image.Rectangle) (from, to int) {
	x := indexOf(record)
	at := x.header
	entry := record[at-4-x.rows*4*(x.components+1):]
	for row := range x.rows {
		if row == (w.Min.Y-1)/x.high {
			from = at
		}
		for i := range x.components {
			at += int(binary.LittleEndian.Uint32(entry[4*i:]))
		}
		entry = entry[4*(x.components+1):]
		if row == w.Max.Y/x.high {
			return from, at
		}
	}
	tb.Fatal("the record ends before the window")
	return 0, 0
}

// sealRows computes the checksums of a record's rows anew, up to one that exceeds it, and
// then that of the header.
func sealRows(record []byte) {
	x := indexOf(record)
	if x.header > len(record) {
		return
	}
	at := x.header
	for entry := record[at-4-x.rows*4*(x.components+1) : at-4]; len(entry) > 0; entry = entry[4*(x.components+1):] {
		from := at
		for i := range x.components {
			at += int(binary.LittleEndian.Uint32(entry[4*i:]))
		}
		if at > len(record) {
			break
		}
		binary.LittleEndian.PutUint32(entry[4*x.components:], crc32.Checksum(record[from:at], crc32.MakeTable(crc32.Castagnoli)))
	}
	seal(record)
}

// seal computes the checksum of a record's header anew.
func seal(record []byte) {
	end := headerSize(record)
	if end > len(record) {
		return
	}
	sum := crc32.Checksum(record[:end-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(record[end-4:], sum)
}

func TestDamagedRecordIsAnErrorOrHasItsPixels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	images := testImages(t)
	rounds := 20000
	if testing.Short() {
		rounds = 1000
	}
	d, packer := newDecoder(), new(photo.Packer)
	d.JPEG.MaxPixels = 1 << 20
	type packed struct{ record, pixels []byte }
	var records []packed
	for i, p := range images {
		record, err := packer.Pack(nil, p.data, levels[[]string{"fast", "small"}[i%2]])
		if err != nil {
			continue
		}
		_, pixels, err := whole(d, record)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, packed{record, pixels})
	}
	refused, sealed := 0, 0
	for range rounds {
		from, other := records[r.IntN(len(records))], records[r.IntN(len(records))]
		data := bytes.Clone(from.record)
		resealed := false
		switch r.IntN(8) {
		case 0: // flips bits
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
		case 1: // cuts the end
			data = data[:r.IntN(len(data))]
		case 2: // takes the rows of another photo
			at, at2 := headerSize(data), headerSize(other.record)
			copy(data[at:], other.record[at2:])
		case 3: // goes on as another record
			data = append(data[:r.IntN(len(data))], other.record[r.IntN(len(other.record)):]...)
		case 4: // exchanges parts of itself
			a, b, n := r.IntN(len(data)), r.IntN(len(data)), r.IntN(50)
			part := bytes.Clone(data[a:min(a+n, len(data))])
			copy(data[a:min(a+n, len(data))], data[b:])
			copy(data[b:], part)
		case 5: // says something else in the header, with its right checksum
			size := headerSize(data)
			for range 1 + r.IntN(2) {
				data[8+r.IntN(size-8)] = []byte{0, 1, 2, 3, 17, 18, 33, 34, 65, 128, 255, byte(r.Uint32())}[r.IntN(12)]
			}
			seal(data)
			resealed = true
		default: // has other codes, with their right checksums
			at := headerSize(data)
			for range 1 + r.IntN(3) {
				data[at+r.IntN(len(data)-at)] ^= 1 << r.IntN(8)
			}
			sealRows(data)
			resealed = true
		}
		if bytes.Equal(data, other.record) { // it goes on after bytes that both have
			from = other
		}
		_, pixels, err := whole(d, data)
		switch {
		case err != nil:
			refused++
			if !strings.HasPrefix(err.Error(), "photo: ") {
				t.Fatalf("error %q does not say whose it is", err)
			}
		case resealed:
			sealed++
		case !bytes.Equal(pixels, from.pixels):
			t.Fatal("a damaged record has other pixels")
		}
	}
	if refused < rounds/3 || sealed == 0 {
		t.Errorf("%d of %d records are errors, %d have other headers", refused, rounds, sealed)
	}
}

func TestHostileHeaderTakesNoMemory(t *testing.T) {
	record := pack(t, find(t, testImages(t), "sample.jpg"), blockcode.Fast)
	binary.LittleEndian.PutUint16(record[12:], 65500) // the width; the rows stay
	seal(record)
	d := newDecoder()
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Header(record); err == nil || !strings.Contains(err.Error(), "blocks in") {
				t.Fatalf("error %v, want one about a row's length", err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<16 {
		t.Errorf("%d bytes for the header of a record of %d", allocated, len(record))
	}
}

func TestDecodingAllocatesNothing(t *testing.T) {
	record := pack(t, find(t, testImages(t), "sample.jpg"), blockcode.Fast)
	d := newDecoder()
	c, err := d.Header(record)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 4*c.Width*c.Height)
	if n := allocs.PerRun(0, 20, func() {
		if _, err := d.Header(record); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height)); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a photo", n)
	}
}

// noting is a record in storage, which notes what is read.
type noting struct {
	record []byte
	read   [][2]int
	wrong  error
}

func (n *noting) ReadPart(to []byte, offset int) error {
	n.read = append(n.read, [2]int{offset, offset + len(to)})
	copy(to, n.record[offset:])
	return n.wrong
}

func TestPartsAreReadAsWindowsNeedThem(t *testing.T) {
	data := find(t, testImages(t), "progressive-restart-2x2-40x70-q75.jpg")
	for name, level := range levels {
		record := pack(t, data, level)
		c, pixels, err := whole(newDecoder(), record)
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []int{0, 10, 24, 100, headerSize(record), headerSize(record) + 50, len(record)} {
			d, storage := newDecoder(), &noting{record: record}
			room := bytes.Repeat([]byte{0xa5}, len(record))
			copy(room, record[:first])
			if _, err := d.HeaderOf(room, first, storage); err != nil {
				t.Fatal(err)
			}
			for _, w := range []image.Rectangle{image.Rect(3, 35, 9, 36), image.Rect(0, 40, 5, 41), image.Rect(0, 0, 1, 1), image.Rect(0, 0, c.Width, c.Height)} {
				storage.read = nil
				part := make([]byte, 4*w.Dx()*w.Dy())
				if err := d.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(c, pixels, w)) {
					t.Fatalf("%s: window %v after %d bytes differs: %v", name, w, first, err)
				}
				if w.Dy() > 1 || w.Min.Y == 0 {
					continue
				}
				from, to := rowsOf(t, record, w)
				want := fmt.Sprint([][2]int{{max(from, first), to}})
				if w.Min.Y == 40 || first == len(record) { // the rows of the first window, or all, are there
					want = "[]"
				}
				if got := fmt.Sprint(storage.read); got != want {
					t.Errorf("%s: window %v after %d bytes reads %s, want %s", name, w, first, got, want)
				}
			}
		}
		storage := &noting{record: record, wrong: io.ErrClosedPipe}
		if _, err := newDecoder().HeaderOf(make([]byte, len(record)), 0, storage); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: header: error %v", name, err)
		}
		d := newDecoder()
		if _, err := d.HeaderOf(bytes.Clone(record), headerSize(record), storage); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: rows: error %v", name, err)
		}
	}
}
