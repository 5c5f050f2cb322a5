package pnm_test

import (
	"bytes"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/pnm"
	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestFilesBecomePillowsRGB(t *testing.T)  { pillowtest.Equal(t, new(pnm.Decoder)) }
func TestWindowsAreCrops(t *testing.T)        { pillowtest.Windows(t, new(pnm.Decoder)) }
func TestImagesTakeNoAllocation(t *testing.T) { pillowtest.Still(t, new(pnm.Decoder)) }

func TestCutFilesAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	// If the last number of a plain file loses digits, that cannot be noticed.
	pillowtest.Cut(t, new(pnm.Decoder), func(name string) bool { return !strings.HasPrefix(name, "plain") })
}

func FuzzDecode(f *testing.F) {
	open := func() pillowtest.Decoder { return new(pnm.Decoder) }
	pillowtest.Fuzz(f, open, func(int, int) int { return 0 })
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		file, want  string
		unsupported bool
	}{
		{"P7\nWIDTH 1\n", "PAM (P7), which penstock does not read", true},
		{"PF\n1 1\n-1\n", "PFM with colours (PF), which penstock does not read", true},
		{"P5", "no white space", false},
		{"P5 ", "width: unexpected EOF", false},
		{"P5 7x 1 255 ", `width: "7x" is not a number`, false},
		{"P5 -7 1 255 ", `width: "-7" is not a number`, false},
		{"P5 7 99999999 255 ", "height: 99999999 is more than", false},
		{"P5 12345678901 1 255 ", `width: "1234567890"… is too long`, false},
		{"P5 0 1 255 ", "0×1 pixels", false},
		{"P5 1 1 0 a", "maximum value 0", false},
		{"P5 1 1 65536 aa", "maximum value 65536", false},
		{"P6 30000 30000 255 abc", "unexpected EOF: 22 bytes are too few for 30000×30000 pixels", false},
		{"Pf 1 1 0 abcd", "scale 0", false},
		{"Pf 1 1 nan abcd", "scale NaN", false},
		{"Pf 1 1 0x1 abcd", `scale: "0x1" is not a number`, false},
		{"P2 1 1 9 10 ", `pixel (0, 0): 10 is more than 9`, false},
		{"P1 2 1 0 2", `pixel (1, 0): '2' is neither 0 nor 1`, false},
	} {
		var d pnm.Decoder
		w, h, err := d.Header([]byte(test.file))
		if err == nil {
			err = d.Decode(make([]byte, 4*w*h), 4*w, image.Rect(0, 0, w, h))
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "pnm: ") {
			t.Errorf("%q: got %v, want %q", test.file, err, test.want)
			continue
		}
		if got := errors.Is(err, errors.ErrUnsupported); got != test.unsupported {
			t.Errorf("%q: unsupported is %v, want %v", test.file, got, test.unsupported)
		}
	}
}

func FuzzDecodeSamples(f *testing.F) {
	open := func() pillowtest.SampleDecoder { return new(pnm.Decoder) }
	pillowtest.FuzzSamples(f, open, 0)
}

// TestManyPartsThatSayLittleTakeLittle has comments, spaces and zeros before what they delay, and
// an image that the file does not have.
func TestManyPartsThatSayLittleTakeLittle(t *testing.T) {
	const n = 1 << 18
	repeat := func(before, part, after string) []byte {
		return append(append([]byte(before), bytes.Repeat([]byte(part), n/len(part))...), after...)
	}
	pillowtest.Hostile(t, func() pillowtest.Decoder { return new(pnm.Decoder) }, 0, map[string][]byte{
		"comments":            repeat("P3\n", "#\n", "1 1 255 1 2 3\n"),
		"spaces":              repeat("P3 1", " ", "1 255 1 2 3\n"),
		"zeros":               repeat("P3 ", "0", "1 1 255 1 2 3\n"),
		"comments of samples": repeat("P2 1 1 255\n", "#\n", "1\n"),
		"spaces of samples":   repeat("P1 2 2 ", " \n", "1 0 1 0"),
		"zeros of a sample":   repeat("P2 1 1 255 ", "0", "1\n"),
		"a large image":       []byte("P6 1000000000 1000000000 255\n"),
		"a large bitmap":      []byte("P4 2147483647 2147483647\n"),
		"a large text":        repeat("P2 100000 100000 255 ", "1 ", ""),
		"a large float image": []byte("PF 1000000 1000000 -1.0\n"),
	})
}
