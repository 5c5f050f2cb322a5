package photo_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

var update = flag.Bool("update", false, "write testdata/golden.zip anew")

// golden are the images whose records are in testdata/golden.zip: grey and colours,
// several samplings, sequential and progressive, large coefficients.
var golden = []string{
	"gray-baseline-17x33-q50.jpg", "optimised-2x2-1x2-2x1-40x70-q95.jpg", "progressive-restart-2x2-40x70-q75.jpg",
	"rgb-subsampled.jpg", "separate-1x4-1x2-1x1-40x70-q75.jpg", "overflow-wide-0.jpg", "sample.jpg",
}

// turned is a file with Exif data that says how to turn it.
func turned(data []byte, orientation byte) []byte {
	segment := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(orientation) + "\x00\x00\x00\x00\x00\x00"
	return slices.Concat(data[:2], []byte(segment), data[2:])
}

func goldenName(name, level string) string {
	return strings.TrimSuffix(name, ".jpg") + "." + level
}

func TestGoldenRecordsStayReadableAndAreStillMade(t *testing.T) {
	const archive = "testdata/golden.zip"
	images := testImages(t)
	made := map[string][]byte{}
	for _, name := range golden {
		data := find(t, images, name)
		if name == "sample.jpg" {
			data = turned(data, 6)
		}
		for level := range levels {
			made[goldenName(name, level)] = pack(t, data, levels[level])
		}
		_, pixels, err := whole(new(jpeg.Decoder), data)
		if err != nil {
			t.Fatal(err)
		}
		made[goldenName(name, "sha256")] = fmt.Appendf(nil, "%x\n", sha256.Sum256(pixels))
	}
	if *update {
		writeZip(t, archive, made)
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	kept := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if kept[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != len(made) {
		t.Errorf("%d files in %s, want %d", len(kept), archive, len(made))
	}
	d := newDecoder()
	for name, record := range kept {
		if !bytes.Equal(made[name], record) {
			t.Errorf("%s: packing makes %d other bytes than the %d golden ones", name, len(made[name]), len(record))
		}
		level := path.Ext(name)
		if level == ".sha256" {
			continue
		}
		c, pixels, err := whole(d, record)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := string(kept[strings.TrimSuffix(name, level)+".sha256"]); fmt.Sprintf("%x\n", sha256.Sum256(pixels)) != want {
			t.Errorf("%s: other pixels", name)
		}
		if strings.HasPrefix(name, "sample") && c.Orientation != 6 {
			t.Errorf("%s: orientation %d, want 6", name, c.Orientation)
		}
	}
}

// writeZip writes files in the order of their names.
func writeZip(t *testing.T, name string, files map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
