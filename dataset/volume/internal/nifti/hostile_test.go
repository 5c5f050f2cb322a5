package nifti_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestBadFilesAreRefusedWithTheirReason(t *testing.T) {
	testenv.OneGoroutine(t)
	le := binary.LittleEndian
	short := func(at, v int) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint16(b[at:], uint16(v)); return b }
	}
	long := func(at int, v int64) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint64(b[at:], uint64(v)); return b }
	}
	real := func(at int, v float64) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[at:], math.Float32bits(float32(v))); return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
	for _, c := range []struct {
		name, want string
		v          int
		edit       func([]byte) []byte
	}{
		{"empty", "byte 0: sizeof_hdr: unexpected EOF", 1, cut(0)},
		{"cut in the header", "byte 347: the header has 348 bytes: unexpected EOF", 1, cut(347)},
		{"cut in the flag", "data: byte 0: 352 bytes before the values: unexpected EOF", 1, cut(350)},
		{"cut in the data", "the data end after 47 of 48 bytes", 1, cut(352 + 47)},
		{"another format", "not a NIfTI header", 1, short(0, 349)},
		{"Analyze", "an Analyze 7.5 file", 1, func(b []byte) []byte { clear(b[344:348]); return b }},
		{"other magic", `magic: "n+3\x00" is not NIfTI's`, 1, func(b []byte) []byte { b[346] = '3'; return b }},
		{"other magic 2", `magic: "n+2\x00\n\n\x1a\n" is not NIfTI's`, 2, func(b []byte) []byte { b[8] = '\n'; return b }},
		{"no axes", "dim[0]: 0 axes, want 1 to 7", 1, short(40, 0)},
		{"8 axes", "dim[0]: 8 axes, want 1 to 7", 1, short(40, 8)},
		{"negative axes", "dim[0]: -1 axes, want 1 to 7", 2, long(16, -1)},
		{"size 0", "dim[1]: 0 samples, want 1 to ", 1, short(42, 0)},
		{"negative size", "dim[2]: -5 samples, want 1 to ", 2, long(32, -5)},
		{"product beyond 64 bits", datatest.OfInt("more than memory can hold", "want 1 to 2147483647"), 2, func(b []byte) []byte {
			return long(24, 1<<40)(long(32, 1<<40)(b))
		}},
		{"terabytes", datatest.OfInt("the data end after 48 of", "want 1 to 2147483647"), 2, long(40, 1<<40)},
		{"binary", "datatype: 1 is not read", 1, short(70, 1)},
		{"float128", "datatype: 1536 is not read", 1, short(70, 1536)},
		{"complex256", "datatype: 2048 is not read", 2, short(12, 2048)},
		{"unknown datatype", "datatype: 3 is not read", 1, short(70, 3)},
		{"wrong bitpix", "bitpix: 8, but datatype 4 has 16", 1, short(72, 8)},
		{"offset in the header", "vox_offset: 351 is in the header, want at least 352", 1, real(108, 351)},
		{"offset of half a byte", "vox_offset: 352.5 is not an offset", 1, real(108, 352.5)},
		{"offset not a number", "vox_offset: NaN is not an offset", 1, real(108, math.NaN())},
		{"offset infinite", "vox_offset: +Inf is not an offset", 1, real(108, math.Inf(1))},
		{"negative offset", "vox_offset: -352 is not an offset", 1, real(108, -352)},
		{"negative offset 2", "vox_offset: -1 is not an offset in a file", 2, long(168, -1)},
		{"offset beyond the end", "data: byte 0: 1000000 bytes before the values: unexpected EOF", 1, real(108, 1e6)},
		{"extensions of terabytes", "data: byte 0: 1099511627776 bytes before the values: unexpected EOF", 2, func(b []byte) []byte {
			b[540] = 1
			return long(168, 1<<40)(b)
		}},
		{"extensions beyond the end", "data: byte 0: 67108864 bytes before the values: unexpected EOF", 2, func(b []byte) []byte {
			b[540] = 1
			return long(168, 1<<26)(b)
		}},
		{"bomb of extensions", "data: byte 10: decompress: damaged or hostile: more work than 65395 bytes of input may take", 1, func(b []byte) []byte {
			b[348] = 1
			return zipped(append(real(108, 1<<31)(b), make([]byte, 64<<20)...))
		}},
		{"vox_offset of many bytes", "decompress: damaged or hostile: more work than", 1, func(b []byte) []byte {
			return zipped(append(real(108, 1<<31)(b), make([]byte, 64<<20)...))
		}},
		{"a pair's header", "the header of a pair, but the file is not named .hdr", 1, func(b []byte) []byte { b[345] = 'i'; return b }},
		{"zip of nothing", "gzip: unexpected EOF", 1, func([]byte) []byte { return []byte{0x1f, 0x8b} }},
		{"zip cut", "unexpected EOF", 1, func(b []byte) []byte { z := zipped(b); return z[:len(z)-1] }},
		{"zip of another sum", "invalid checksum", 1, func(b []byte) []byte { z := zipped(b); z[len(z)-8]++; return z }},
		{"zip cut in the header", "byte 100: the header has 348 bytes: unexpected EOF", 1, func(b []byte) []byte { return zipped(b[:100]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := c.edit(good(t, c.v))
			fsys := fstest.MapFS{"a/f.nii": {Data: file}}
			var err error
			hostile.Bounded(t, len(file), 0, func() { _, _, err = read(fsys, "a/f.nii", 0) })
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); strings.Contains(got, "a/f.nii") || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant … %s, without a/f.nii, which the caller names", got, c.want)
			}
		})
	}
}

