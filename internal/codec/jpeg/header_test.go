package jpeg_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestHeaderTellsWhatTheFileIs(t *testing.T) {
	for name, want := range map[string]jpeg.Config{
		"sample.jpg": {
			Width: 37, Height: 29, Components: 3, Model: jpeg.YCbCr,
			Sampling: [4]jpeg.Sampling{{H: 2, V: 2}, {H: 1, V: 1}, {H: 1, V: 1}},
		},
		"rgb-by-names.jpg": {
			Width: 21, Height: 19, Components: 3, Model: jpeg.RGB,
			Sampling: [4]jpeg.Sampling{{H: 1, V: 1}, {H: 1, V: 1}, {H: 1, V: 1}},
		},
		"four-1.jpg": {
			Width: 35, Height: 21, Components: 4, Model: jpeg.CMYK, Progressive: true,
			Sampling: [4]jpeg.Sampling{{H: 1, V: 1}, {H: 1, V: 1}, {H: 1, V: 1}, {H: 1, V: 1}},
		},
		"four-6.jpg": {
			Width: 35, Height: 21, Components: 4, Model: jpeg.YCCK,
			Sampling: [4]jpeg.Sampling{{H: 1, V: 1}, {H: 1, V: 1}, {H: 1, V: 1}, {H: 1, V: 1}},
		},
	} {
		var d jpeg.Decoder
		got, err := d.Header(named(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// exif is an APP1 segment with an orientation, in the given byte order.
func exif(order string, value byte) []byte {
	if order == "II" {
		return []byte("\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" +
			string(value) + "\x00\x00\x00\x00\x00\x00\x00")
	}
	return []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" +
		string(value) + "\x00\x00\x00\x00\x00\x00")
}

func TestOrientationIsRead(t *testing.T) {
	file := named(t, "sample.jpg")
	for _, order := range []string{"II", "MM"} {
		for value := range byte(10) {
			var d jpeg.Decoder
			segment := exif(order, value)
			c, err := d.Header(bytes.Join([][]byte{file[:2], segment, file[2:]}, nil))
			if err != nil {
				t.Fatal(err)
			}
			want := int(value)
			if want > 8 {
				want = 0
			}
			if c.Orientation != want {
				t.Errorf("%s: got orientation %d, want %d", order, c.Orientation, want)
			}
			for n := 4; n < len(segment); n++ { // cut short anywhere: no orientation, no error
				short := bytes.Clone(segment[:n])
				short[2], short[3] = byte((n-2)>>8), byte(n-2)
				if _, err := d.Header(bytes.Join([][]byte{file[:2], short, file[2:]}, nil)); err != nil {
					t.Errorf("%s: %d bytes of EXIF: %v", order, n, err)
				}
			}
		}
	}
}

// TestOrientationComesFromAllSegmentsThatPillowReads compares with exif_transpose
// of Pillow 12.3.
func TestOrientationComesFromAllSegmentsThatPillowReads(t *testing.T) {
	testenv.OneGoroutine(t)
	app1 := func(parts ...string) []byte {
		body := strings.Join(parts, "")
		return append([]byte{0xff, 0xe1, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
	}
	const name, head = "Exif\x00\x00", "MM\x00*\x00\x00\x00\x08\x00\x01"
	long := app1(name, head, "\x01\x12\x00\x04\x00\x00\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00")
	xmp := app1("http://ns.adobe.com/xap/1.0/\x00", `<rdf tiff:Orientation="8">`)
	file := named(t, "sample.jpg")
	for name, c := range map[string]struct {
		segments [][]byte
		want     int
	}{
		"LONG":              {[][]byte{long}, 6},
		"XMP":               {[][]byte{xmp}, 8},
		"Exif and XMP":      {[][]byte{xmp, long}, 6},
		"the first of two":  {[][]byte{exif("II", 3), exif("II", 6)}, 3},
		"two halves":        {[][]byte{app1(name, head), app1(name, "\x01\x12\x00\x03\x00\x00\x00\x01\x00\x05\x00\x00")}, 5},
		"the last XMP":      {[][]byte{app1("http://ns.adobe.com/xap/1.0/\x00", `tiff:Orientation="5"`), xmp}, 8},
		"Exif without it":   {[][]byte{app1(name, "II*\x00\x08\x00\x00\x00\x00\x00"), xmp}, 8},
		"another namespace": {[][]byte{app1("http://ns.adobe.com/xmp/extension/\x00", `tiff:Orientation="8"`)}, 0},
	} {
		var d jpeg.Decoder
		config, err := d.Header(slices.Concat(file[:2], slices.Concat(c.segments...), file[2:]))
		if err != nil || config.Orientation != c.want {
			t.Errorf("%s: got %d, error %v, want %d", name, config.Orientation, err, c.want)
		}
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	file := named(t, "sample.jpg")
	frame := bytes.Index(file, []byte{0xff, 0xc0})
	scan := bytes.Index(file, []byte{0xff, 0xda})
	edit := func(at int, b ...byte) []byte {
		data := bytes.Clone(file)
		copy(data[at:], b)
		return data
	}
	for _, test := range []struct {
		data        []byte
		want        string
		unsupported bool
	}{
		{nil, "jpeg: at byte 0: start of image: unexpected EOF", false},
		{[]byte("GIF89a"), "jpeg: at byte 0: not a JPEG file", false},
		{file[:frame], "markers: unexpected EOF", false},
		{file[:frame+7], "segment: unexpected EOF", false},
		{edit(frame+1, 0xc3), "lossless coding", true},
		{edit(frame+1, 0xc5), "hierarchical coding", true},
		{edit(frame+1, 0xc9), "arithmetic coding", true},
		{edit(frame+1, 0xca), "arithmetic coding", true},
		{edit(frame+4, 12), "samples of 12 bits", true},
		{edit(frame+5, 0, 0), "a height that follows the scan", true},
		{edit(frame+7, 0, 0), "image of 0×29 pixels", false},
		{edit(frame+7, 0xff, 0xdd), "image of 65501×29 pixels", false},
		{edit(frame+9, 2), "frame header of 15 bytes for 2 components", false},
		{edit(frame+11, 0x50), "sampling factors 5×0", false},
		{edit(frame+12, 7), "quantisation table 7", false},
		{edit(frame+12, 3), "quantisation table 3 is missing", false},
		{edit(scan+5, 9), "scan of component 9", false},
		{edit(scan+6, 0x33), "DC Huffman table 3 is missing", false},
		{edit(scan+1, 0xd9), "file ends without a scan", false},
	} {
		var d jpeg.Decoder
		_, err := d.Header(test.data)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "jpeg: at byte ") {
			t.Errorf("got %v, want %q", err, test.want)
			continue
		}
		if got := errors.Is(err, errors.ErrUnsupported); got != test.unsupported {
			t.Errorf("%v: unsupported is %v, want %v", err, got, test.unsupported)
		}
	}
}

func TestBrokenCodeIsAnErrorAtItsPlace(t *testing.T) {
	var d jpeg.Decoder
	for _, p := range testImages(t) {
		if !strings.HasPrefix(p.name, "restarts-") || !bytes.Contains(p.data, []byte{0xff, 0xd1}) {
			continue
		}
		at := bytes.Index(p.data, []byte{0xff, 0xd1})
		data := bytes.Clone(p.data)
		data[at+1] = 0xd5
		_, err := decode(&d, data)
		var where *jpeg.Error
		if !errors.As(err, &where) || where.Offset < at-1 || where.Offset > at+2 {
			t.Errorf("%s: restart marker out of order at byte %d: %v", p.name, at, err)
		}
		return
	}
	t.Fatal("no file with restarts in the set")
}
