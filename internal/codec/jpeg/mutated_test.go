package jpeg_test

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

var (
	mutations   = flag.Int("mutations", 600, "how many mutated files to decode")
	mutatedPath = flag.String("mutated", "", "archive of mutated files to write for testdata/mutations.py")
)

const (
	mutatedPixels = 1 << 20 // a mutated file may declare

	// mutatedSlowness is how many times as long a mutated file may take as the
	// slowest valid one, per declared pixel and byte. Measured was 2, for photos
	// with large quantisation values, whose blocks the kernels leave to portable
	// code.
	mutatedSlowness = 3
)

// A bench decodes mutated files into one destination.
type bench struct {
	d   jpeg.Decoder // has seen the files before
	dst []byte

	portable, tolerant, tolerantPortable jpeg.Decoder
}

func newBench() *bench {
	b := &bench{d: jpeg.Decoder{MaxPixels: mutatedPixels}, dst: make([]byte, 4*mutatedPixels)}
	b.portable = jpeg.Decoder{MaxPixels: mutatedPixels}
	b.tolerant = jpeg.Decoder{MaxPixels: mutatedPixels, AllowTruncated: true}
	b.tolerantPortable = b.tolerant
	b.portable.Portable()
	b.tolerantPortable.Portable()
	return b
}

