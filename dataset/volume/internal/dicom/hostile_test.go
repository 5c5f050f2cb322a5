package dicom_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/dicom"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

const series = "../../testdata/dicom"

// file makes a file with these elements, in explicit VR and little endian.
func file(syntax string, elements ...[]byte) []byte {
	b := append(make([]byte, 128), "DICM"...)
	if syntax != "" {
		b = append(b, element(0x0002_0010, "UI", syntax)...)
	}
	return append(b, bytes.Join(elements, nil)...)
}

const explicit = "1.2.840.10008.1.2.1"

func element(tag uint32, vr, value string) []byte {
	le := binary.LittleEndian
	if len(value)%2 == 1 {
		value += "\x00"
	}
	b := le.AppendUint16(le.AppendUint16(nil, uint16(tag>>16)), uint16(tag))
	b = append(b, vr...)
	if strings.Contains("OB OW SQ UN", vr) {
		b = le.AppendUint32(append(b, 0, 0), uint32(len(value)))
	} else {
		b = le.AppendUint16(b, uint16(len(value)))
	}
	return append(b, value...)
}

func short(tag uint32, v uint16) []byte {
	return element(tag, "US", string(binary.LittleEndian.AppendUint16(nil, v)))
}

// plain are the elements of an image with 1 row, 2 columns and 16 bits.
func plain(edit func(map[uint32][]byte)) [][]byte {
	e := map[uint32][]byte{
		0x0028_0002: short(0x0028_0002, 1), 0x0028_0004: element(0x0028_0004, "CS", "MONOCHROME2"), 0x0028_0010: short(0x0028_0010, 1),
		0x0028_0011: short(0x0028_0011, 2), 0x0028_0100: short(0x0028_0100, 16), 0x0028_0101: short(0x0028_0101, 16), 0x0028_0102: short(0x0028_0102, 15),
		0x7fe0_0010: element(0x7fe0_0010, "OW", "abcd"),
	}
	if edit != nil {
		edit(e)
	}
	var all [][]byte
	for _, tag := range []uint32{0x0008_0008, 0x0020_0032, 0x0028_0002, 0x0028_0004, 0x0028_0008, 0x0028_0010, 0x0028_0011, 0x0028_0030, 0x0028_0100, 0x0028_0101, 0x0028_0102, 0x0028_1053, 0x7fe0_0010} {
		all = append(all, e[tag])
	}
	return all
}

func TestBadFilesAreRefusedWithTheirReason(t *testing.T) {
	testenv.OneGoroutine(t)
	set := func(tag uint32, e []byte) func(map[uint32][]byte) {
		return func(m map[uint32][]byte) { m[tag] = e }
	}
	promise := append(element(0x0008_0008, "UT", "")[:6], 0, 0, 0xfe, 0xff, 0xff, 0xff)
	nested := bytes.Repeat([]byte{0x08, 0, 0x40, 0x11, 'S', 'Q', 0, 0, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0, 0xe0, 0xff, 0xff, 0xff, 0xff}, 1<<16)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "not a DICOM file", nil},
		{"another format", "not a DICOM file: there is no DICM at byte 128", bytes.Repeat([]byte("NRRD"), 100)},
		{"no syntax", `byte 132: TransferSyntaxUID: "" is not read: want uncompressed values in little endian`, file("")},
		{"JPEG", `byte 162: TransferSyntaxUID: "1.2.840.10008.1.2.4.70" is not read: want uncompressed values in little endian`, file("1.2.840.10008.1.2.4.70")},
		{"MPEG", `TransferSyntaxUID: "1.2.840.10008.1.2.4.100" is not read`, file("1.2.840.10008.1.2.4.100")},
		{"no image", "PixelData is missing", file(explicit, plain(set(0x7fe0_0010, nil))...)},
		{"floats", "floating-point pixel data are not read", file(explicit, plain(set(0x7fe0_0010, element(0x7fe0_0008, "OF", "abcd")))...)},
		{"no rows", "0 Rows and 2 Columns", file(explicit, plain(set(0x0028_0010, nil))...)},
		{"rows of 3 bytes", "Rows: 4 bytes, want 2", file(explicit, plain(set(0x0028_0010, element(0x0028_0010, "US", "abcd")))...)},
		{"12 bits", "BitsAllocated: 12, want 8, 16 or 32", file(explicit, plain(set(0x0028_0100, short(0x0028_0100, 12)))...)},
		{"no bits", "BitsStored: 0 with HighBit 15", file(explicit, plain(set(0x0028_0101, nil))...)},
		{"high bit", "BitsStored: 16 with HighBit 16", file(explicit, plain(set(0x0028_0102, short(0x0028_0102, 16)))...)},
		{"colors", "SamplesPerPixel: 3 values per pixel", file(explicit, plain(set(0x0028_0002, short(0x0028_0002, 3)))...)},
		{"inverted", `PhotometricInterpretation: "MONOCHROME1" is not read`, file(explicit, plain(set(0x0028_0004, element(0x0028_0004, "CS", "MONOCHROME1")))...)},
		{"frames", `NumberOfFrames: "7": only files of one frame are read`, file(explicit, plain(set(0x0028_0008, element(0x0028_0008, "IS", "7")))...)},
		{"half a place", "ImagePositionPatient: 2 numbers, want 3", file(explicit, plain(set(0x0020_0032, element(0x0020_0032, "DS", `1\2`)))...)},
		{"no number", `PixelSpacing: "x" is not a finite number`, file(explicit, plain(set(0x0028_0030, element(0x0028_0030, "DS", `1\x`)))...)},
		{"slope 0", "RescaleSlope: it is 0", file(explicit, plain(set(0x0028_1053, element(0x0028_1053, "DS", "0")))...)},
		{"fewer values", "PixelData: 2 bytes, want 4 for 1 by 2 values of 16 bits", file(explicit, plain(set(0x7fe0_0010, element(0x7fe0_0010, "OW", "ab")))...)},
		{"promised values", "PixelData: 2000000 bytes of values, the file can hold 0", file(explicit, plain(func(m map[uint32][]byte) {
			m[0x0028_0010], m[0x0028_0011] = short(0x0028_0010, 1000), short(0x0028_0011, 1000)
			m[0x7fe0_0010] = append(element(0x7fe0_0010, "OW", "")[:8], 0x80, 0x84, 0x1e, 0)
		})...)},
		{"fragments", "PixelData: 4294967295 bytes, want 4 for 1 by 2 values of 16 bits", file(explicit, plain(set(0x7fe0_0010, append(element(0x7fe0_0010, "OB", "")[:8], 0xff, 0xff, 0xff, 0xff)))...)},
		{"promised text", "unexpected EOF", file(explicit, promise)},
		{"long value", "Modality: a value of 2000 bytes", file(explicit, element(0x0008_0060, "CS", strings.Repeat("x", 2000)))},
		{"no VR", `element (0008,0008): "ab" is not a value representation`, file(explicit, element(0x0008_0008, "ab", ""))},
		{"nested", "unexpected EOF", file(explicit, nested)},
		{"nested more", "unexpected EOF", file(explicit, bytes.Repeat(nested, 10))},
		{"delimiter", "a delimiter of 4 bytes", file(explicit, append(element(0x0008_1140, "SQ", "")[:8], 0xff, 0xff, 0xff, 0xff), []byte{0xfe, 0xff, 0xdd, 0xe0, 4, 0, 0, 0})},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			hostile.Bounded(t, len(c.file), 0, func() {
				_, err = dicom.ReadHeader(fstest.MapFS{"a/f": {Data: c.file}}, "a/f")
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "a/f") {
				t.Errorf("got  %v\nwant … %s, without the file, which the caller names", err, c.want)
			}
		})
	}
}

