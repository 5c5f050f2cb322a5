package jpeg

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/internal/blockcode"
)

// A codedRow is one component's blocks of an MCU row.
type codedRow struct {
	blocks []blockcode.Block
	code   [2][]byte // by level, with slack
}

// codePhoto encodes the rows of a photo.
func codePhoto(tb testing.TB, data []byte) (rows []codedRow) {
	var d Decoder
	var e blockcode.Encoder
	if _, err := d.Header(data); err != nil {
		tb.Fatal(err)
	}
	if err := d.openScan(); err != nil {
		tb.Fatal(err)
	}
	for range d.mcuHigh {
		if err := d.decodeRow(0, d.mcuWide); err != nil {
			tb.Fatal(err)
		}
		for i := range d.components {
			r := codedRow{}
			for _, b := range d.components[i].row {
				r.blocks = append(r.blocks, blockcode.Block(b))
			}
			for level := range r.code {
				code, err := e.Append(nil, blockcode.Level(level), r.blocks)
				if err != nil {
					tb.Fatal(err)
				}
				r.code[level] = append(code, make([]byte, blockcode.Slack)...)[:len(code)]
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// photoPaths are the shared photos. In short tests it is one in twenty.
func photoPaths(tb testing.TB) (paths []string) {
	all, _ := filepath.Glob("../../../shared/photos/*/*.JPEG")
	if len(all) == 0 {
		tb.Skip("shared photos are missing")
	}
	for i, path := range all {
		if i%20 == 0 || !testing.Short() {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestPhotosAreCodedWithinTheirSizes(t *testing.T) {
	var d blockcode.Decoder
	files, coded := 0, [2]int{}
	for _, path := range photoPaths(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files += len(data)
		for _, r := range codePhoto(t, data) {
			blocks, last := make([]blockcode.Block, len(r.blocks)), make([]uint8, len(r.blocks))
			for level, code := range r.code {
				coded[level] += len(code)
				clear(blocks)
				if err := d.Decode(blocks, last, blockcode.Level(level), code); err != nil {
					t.Fatalf("%s: level %d: %v", path, level, err)
				}
				for i := range blocks {
					want := 0
					for k := range 64 {
						if r.blocks[i][zigzag[k]] != 0 {
							want = k
						}
					}
					if blocks[i] != r.blocks[i] || int(last[i]) != want {
						t.Fatalf("%s: level %d: block %d differs, or its last coefficient is %d, want %d", path, level, i, last[i], want)
					}
				}
			}
		}
	}
	fast, small := float64(coded[0])/float64(files), float64(coded[1])/float64(files)
	t.Logf("of the JPEG files: fast %.4f, small %.4f", fast, small)
	if fast > 1.30 || small > 1.03 {
		t.Errorf("of the JPEG files: fast %.4f, small %.4f, want at most 1.30 and 1.03", fast, small)
	}
}

// BenchmarkBlockcode decodes all blocks of a photo.
func BenchmarkBlockcode(b *testing.B) {
	for level, name := range []string{"fast", "small"} {
		b.Run(name, func(b *testing.B) {
			var photos [][]codedRow
			most := 0
			for i, path := range photoPaths(b) {
				if i%3 > 0 {
					continue
				}
				data, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				rows := codePhoto(b, data)
				photos = append(photos, rows)
				for _, r := range rows {
					most = max(most, len(r.blocks))
				}
			}
			var d blockcode.Decoder
			blocks, last := make([]blockcode.Block, most), make([]uint8, most)
			b.ReportAllocs()
			for b.Loop() {
				for _, rows := range photos {
					for _, r := range rows {
						n := len(r.blocks)
						if err := d.Decode(blocks[:n], last[:n], blockcode.Level(level), r.code[level]); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(photos)), "µs/photo")
		})
	}
}