// good is a valid file of this version, with 4×3×2 voxels of int16.
func good(t *testing.T, version int) []byte {
	b, err := os.ReadFile("testdata/files/bare.nii")
	if err != nil {
		t.Fatal(err)
	}
	if version == 1 {
		return b
	}
	le := binary.LittleEndian
	b2 := make([]byte, 544, 544+48)
	le.PutUint32(b2, 540)
	copy(b2[4:], "n+2\x00\r\n\x1a\n")
	le.PutUint16(b2[12:], 4)
	for i, v := range []uint64{3, 4, 3, 2} {
		le.PutUint64(b2[16+8*i:], v)
	}
	le.PutUint64(b2[168:], 544)
	b2 = append(b2, b[352:]...)
	if _, _, err := read(fstest.MapFS{"f": {Data: b2}}, "f", 0); err != nil {
		t.Fatal(err)
	}
	return b2
}

func zipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

func TestEitherFileOfAPairMayBeNamedAndZipped(t *testing.T) {
	header := good(t, 1)
	header[345] = 'i'
	binary.LittleEndian.PutUint32(header[108:], 0)
	header, data := header[:348], header[352:]
	for _, fsys := range []fstest.MapFS{
		{"x.hdr": {Data: header}, "x.img": {Data: data}},
		{"x.hdr": {Data: header}, "x.img.gz": {Data: zipped(data)}},
		{"x.hdr.gz": {Data: zipped(header)}, "x.img": {Data: data}},
		{"x.hdr.gz": {Data: zipped(header)}, "x.img.gz": {Data: zipped(data)}},
		{"X.HDR": {Data: header}, "X.IMG": {Data: data}},
		{"X.HDR.GZ": {Data: zipped(header)}, "X.IMG.GZ": {Data: zipped(data)}},
	} {
		for name := range fsys {
			_, got, err := read(fsys, name, 48)
			if err != nil {
				t.Error(err)
			} else if !bytes.Equal(got, data) {
				t.Errorf("%s of %v: other data", name, fsys)
			}
		}
	}
}

func TestIncompletePairsAreRefused(t *testing.T) {
	header := good(t, 1)
	header[345] = 'i'
	binary.LittleEndian.PutUint32(header[108:], 0)
	header, data := header[:348], header[352:]
	wrongSum := zipped(header)
	wrongSum[len(wrongSum)-8]++
	for _, c := range []struct {
		want  string
		limit int64
		files fstest.MapFS
	}{
		{"x.img: file does not exist", 0, fstest.MapFS{"x.hdr": {Data: header}}},
		{"x.img: byte 47: the data end after 47 of 48", 0, fstest.MapFS{"x.hdr": {Data: header}, "x.img": {Data: data[1:]}}},
		{"48 bytes of values, the limit is 47", 47, fstest.MapFS{"x.hdr": {Data: header}, "x.img": {Data: data}}},
		{"gzip: invalid checksum", 0, fstest.MapFS{"x.hdr.gz": {Data: wrongSum}, "x.img": {Data: data}}},
	} {
		if _, _, err := read(c.files, "x.img", c.limit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestQuaternionThatIsTooLongIsNormalised(t *testing.T) {
	file := good(t, 1)
	le := binary.LittleEndian
	le.PutUint16(file[252:], 1) // qform
	le.PutUint16(file[254:], 0)
	le.PutUint32(file[264:], math.Float32bits(2))
	h, err := nifti.ReadHeader(fstest.MapFS{"f.nii": {Data: file}}, "f.nii")
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]float64{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}} {
		if got := h.Axes[k].Direction; !slices.Equal(got, want) {
			t.Errorf("axis %d: got %v, want %v", k, got, want)
		}
	}
	le.PutUint32(file[256:], math.Float32bits(float32(math.NaN())))
	if h, err = nifti.ReadHeader(fstest.MapFS{"f.nii": {Data: file}}, "f.nii"); err != nil || h.Axes[0].Direction != nil || h.Origin != nil {
		t.Errorf("a matrix of NaN: got %v, %v", h, err)
	}
}