func TestValuesTakesTheFewer(t *testing.T) {
	m := dicom.Image{Bits: 16, Stored: 16, High: 15}
	dst := []int64{7, 7, 7}
	m.Values(dst, binary.LittleEndian.AppendUint16(nil, 3))
	m.Values(dst[2:], make([]byte, 100))
	if dst[0] != 3 || dst[1] != 7 || dst[2] != 0 {
		t.Errorf("got %v", dst)
	}
}

func TestBitsAboveAndBelowTheStoredOnesAreIgnored(t *testing.T) {
	m := dicom.Image{Bits: 16, Stored: 12, High: 13}
	var got [1]int64
	for _, c := range []struct {
		raw    uint16
		signed bool
		want   int64
	}{{0xffff, false, 4095}, {0xffff, true, -1}, {0b11_100000000000_11, true, -2048}, {0b11_011111111111_01, true, 2047}, {0xc003, false, 0}} {
		m.Signed = c.signed
		m.Values(got[:], binary.LittleEndian.AppendUint16(nil, c.raw))
		if got[0] != c.want {
			t.Errorf("%b, signed %v: got %d, want %d", c.raw, c.signed, got[0], c.want)
		}
	}
	if low, high := m.Range(); low != 0 || high != 4095 {
		t.Errorf("range: got %d to %d", low, high)
	}
	m.Signed = true
	if low, high := m.Range(); low != -2048 || high != 2047 {
		t.Errorf("signed range: got %d to %d", low, high)
	}
}

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	names, err := filepath.Glob(series + "/*/*")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole)-12; n += 1 + n/100 { // fragments have a delimiter after the values
			if decode(whole[:n]) == nil {
				t.Errorf("%s: the first %d of %d bytes are read", name, n, len(whole))
			}
		}
		switch folder := filepath.Base(filepath.Dir(name)); folder {
		case "big", "deflated", "rle", "rle8": // not read
			continue
		}
		if err := decode(whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func decode(data []byte) error {
	fsys := fstest.MapFS{"f": {Data: data}}
	m, err := dicom.ReadHeader(fsys, "f")
	if err != nil {
		return err
	}
	raw := make([]byte, m.Size())
	if err := m.Decode(fsys, raw); err != nil {
		return err
	}
	m.Values(make([]int64, m.Rows*m.Columns), raw)
	return nil
}

// FuzzDecode reads headers and values.
func FuzzDecode(f *testing.F) {
	names, _ := filepath.Glob(series + "/*/*")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"f": {Data: data}}
		var m *dicom.Image
		var err error
		hostile.Bounded(t, len(data), 0, func() { m, err = dicom.ReadHeader(fsys, "f") })
		if err != nil || m.Size() > 1<<24 {
			return
		}
		raw := make([]byte, m.Size())
		hostile.Bounded(t, len(data), int64(len(raw)), func() { err = m.Decode(fsys, raw) })
		if err == nil {
			m.Values(make([]int64, m.Rows*m.Columns), raw)
		}
	})
}
