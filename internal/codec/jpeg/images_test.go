package jpeg_test

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

var imagesPath = flag.String("images", "testdata/images.zip", "archive that testdata/make.py wrote")

// A testImage is a file with a synthetic image, and the hash of libjpeg's pixels.
type testImage struct {
	name string
	data []byte
	hash string // "error" if libjpeg refuses the file
}

func testImages(tb testing.TB) []testImage {
	archive, err := zip.OpenReader(*imagesPath)
	if err != nil {
		tb.Fatal(err)
	}
	defer archive.Close()
	contents := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		if contents[f.Name], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
		r.Close()
	}
	hashes := map[string]string{}
	if err := json.Unmarshal(contents["hashes.json"], &hashes); err != nil {
		tb.Fatal(err)
	}
	var set []testImage
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, ".jpg") {
			set = append(set, testImage{f.Name, contents[f.Name], hashes[f.Name]})
		}
	}
	if len(set) < 100 {
		tb.Fatalf("%d images in %s", len(set), *imagesPath)
	}
	return set
}

func TestImagesMatchLibjpeg(t *testing.T) {
	var d jpeg.Decoder
	for _, p := range testImages(t) {
		d.AllowTruncated = strings.HasPrefix(p.name, "truncated")
		c, err := d.Header(p.data)
		var pixels []byte
		if err == nil {
			pixels, err = whole(&d, c)
		}
		switch {
		case p.hash == "error" && err == nil:
			t.Errorf("%s: decoded, want an error", p.name)
		case p.hash != "error" && err != nil:
			t.Errorf("%s: %v", p.name, err)
		case p.hash != "error" && hash(pixels) != p.hash:
			t.Errorf("%s: %+v: pixels differ from libjpeg's", p.name, c)
		}
	}
}
