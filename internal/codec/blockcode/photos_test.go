package blockcode_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// photoPaths are the shared photos. In short tests it is one in twenty.
func photoPaths(tb testing.TB) (paths []string) {
	all, _ := filepath.Glob("../../../../shared/photos/*/*.JPEG")
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

// eachRow calls row with the blocks of every row of MCUs and component of a photo. They may
// change after the call. It returns the size of the file.
func eachRow(tb testing.TB, path string, row func(blocks []blockcode.Block)) int {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var d jpeg.Decoder
	if _, err := d.Header(data); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	if _, err := d.Coefficients(func(_ int, blocks *[4][]jpeg.Block) error {
		for _, component := range blocks {
			if len(component) > 0 {
				row(component)
			}
		}
		return nil
	}); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return len(data)
}

func TestPhotosAreCodedWithinTheirSizes(t *testing.T) {
	var e blockcode.Encoder
	var d blockcode.Decoder
	var code []byte
	files, coded := 0, [2]int{}
	for _, path := range photoPaths(t) {
		files += eachRow(t, path, func(want []blockcode.Block) {
			got, last := make([]blockcode.Block, len(want)), make([]uint8, len(want))
			for _, level := range levels {
				var err error
				if code, err = e.Append(code[:0], level, want); err != nil {
					t.Fatal(err)
				}
				coded[level] += len(code)
				if err := d.Decode(got, last, level, slices.Grow(code, blockcode.Slack)); err != nil {
					t.Fatalf("%s: level %d: %v", path, level, err)
				}
				for i := range want {
					if got[i] != want[i] || last[i] != lastPlace(&want[i]) {
						t.Fatalf("%s: level %d: block %d is %v and ends at %d, want %v and %d", path, level, i, got[i], last[i], want[i], lastPlace(&want[i]))
					}
				}
			}
		})
	}
	fast, small := float64(coded[0])/float64(files), float64(coded[1])/float64(files)
	t.Logf("of the JPEG files: fast %.4f, small %.4f", fast, small)
	if fast > 1.28 || small > 1.02 {
		t.Errorf("of the JPEG files: fast %.4f, small %.4f, want at most 1.28 and 1.02", fast, small)
	}
}

// BenchmarkDecode decodes all blocks of every sixth photo, again and again each of them, so
// that its code is in the cache.
func BenchmarkDecode(b *testing.B) {
	for level, name := range []string{"fast", "small"} {
		b.Run(name, func(b *testing.B) {
			type row struct {
				n    int // blocks
				code []byte
			}
			var photos [][]row
			var e blockcode.Encoder
			most := 0
			for i, path := range photoPaths(b) {
				if i%6 > 0 {
					continue
				}
				var rows []row
				eachRow(b, path, func(blocks []blockcode.Block) {
					code, err := e.Append(nil, blockcode.Level(level), blocks)
					if err != nil {
						b.Fatal(err)
					}
					rows = append(rows, row{len(blocks), slices.Grow(code, blockcode.Slack)})
					most = max(most, len(blocks))
				})
				photos = append(photos, rows)
			}
			var d blockcode.Decoder
			blocks, last := make([]blockcode.Block, most), make([]uint8, most)
			const times = 10
			b.ReportAllocs()
			for b.Loop() {
				for _, rows := range photos {
					for range times {
						for _, r := range rows {
							if err := d.Decode(blocks[:r.n], last[:r.n], blockcode.Level(level), r.code); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(photos)*times), "µs/photo")
		})
	}
}