func (b *bench) decode(d *jpeg.Decoder, data []byte) (c jpeg.Config, pixels []byte, err error) {
	c, err = d.Header(data)
	if err != nil {
		return jpeg.Config{}, nil, err
	}
	return c, b.dst[:4*c.Width*c.Height], d.Decode(b.dst, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
}

// rate is the time that the used decoder takes, in nanoseconds per declared
// pixel and byte of the file. Headers count as a fixed number of them.
func (b *bench) rate(data []byte) float64 {
	const fixed = 20000
	begin := time.Now()
	c, _, _ := b.decode(&b.d, data)
	return float64(time.Since(begin)) / float64(c.Width*c.Height+len(data)+fixed)
}

// least is the least rate of some tries, when the machine was not busy.
func (b *bench) least(data []byte) float64 {
	least := b.rate(data)
	for range 9 {
		least = min(least, b.rate(data))
	}
	return least
}

// memoryFor is the limit of what a new decoder may allocate for a file: as much as
// its image needs, but not by the size in its header alone.
func memoryFor(c jpeg.Config, bytes int) uint64 {
	const tables, mcu = 256 << 10, 32
	padded := (c.Width + 2*mcu) * (c.Height + 2*mcu)
	return uint64(tables + 4*bytes + min(12*padded, 4096*bytes))
}

// TestMutatedFilesAreDecodedOrRefused looks for panics, for more memory than the
// image and the file need, for results that depend on the file before or on the kernel
// for entropy code, and for files that take much longer than valid ones of their size.
// With -mutations 100000 it takes minutes.
func TestMutatedFilesAreDecodedOrRefused(t *testing.T) {
	testenv.OneGoroutine(t)
	m := newMutator(t)
	b := newBench()
	results := map[string]string{}
	type slow struct {
		file int
		rate float64
	}
	var slowest []slow
	right := 0
	for i := range *mutations {
		data := m.file(i)

		c, err := (&jpeg.Decoder{MaxPixels: mutatedPixels}).Header(data)
		if err != nil {
			c = jpeg.Config{}
		}
		most := memoryFor(c, len(data))
		var pixels []byte
		if got := allocs.Bytes(most, func() {
			_, pixels, err = b.decode(&jpeg.Decoder{MaxPixels: mutatedPixels}, data)
		}); got > most {
			t.Errorf("mutation %d: %d bytes of memory for %d×%d pixels out of %d bytes, want at most %d",
				i, got, c.Width, c.Height, len(data), most)
		}
		result := verdict(pixels, err)
		results[fmt.Sprint(i)] = result
		if err == nil {
			right++
		} else if !strings.HasPrefix(result, "jpeg: at byte ") {
			t.Errorf("mutation %d: error without a place: %v", i, err)
		}

		rate := min(b.rate(data), b.rate(data))
		_, pixels, err = b.decode(&b.d, data)
		if again := verdict(pixels, err); again != result {
			t.Errorf("mutation %d: a new decoder gives %s, a used one %s", i, result, again)
		}
		if portable := b.verdict(&b.portable, data); portable != result {
			t.Errorf("mutation %d: the kernel gives %s, portable code %s", i, result, portable)
		}
		if got, want := b.verdict(&b.tolerant, data), b.verdict(&b.tolerantPortable, data); got != want {
			t.Errorf("mutation %d, which may be truncated: the kernel gives %s, portable code %s", i, got, want)
		}
		slowest = append(slowest, slow{i, rate})
		if len(slowest) == 1000 || i == *mutations-1 {
			slices.SortFunc(slowest, func(a, b slow) int { return cmp.Compare(b.rate, a.rate) })
			slowest = slowest[:min(20, len(slowest))]
		}
	}
	if right == 0 || right == *mutations {
		t.Errorf("%d of %d mutated files decode, want some", right, *mutations)
	}

	var sounds []slow
	for i := range m.files {
		sounds = append(sounds, slow{i, min(b.rate(m.files[i]), b.rate(m.files[i]))})
	}
	slices.SortFunc(sounds, func(a, b slow) int { return cmp.Compare(b.rate, a.rate) })
	sound, slowSound := 0.0, 0
	for _, s := range sounds[:8] {
		if rate := b.least(m.files[s.file]); rate > sound {
			sound, slowSound = rate, s.file
		}
	}
	worst := 0.0
	for _, s := range slowest {
		rate, limit := b.least(m.file(s.file)), mutatedSlowness*sound
		for try := range 20 { // other work on the machine may have slowed only one of them
			if rate <= limit {
				break
			}
			for i := 0; try == 0 && i < len(m.files); i++ { // or have hidden which valid file is the slowest
				if again := b.least(m.files[i]); again > sound {
					sound, slowSound = again, i
				}
			}
			limit = max(limit, mutatedSlowness*sound, mutatedSlowness*b.least(m.files[slowSound]))
			rate = min(rate, b.least(m.file(s.file)))
		}
		worst = max(worst, rate)
		if rate > limit {
			t.Errorf("mutation %d: %.1f ns per pixel and byte, a valid file takes %.1f", s.file, rate, sound)
		}
	}
	t.Logf("%d of %d decode; at most %.1f ns per pixel and byte, sound files %.1f", right, *mutations, worst, sound)
	if *mutatedPath != "" {
		writeMutated(t, m, results)
	}
}

func (b *bench) verdict(d *jpeg.Decoder, data []byte) string {
	_, pixels, err := b.decode(d, data)
	return verdict(pixels, err)
}

// verdict is the pixels' hash, or the error.
func verdict(pixels []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return hash(pixels)
}

// TestMutatedFilesAgreeWithLibjpeg repeats the files that testdata/mutations.py has
// kept. Files that libjpeg refuses are errors, and files that it decodes have its
// pixels. A file that it warns about is one or the other.
func TestMutatedFilesAgreeWithLibjpeg(t *testing.T) {
	archive, err := zip.OpenReader("testdata/mutated.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	read := func(name string) []byte {
		data, err := fs.ReadFile(archive, name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var want map[string]string
	if err := json.Unmarshal(read("results.json"), &want); err != nil {
		t.Fatal(err)
	}
	b := newBench()
	wrong := 0
	for name, want := range want {
		_, pixels, err := b.decode(&b.d, read(name))
		got := verdict(pixels, err)
		if err != nil {
			got = "error"
			wrong++
		}
		if got != want {
			t.Errorf("mutation %s: got %s (%v), libjpeg gives %s", name, got, err, want)
		}
	}
	if right := len(want) - wrong; right < 50 || wrong < 50 {
		t.Errorf("%d files decode and %d do not, want 50 of each or more", right, wrong)
	}
}

// writeMutated writes the mutated files, and results.json with the result of each.
func writeMutated(tb testing.TB, m *mutator, results map[string]string) {
	file, err := os.Create(*mutatedPath)
	if err != nil {
		tb.Fatal(err)
	}
	archive := zip.NewWriter(file)
	add := func(name string, data []byte) {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i := range *mutations {
		add(fmt.Sprint(i), m.file(i))
	}
	text, err := json.Marshal(results)
	if err != nil {
		tb.Fatal(err)
	}
	add("results.json", text)
	if err := errors.Join(archive.Close(), file.Close()); err != nil {
		tb.Fatal(err)
	}
}
