package metaimage_test

import (
	"bytes"
	"compress/zlib"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

const rank2 = "ObjectType = Image\nNDims = 2\nDimSize = 2 3\nElementType = MET_SHORT\n"

func TestBadFilesAreRefusedWithTheirReason(t *testing.T) {
	testenv.OneGoroutine(t)
	deflated := zipped("abcdefghijkl")
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "line 1: the header ends without ElementDataFile"},
		{"another format", "\x89PNG\r\n\x1a\n", "not a MetaImage: the first line is not a field"},
		{"another object", "ObjectType = Tube\n", `line 1: ObjectType: "Tube" is not Image`},
		{"no field", "ObjectType = Image\nnonsense\n", `line 2: "nonsense" is not a field`},
		{"header without end", rank2, "line 5: the header ends without ElementDataFile"},
		{"endless line", strings.Repeat("x", 1<<20), "not a MetaImage"},
		{"endless lines", strings.Repeat("\n", 1<<18), "line 262145: the header ends without ElementDataFile"},
		{"twice", rank2 + "NDims = 2\n", `line 5: "NDims" is on line 2 already`},
		{"two names", rank2 + "Offset = 0 0\nOrigin = 0 0\n", "line 6: Origin: it is there already, under another name"},
		{"no axes", "NDims = 0\n", `line 1: NDims: value 0: "0", want an integer from 1 to 10`},
		{"11 axes", "NDims = 11\n", `line 1: NDims: value 0: "11", want an integer from 1 to 10`},
		{"sizes first", "DimSize = 2\n", "DimSize: NDims must come first"},
		{"few sizes", "NDims = 2\nDimSize = 2\n", "line 2: DimSize: 1 values, want 2"},
		{"size 0", "NDims = 2\nDimSize = 2 0\n", `line 2: DimSize: value 1: "0", want an integer from 1 to `},
		{"product beyond 64 bits", "NDims = 2\nDimSize = 4294967296 4294967296\nElementType = MET_CHAR\nElementDataFile = LOCAL\n", datatest.OfInt("more than memory can hold", "want an integer from 1 to 2147483647")},
		{"terabytes", "NDims = 1\nDimSize = 9999999999999\nElementType = MET_CHAR\nElementDataFile = LOCAL\n", datatest.OfInt("the data end after 0 of 9999999999999", "want an integer from 1 to 2147483647")},
		{"terabytes of zlib", "NDims = 1\nDimSize = 9999999999999\nElementType = MET_CHAR\nCompressedData = True\nElementDataFile = LOCAL\n" + deflated, datatest.OfInt("the data end after 12 of 9999999999999", "want an integer from 1 to 2147483647")},
		{"no type", "NDims = 1\nDimSize = 2\nElementDataFile = LOCAL\n", "ElementType is missing"},
		{"no sizes", "NDims = 1\nElementType = MET_CHAR\nElementDataFile = LOCAL\n", "line 3: DimSize or ElementType is missing"},
		{"unknown type", rank2[:strings.Index(rank2, "ElementType")] + "ElementType = MET_OTHER\n", `line 4: ElementType: "MET_OTHER" is not read`},
		{"no channels", rank2 + "ElementNumberOfChannels = 0\n", `line 5: ElementNumberOfChannels: value 0: "0", want an integer from 1 to 1048576`},
		{"neither", rank2 + "BinaryData = yes\n", `BinaryData: "yes" is neither True nor False`},
		{"few numbers", rank2 + "ElementSpacing = 1\n", "line 5: ElementSpacing: 1 values, want 2"},
		{"no number", rank2 + "ElementSpacing = 1 x\n", `"x" is not a finite number`},
		{"not finite", rank2 + "Offset = 1 inf\n", `"inf" is not a finite number`},
		{"spacing 0", rank2 + "ElementSpacing = 1 0\nElementDataFile = LOCAL\n", "ElementSpacing: axis 1: it is 0"},
		{"mixed", "NDims = 4\nDimSize = 1 1 1 1\nElementType = MET_CHAR\nTransformMatrix = 1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\nElementDataFile = LOCAL\n", "axis 0 mixes spatial and other axes"},
		{"short", rank2 + "ElementDataFile = LOCAL\nabcdefghijk", "data: byte 102: the data end after 11 of 12 bytes"},
		{"zlib short", rank2 + "CompressedData = True\nElementDataFile = LOCAL\n" + zipped("abc"), "the data end after 3 of 12"},
		{"zlib cut", rank2 + "CompressedData = True\nElementDataFile = LOCAL\n" + deflated[:len(deflated)-1], "unexpected EOF"},
		{"zlib of another sum", rank2 + "CompressedData = True\nElementDataFile = LOCAL\n" + deflated[:len(deflated)-4] + "abcd", "invalid checksum"},
		{"no zlib", rank2 + "CompressedData = True\nElementDataFile = LOCAL\nabcdefgh", "zlib: invalid header"},
		{"text and zlib", rank2 + "CompressedData = True\nBinaryData = False\nElementDataFile = LOCAL\n", "CompressedData: compressed text is not read"},
		{"skip and zlib", rank2 + "CompressedData = True\nHeaderSize = -1\nElementDataFile = LOCAL\n", "HeaderSize cannot be combined with CompressedData"},
		{"skip", rank2 + "HeaderSize = -2\n", `line 5: HeaderSize: value 0: "-2", want an integer from -1 to 4611686018427387904`},
		{"backwards beyond the beginning", "NDims = 1\nDimSize = 900\nElementType = MET_CHAR\nHeaderSize = -1\nElementDataFile = LOCAL\n", "data: the last 900 bytes of a file that has 0"},
		{"beyond the end", rank2 + "HeaderSize = 4000\nElementDataFile = LOCAL\n", "data: byte 0: 4000 bytes before the values: unexpected EOF"},
		{"text too large", rank2 + "BinaryData = False\nElementDataFile = LOCAL\n1 2 3 4 5 40000", `"40000" is not a valid int16: value out of range`},
		{"nameless", rank2 + "ElementDataFile =\n", "ElementDataFile: it is empty"},
		{"list", rank2 + "ElementDataFile = LIST\n0\n", "line 5: ElementDataFile: several data files are not read: want one"},
		{"pattern", rank2 + "ElementDataFile = %d 1\n", "several data files are not read: want one"},
		{"missing", rank2 + "ElementDataFile = none.raw\n", "data file a/none.raw: file does not exist"},
		{"outside", rank2 + "ElementDataFile = ../secret\n", `ElementDataFile: "../secret" is not in the header's folder`},
		{"absolute", rank2 + "ElementDataFile = /a/0\n", "is not in the header's folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{"a/file.mha": {Data: []byte(c.file)}, "a/0": {Data: []byte("abcd")}, "secret": {Data: []byte("abcd")}}
			var err error
			hostile.Bounded(t, len(c.file), 0, func() { _, _, err = read(fsys, "a/file.mha", 0) })
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); strings.Contains(got, "file.mha") || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant … %s, without the file, which the caller names", got, c.want)
			}
		})
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func TestLimitIsKeptBeforeAnythingIsRead(t *testing.T) {
	fsys := fstest.MapFS{"f": {Data: []byte(rank2 + "ElementDataFile = LOCAL\nabcdefghijkl")}}
	if _, _, err := read(fsys, "f", 12); err != nil {
		t.Error(err)
	}
	_, _, err := read(fsys, "f", 11)
	if want := "12 bytes of values, the limit is 11"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzRead reads headers with the same data file under two names.
func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/files/*.m*")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, file, data []byte) {
		const limit = 1 << 20
		var h *array.Header
		var values []byte
		var err error
		hostile.Bounded(t, len(file)+2*len(data), 2*limit, func() {
			h, values, err = read(fstest.MapFS{"f": {Data: file}, "p1.raw": {Data: data}, "zlib.raw": {Data: data}}, "f", limit)
		})
		if err != nil {
			return
		}
		n, err := h.Bytes()
		if err != nil || n > limit || int64(len(values)) != n {
			t.Errorf("%d bytes read, want %d, %v", len(values), n, err)
		}
		if len(h.Axes) != len(h.Sizes) {
			t.Errorf("axes %v, sizes %v", h.Axes, h.Sizes)
		}
	})
}
