package nifti_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
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
	extension := func(v ...byte) func([]byte) []byte {
		return func(b []byte) []byte {
			real(108, 368)(b)
			extended := append(append([]byte(nil), b[:348]...), 1, 0, 0, 0)
			extended = append(extended, v...)
			return append(append(extended, make([]byte, 368-len(extended))...), b[352:]...)
		}
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
	for _, c := range []struct {
		name, want string
		v          int
		edit       func([]byte) []byte
	}{
		{"empty", "byte 0: sizeof_hdr: unexpected EOF", 1, cut(0)},
		{"cut in the header", "byte 347: the header ends after 347 of 348", 1, cut(347)},
		{"cut in the flag", "byte 350: extension: unexpected EOF", 1, cut(350)},
		{"cut in the data", "the data end after 47 of 48 bytes", 1, cut(352 + 47)},
		{"another format", "not a NIfTI header", 1, short(0, 349)},
		{"Analyze", "an Analyze 7.5 file", 1, func(b []byte) []byte { clear(b[344:348]); return b }},
		{"other magic", `magic: "n+3\x00" is not NIfTI-1's`, 1, func(b []byte) []byte { b[346] = '3'; return b }},
		{"other magic 2", "is not NIfTI-2's", 2, func(b []byte) []byte { b[8] = '\n'; return b }},
		{"no axes", "byte 40: dim[0]: 0 axes", 1, short(40, 0)},
		{"8 axes", "byte 40: dim[0]: 8 axes", 1, short(40, 8)},
		{"negative axes", "byte 16: dim[0]: -1 axes", 2, long(16, -1)},
		{"size 0", "byte 42: dim[1]: 0 samples", 1, short(42, 0)},
		{"negative size", "byte 32: dim[2]: -5 samples", 2, long(32, -5)},
		{"product beyond 64 bits", datatest.OfInt("more than memory can hold", "want 1 to 2147483647"), 2, func(b []byte) []byte {
			return long(24, 1<<40)(long(32, 1<<40)(b))
		}},
		{"terabytes", datatest.OfInt("the data end after 48 of", "want 1 to 2147483647"), 2, long(40, 1<<40)},
		{"binary", "datatype: 1 (binary) is not supported", 1, short(70, 1)},
		{"float128", "datatype: 1536 (float128) is not supported", 1, short(70, 1536)},
		{"complex256", "datatype: 2048 (complex256) is not supported", 2, short(12, 2048)},
		{"unknown datatype", "datatype: 3 (unknown) is not supported", 1, short(70, 3)},
		{"wrong bitpix", "bitpix: 8, but datatype int16 has 16", 1, short(72, 8)},
		{"offset in the header", "vox_offset: 351 is in the header, want at least 352", 1, real(108, 351)},
		{"offset of half a byte", "vox_offset: 352.5 is not an offset", 1, real(108, 352.5)},
		{"offset not a number", "vox_offset: NaN is not an offset", 1, real(108, math.NaN())},
		{"offset infinite", "vox_offset: +Inf is not an offset", 1, real(108, math.Inf(1))},
		{"negative offset", "vox_offset: -352 is not an offset", 1, real(108, -352)},
		{"negative offset 2", "vox_offset: -1 is in the header", 2, long(168, -1)},
		{"offset beyond the end", "vox_offset 1000000: unexpected EOF", 1, real(108, 1e6)},
		{"extension of 7 bytes", "byte 352: extension: esize 7, want 8 to 16", 1, extension(7, 0, 0, 0)},
		{"negative extension", "byte 352: extension: esize -1", 1, extension(255, 255, 255, 255)},
		{"extension into the data", "byte 352: extension: esize 32, want 8 to 16", 1, extension(32, 0, 0, 0)},
		{"rest of an extension", "byte 366: extension: 2 bytes are too few for one", 1, extension(14, 0, 0, 0, 6, 0, 0, 0, 1, 1, 1, 1, 1, 1, 9)},
		{"extensions of terabytes", "byte 544: extensions: damaged or hostile: more memory than 592 bytes", 2, func(b []byte) []byte {
			b[540] = 1
			return long(168, 1<<40)(b)
		}},
		{"extensions beyond the end", "byte 544: extensions: damaged or hostile: more memory than 592 bytes", 2, func(b []byte) []byte {
			b[540] = 1
			return long(168, 1<<26)(b)
		}},
		{"bomb of extensions", "extensions: damaged or hostile: more memory than", 1, func(b []byte) []byte {
			b[348] = 1
			return zipped(append(real(108, 1<<31)(b), make([]byte, 64<<20)...))
		}},
		{"vox_offset of many bytes", "vox_offset 2147483648: damaged or hostile: more work than", 1, func(b []byte) []byte {
			return zipped(append(real(108, 1<<31)(b), make([]byte, 64<<20)...))
		}},
		{"padding behind each extension", "byte 16384352: extension: esize 1, want 8 to", 1, func(b []byte) []byte {
			b[348] = 1
			b = append(real(108, 352+1<<24)(b)[:352], bytes.Repeat([]byte{16, 0, 0, 0, 6, 15: 0}, 1_024_000)...)
			b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
			return append(b, make([]byte, 1<<22)...)
		}},
		{"extensions of no bytes", "extension: damaged or hostile: more memory than", 1, func(b []byte) []byte {
			b[348] = 1
			b = append(real(108, 352+1<<18)(b)[:352], bytes.Repeat([]byte{8, 0, 0, 0, 6, 0, 0, 0}, 1<<15)...)
			return zipped(append(b, make([]byte, 48)...))
		}},
		{"a pair's header", "the header of a pair, but the file is not named .hdr", 1, func(b []byte) []byte { b[345] = 'i'; return b }},
		{"zip of nothing", "gzip: unexpected EOF", 1, func([]byte) []byte { return []byte{0x1f, 0x8b} }},
		{"zip cut", "unexpected EOF", 1, func(b []byte) []byte { z := zipped(b); return z[:len(z)-1] }},
		{"zip of another sum", "invalid checksum", 1, func(b []byte) []byte { z := zipped(b); z[len(z)-8]++; return z }},
		{"zip cut in the header", "unzipped: byte 100: the header ends", 1, func(b []byte) []byte { return zipped(b[:100]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := c.edit(good(t, c.v))
			fsys := fstest.MapFS{"a/f.nii": {Data: file}}
			var err error
			hostile.Bounded(t, len(file), 0, func() { _, err = nifti.Read(fsys, "a/f.nii", 0) })
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
	if _, err := nifti.Read(fstest.MapFS{"f": {Data: b2}}, "f", 0); err != nil {
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
		{"x.HDR.GZ": {Data: zipped(header)}, "x.IMG.GZ": {Data: zipped(data)}},
	} {
		for name := range fsys {
			m, err := nifti.Read(fsys, name, 48)
			if err != nil {
				t.Error(err)
			} else if !bytes.Equal(m.Data, data) {
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
	for _, c := range []struct {
		want  string
		limit int64
		files fstest.MapFS
	}{
		{"x.img: file does not exist", 0, fstest.MapFS{"x.hdr": {Data: header}}},
		{"x.img: byte 47: the data end after 47 of 48", 0, fstest.MapFS{"x.hdr": {Data: header}, "x.img": {Data: data[1:]}}},
		{"dim: 48 bytes of data, the limit is 47", 47, fstest.MapFS{"x.hdr": {Data: header}, "x.img": {Data: data}}},
	} {
		if _, err := nifti.Read(c.files, "x.hdr", c.limit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestQuaternionThatIsTooLongIsNormalised(t *testing.T) {
	h := nifti.Header{Dim: []int{1, 1, 1}, Qfac: 1, Quatern: [3]float64{0, 0, 2}, QformCode: 1}
	got, _, ok := h.Affine()
	if want := [4][4]float64{{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}; !ok || got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	h.Quatern[0] = math.NaN()
	if _, _, ok := h.Affine(); ok {
		t.Error("a matrix of NaN is said to be good")
	}
}
