package volume_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/testenv"
)

// nrrdText is the header of 24 values of int16 in that encoding.
func nrrdText(encoding string) []byte {
	return []byte("NRRD0004\ntype: short\ndimension: 3\nsizes: 2 3 4\nendian: little\nencoding: " + encoding + "\n")
}

// TestBytesAfterTheValuesAreIgnored has files that ITK reads; nibabel reads the NIfTI
// ones. The exception is zeros between the members of a gzip file: for ITK they are the
// end, and nibabel ignores them.
func TestBytesAfterTheValuesAreIgnored(t *testing.T) {
	nii := nifti(1, 0, 2, 4, 3, 2)
	values := nii[352:]
	junk := []byte("junk that somebody left")
	pair := slices.Concat(nii[:348], make([]byte, 4), junk)
	pair[345] = 'i'
	binary.LittleEndian.PutUint32(pair[108:], 0)
	var text bytes.Buffer
	for i := range 24 {
		fmt.Fprint(&text, i, " ")
	}
	raw, zip := append(nrrdText("raw"), '\n'), append(nrrdText("gzip"), '\n')
	for name, fsys := range map[string]fstest.MapFS{
		"a.nii":           {"a.nii": {Data: slices.Concat(nii, junk)}},
		"a.hdr":           {"a.hdr": {Data: pair}, "a.img": {Data: slices.Concat(values, junk)}},
		"inside.nii.gz":   {"inside.nii.gz": {Data: squeezed(slices.Concat(nii, junk))}},
		"zeros.nii.gz":    {"zeros.nii.gz": {Data: slices.Concat(squeezed(nii), make([]byte, 100_000))}},
		"after.nii.gz":    {"after.nii.gz": {Data: slices.Concat(squeezed(nii), junk)}},
		"between.nii.gz":  {"between.nii.gz": {Data: slices.Concat(squeezed(nii[:370]), make([]byte, 100_000), squeezed(nii[370:]))}},
		"a.nrrd":          {"a.nrrd": {Data: slices.Concat(raw, values, junk)}},
		"detached.nhdr":   {"detached.nhdr": {Data: append(nrrdText("raw"), "data file: a.raw\n"...)}, "a.raw": {Data: slices.Concat(values, junk)}},
		"text.nrrd":       {"text.nrrd": {Data: slices.Concat(nrrdText("ascii"), []byte("\n"), text.Bytes(), []byte("77 88"))}},
		"inside.gz.nrrd":  {"inside.gz.nrrd": {Data: slices.Concat(zip, squeezed(slices.Concat(values, junk)))}},
		"zeros.gz.nrrd":   {"zeros.gz.nrrd": {Data: slices.Concat(zip, squeezed(values), make([]byte, 100_000))}},
		"after.gz.nrrd":   {"after.gz.nrrd": {Data: slices.Concat(zip, squeezed(values), junk)}},
		"members.gz.nrrd": {"members.gz.nrrd": {Data: slices.Concat(zip, squeezed(values[:20]), squeezed(values[20:]))}},
	} {
		v, err := volume.Read(fsys, name, 0)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(v.Data, values) {
			t.Errorf("%s: other values", name)
		}
		if _, err := volume.ReadHeader(fsys, name); err != nil {
			t.Error(err)
		}
	}
}

// TestDamageBeforeTheEndIsAnError has wrong checksums and missing bytes.
func TestDamageBeforeTheEndIsAnError(t *testing.T) {
	nii := nifti(1, 0, 2, 4, 3, 2)
	whole := squeezed(nii)
	sum := slices.Clone(whole)
	sum[len(sum)-8]++
	second := squeezed(nii[370:])
	for name, data := range map[string][]byte{
		"cut.nii.gz": whole[:len(whole)-1], "sum.nii.gz": sum, "sum and more.nii.gz": slices.Concat(sum, make([]byte, 100)),
		"short.nii.gz": squeezed(nii[:len(nii)-1]), "second.nii.gz": slices.Concat(squeezed(nii[:370]), second[:len(second)-9]),
	} {
		if _, err := volume.Read(fstest.MapFS{name: {Data: data}}, name, 0); err == nil {
			t.Errorf("%s is read", name)
		} else if strings.Count(err.Error(), name) != 1 {
			t.Errorf("got %v, want the file named once", err)
		}
	}
}

// TestCompressedVolumesTakeNoMoreMemoryThanTheirSize reads 64 MiB of zeros, which compress
// to a thousandth; noise whose header claims the same; and a small volume with as many
// zeros after it.
func TestCompressedVolumesTakeNoMoreMemoryThanTheirSize(t *testing.T) {
	testenv.OneGoroutine(t)
	const size = 64 << 20
	noise := make([]byte, 1<<20)
	if _, err := io.ReadFull(rand.NewChaCha8([32]byte{5}), noise); err != nil {
		t.Fatal(err)
	}
	header := "NRRD0004\ntype: uchar\ndimension: 1\nsizes: 67108864\nencoding: gzip\n"
	nii := nifti(1, 0, 2, 512, 512, 128)
	clear(nii[352:])
	bomb := squeezed(slices.Concat(nifti(1, 0, 2, 4, 3, 2), make([]byte, size)))
	bomb[len(bomb)-8]++ // its checksum is too far away to be compared
	fsys := fstest.MapFS{
		"bomb.nii.gz": {Data: bomb},
		"zeros.nrrd":  {Data: append([]byte(header+"\n"), squeezed(make([]byte, size))...)},
		"last.nrrd":   {Data: append([]byte(header+"byte skip: -1\n\n"), squeezed(make([]byte, size+1000))...)},
		"noise.nrrd":  {Data: append([]byte(header+"\n"), squeezed(noise)...)},
		"a.nii.gz":    {Data: squeezed(nii)},
	}
	for name, most := range map[string]uint64{"zeros.nrrd": size, "a.nii.gz": size, "noise.nrrd": 4 << 20, "bomb.nii.gz": 0} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := volume.Read(fsys, name, 0)
		runtime.ReadMemStats(&after)
		if (err == nil) != (name != "noise.nrrd") {
			t.Errorf("%s: got %v", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > most+4<<20 {
			t.Errorf("%s: %d MiB allocated, want at most %d", name, got>>20, (most+4<<20)>>20)
		}
	}
}
