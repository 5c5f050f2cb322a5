package blockcode

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	stdjpeg "image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

var choose = flag.String("choose", "", "choose the code sets for JPEG files of this pattern, and write codelengths.bin")

// lengths are those of the codes of a set. While sets are chosen, they are not whole.
type lengths [compressed][256]float64

// A plane is the brightness or the colours of a photo: how often each byte occurs in its
// streams.
type plane struct {
	counts lengths
	weight float64
}

// TestChooseCodeSets makes the code sets anew if it is asked to. They are the centres of
// clusters of planes (Lloyd's k-means algorithm). The distance is the size of a plane with
// the set's codes: at first their ideal lengths, in the last rounds those of Huffman codes.
// Half of the photos count at other qualities too. A plane's weight is such that a photo of
// four times the size counts twice.
func TestChooseCodeSets(t *testing.T) {
	if *choose == "" {
		t.Skip("needs -choose")
	}
	planes := planesOf(t, *choose)
	slices.SortFunc(planes, func(a, b plane) int { return cmp.Compare(a.spread(), b.spread()) })
	const sets, rounds, ideal = codeSets - 1, 25, 20
	nearest := make([]int, len(planes))
	for i := range planes {
		nearest[i] = i * sets / len(planes)
	}
	var centres [sets]lengths
	for round := range rounds {
		var sums [sets]lengths
		for i, p := range planes {
			for s := range p.counts {
				for symbol, n := range p.counts[s] {
					sums[nearest[i]][s][symbol] += p.weight * n
				}
			}
		}
		for i := range sums {
			for s := range sums[i] {
				smooth(&sums[i][s])
				if round < ideal {
					centres[i][s] = idealLengths(&sums[i][s])
				} else {
					centres[i][s] = huffmanLengths(&sums[i][s])
				}
			}
		}
		total := 0.0
		for i, p := range planes {
			least := math.Inf(1)
			for set := range centres {
				if size := p.size(&centres[set]); size < least {
					least, nearest[i] = size, set
				}
			}
			total += p.weight * least
		}
		t.Logf("round %d: %.0f", round, total)
	}
	file := bytes.Repeat([]byte{8<<4 | 8}, compressed*128)
	for _, c := range centres {
		for s := range c {
			for symbol := 0; symbol < 256; symbol += 2 {
				file = append(file, byte(c[s][symbol])|byte(c[s][symbol+1])<<4)
			}
		}
	}
	if err := os.WriteFile("codelengths.bin", file, 0o644); err != nil {
		t.Fatal(err)
	}
}

// planesOf reads files as they are, and every second one also at other qualities.
func planesOf(t *testing.T, pattern string) (planes []plane) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files match %s: %v", len(paths), pattern, err)
	}
	var d jpeg.Decoder
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		planes = append(planes, planesOfFile(t, &d, data, 1.5)...)
		if i%2 == 1 {
			continue
		}
		c, err := d.Header(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		img := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
		if err := d.Decode(img.Pix, img.Stride, img.Rect); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, quality := range []int{40, 60, 75, 85, 92, 97} {
			var b bytes.Buffer
			if err := stdjpeg.Encode(&b, img, &stdjpeg.Options{Quality: quality}); err != nil {
				t.Fatal(err)
			}
			planes = append(planes, planesOfFile(t, &d, b.Bytes(), 1)...)
		}
	}
	return planes
}

func planesOfFile(t *testing.T, d *jpeg.Decoder, data []byte, weight float64) []plane {
	if _, err := d.Header(data); err != nil {
		t.Fatal(err)
	}
	var e Encoder
	var planes [2]plane
	_, err := d.Coefficients(func(_ int, blocks *[4][]jpeg.Block) error {
		for i, row := range blocks {
			if len(row) == 0 {
				continue
			}
			e.gather(row)
			for s, part := range [compressed][]byte{e.lengths, e.dcs, e.masks, e.values, e.escapes} {
				for _, symbol := range part {
					planes[min(i, 1)].counts[s][symbol]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range planes {
		p := &planes[i]
		own := p.ideal()
		p.weight = weight / math.Sqrt(p.size(&own)/8+100)
	}
	if planes[1].total() == 0 {
		return planes[:1]
	}
	return planes[:]
}

// ideal returns the lengths that are best for the plane alone.
func (p *plane) ideal() (l lengths) {
	for s := range l {
		l[s] = idealLengths(&p.counts[s])
	}
	return l
}

// size returns the plane's size in bits.
func (p *plane) size(l *lengths) (bits float64) {
	for s := range l {
		for symbol, n := range p.counts[s] {
			if n > 0 {
				bits += n * l[s][symbol]
			}
		}
	}
	return bits
}

func (p *plane) total() (n float64) {
	for s := range p.counts {
		for _, m := range p.counts[s] {
			n += m
		}
	}
	return n
}

// spread orders the planes for the first clusters: it grows with the quality.
func (p *plane) spread() float64 {
	own, escapes := p.ideal(), 0.0
	for _, n := range p.counts[4] {
		escapes += n
	}
	return (p.size(&own) + 8*escapes) / p.total()
}

// smooth makes all counts positive.
func smooth(counts *[256]float64) {
	total := 1.0
	for _, n := range counts {
		total += n
	}
	for i := range counts {
		counts[i] += total / 160000
	}
}

func idealLengths(counts *[256]float64) (l [256]float64) {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	for i, n := range counts {
		l[i] = math.Log2(total / n)
	}
	return l
}

// huffmanLengths returns the lengths of the best code of at most codeBits bits: the
// package-merge algorithm (Larmore and Hirschberg, "A fast algorithm for optimal
// length-limited Huffman codes", Journal of the ACM 37, 1990).
func huffmanLengths(counts *[256]float64) (l [256]float64) {
	type item struct {
		weight  float64
		symbols []uint8
	}
	single := make([]item, 256)
	for i := range single {
		single[i] = item{counts[i], []uint8{uint8(i)}}
	}
	byWeight := func(a, b item) int { return cmp.Compare(a.weight, b.weight) }
	slices.SortStableFunc(single, byWeight)
	items := single
	for range codeBits - 1 {
		merged := slices.Clone(single)
		for i := 0; i+1 < len(items); i += 2 {
			a, b := items[i], items[i+1]
			merged = append(merged, item{a.weight + b.weight, slices.Concat(a.symbols, b.symbols)})
		}
		slices.SortStableFunc(merged, byWeight)
		items = merged
	}
	for _, it := range items[:2*len(single)-2] {
		for _, symbol := range it.symbols {
			l[symbol]++
		}
	}
	return l
}
