package audio_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/datatest"
)

// expected is what testdata/sounds.py has found in a file.
type expected struct {
	Rate, Channels int
	Frames         int64
	SHA256         string
	Readers        []string
}

// sounds are the files of testdata/sounds.zip, and what is in them.
func sounds(t testing.TB) (files map[string][]byte, golden map[string]expected) {
	t.Helper()
	var g struct{ Files map[string]expected }
	datatest.JSON(t, "testdata/sounds.json", &g)
	files = datatest.Archive(t, "testdata/sounds.zip")
	if len(files) != len(g.Files) {
		t.Fatalf("%d files, and %d expected", len(files), len(g.Files))
	}
	return files, g.Files
}

// digest is the first 16 digits of the SHA-256 of values as little-endian numbers.
func digest(values []float32) string {
	var all []byte
	for _, v := range values {
		all = binary.LittleEndian.AppendUint32(all, math.Float32bits(v))
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:8])
}

func TestSoundsAreThoseOfLibsndfile(t *testing.T) {
	files, golden := sounds(t)
	readers := map[string]int{}
	for name, data := range files {
		wave, info, err := audio.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := golden[name]
		if info.Rate != want.Rate || info.Channels != want.Channels || info.Frames != want.Frames || digest(wave) != want.SHA256 {
			t.Errorf("%s: got %+v with %s, want %+v", name, info, digest(wave), want)
		}
		if format := strings.ToUpper(path.Ext(name)[1:]); info.Format != format {
			t.Errorf("%s is %s, want %s", name, info.Format, format)
		}
		for _, r := range want.Readers {
			readers[r]++
		}
	}
	if readers["libsndfile"] < 90 || readers["ffmpeg"] < 90 {
		t.Errorf("only %v files of %d are compared with others", readers, len(files))
	}
}

func TestPartsAreThoseOfTheWhole(t *testing.T) {
	files, _ := sounds(t)
	random := rand.New(rand.NewPCG(1, 2))
	for name, data := range files {
		whole, info, err := audio.Decode(data)
		if err != nil || info.Frames == 0 {
			continue // which other tests report
		}
		f, err := audio.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		c := int64(info.Channels)
		for range 20 {
			from := random.Int64N(info.Frames)
			n := random.Int64N(info.Frames-from) + 1
			got := make([]float32, n*c)
			if err := f.Read(got, from); err != nil {
				t.Errorf("%s: frames from %d on: %v", name, from, err)
			} else if digest(got) != digest(whole[from*c:(from+n)*c]) {
				t.Errorf("%s: %d frames from %d on differ from those of the whole", name, n, from)
			}
		}
		if err := f.Read(make([]float32, c), info.Frames); err == nil {
			t.Errorf("%s: the frame after the last one gives no error", name)
		}
		if err := f.Read(make([]float32, c), -1); err == nil {
			t.Errorf("%s: frame -1 gives no error", name)
		}
	}
}
