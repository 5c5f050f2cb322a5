package transform

import (
	"errors"
	"strings"
	"testing"
)

func TestFilesOfOtherFormatsAreNamed(t *testing.T) {
	for data, want := range map[string]string{
		"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1":       "AVIF",
		"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic":       "HEIC",
		"\x00\x00\x00\x18ftypheix\x00\x00\x00\x00mif1heix":       "HEIC",
		"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif":       "HEIF (HEIC or AVIF)",
		"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00mp41":           "a video (MP4 or QuickTime)",
		"\x00\x00\x00\x0cJXL \r\n\x87\n":                         "JPEG XL",
		"\xff\x0a\xfa\x1f":                                       "JPEG XL",
		"\x00\x00\x00\x0cjP  \r\n\x87\n":                         "JPEG 2000",
		"\xff\x4f\xff\x51\x00":                                   "JPEG 2000",
		"8BPS\x00\x01":                                           "Photoshop (PSD)",
		"%PDF-1.7":                                               "PDF",
		"\x00\x00\x01\x00\x01\x00":                               "ICO",
		"<svg xmlns=\"http://www.w3.org/2000/svg\">":             "SVG",
		"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- --><svg>":     "SVG",
		"<?xml version=\"1.0\"?><note/>":                         "XML",
		"\n <!DOCTYPE HTML><title>404":                           "a web page (HTML)",
		"version https://git-lfs.github.com/spec/v1\noid sha256": "a Git LFS pointer (the file itself was not fetched)",
	} {
		err := place(t, []byte(data))
		if err == nil || !strings.Contains(err.Error(), "transform: decode: "+want+", which penstock does not read") {
			t.Errorf("%q: error %v, want one that names %s", data, err, want)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q: %v is not errors.ErrUnsupported", data, err)
		}
	}
	for data, want := range map[string]string{
		"":                   "the file is empty",
		"plain":              `not a JPEG, PNG, GIF, WebP, BMP, TIFF or PNM file: it begins with "plain"`,
		"\x00\x00\x00\x20ft": `it begins with "\x00\x00\x00 ft"`,
	} {
		err := place(t, []byte(data))
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q: error %v, want %s", data, err, want)
		}
	}
}
