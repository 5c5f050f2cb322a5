//go:build unix

package parquet

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

var files = flag.String("files", "../../dataset/shards/parquet/testdata", "folder with photos.parquet and groups.parquet, as testdata/peers.py of dataset/shards/parquet makes them")

// names are the files, in the folder files.
var names = []string{"photos.parquet", "groups.parquet"}

const blockSize = 4 << 20

// open opens both sides, which are closed with the test. size is that of penstock's blocks.
func open(t testing.TB, name string, size int64) (sides [2]side, ends []int) {
	t.Helper()
	ours, err := openOwn(t.Context(), *files, name, size)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := openArrow(*files, name)
	if err != nil {
		t.Fatal(err)
	}
	sides = [2]side{ours, theirs}
	for _, s := range sides {
		t.Cleanup(func() {
			if err := s.close(); err != nil {
				t.Error(err)
			}
		})
	}
	return sides, ours.ends
}

// A sample is what a side has given.
type sample struct {
	image []byte
	label int64
}

func TestBothSidesGiveTheSameRows(t *testing.T) {
	for _, name := range names {
		sides, ends := open(t, name, blockSize)
		rows := make([][]sample, len(sides))
		for k, s := range sides {
			for _, i := range jumps(ends[len(ends)-1]) {
				image, label, err := s.row(i)
				if err != nil {
					t.Fatal(err)
				}
				rows[k] = append(rows[k], sample{bytes.Clone(image), label})
			}
			if err := blocks(s, ends, 1, func(image []byte, label int64) { rows[k] = append(rows[k], sample{bytes.Clone(image), label}) }); err != nil {
				t.Fatal(err)
			}
		}
		if len(rows[0]) != 2*ends[len(ends)-1] || !slices.EqualFunc(rows[0], rows[1], func(a, b sample) bool { return bytes.Equal(a.image, b.image) && a.label == b.label }) {
			t.Errorf("%s: penstock gave %d rows, arrow-go %d, or other ones: want the same %d", name, len(rows[0]), len(rows[1]), 2*ends[len(ends)-1])
		}
		for _, r := range rows[1] {
			if !bytes.HasPrefix(r.image, []byte("\xff\xd8")) {
				t.Fatalf("%s: an image is no JPEG file", name)
			}
		}
	}
}

// BenchmarkRow reads single rows, none of the page of the row before.
func BenchmarkRow(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			sides, ends := open(b, name, 1)
			order := jumps(ends[len(ends)-1])
			compare(b, len(order), func(turn, side int) error {
				for _, i := range order {
					if _, _, err := sides[side].row(i); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// BenchmarkBlock reads blocks in a random order, and the rows of each in a random order.
func BenchmarkBlock(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			sides, ends := open(b, name, blockSize)
			compare(b, ends[len(ends)-1], func(turn, side int) error {
				return blocks(sides[side], ends, uint64(turn), func([]byte, int64) {})
			})
		})
	}
}

// compare has both sides read rows in turns.
func compare(b *testing.B, rows int, read func(turn, side int) error) {
	var took, used [2][]float64 // in µs a row
	for turn := 0; b.Loop(); turn++ {
		for k := range 2 {
			side := (turn + k) % 2
			begun, before := time.Now(), processorTime(b)
			if err := read(turn, side); err != nil {
				b.Fatal(err)
			}
			took[side] = append(took[side], float64(time.Since(begun).Nanoseconds())/1e3/float64(rows))
			used[side] = append(used[side], float64((processorTime(b)-before).Nanoseconds())/1e3/float64(rows))
		}
	}
	ratios := make([]float64, len(used[0]))
	for k := range ratios {
		ratios[k] = used[1][k] / max(used[0][k], 1e-3)
	}
	b.ReportMetric(0, "ns/op") // of both sides together
	b.ReportMetric(median(took[0]), "penstock-µs/row")
	b.ReportMetric(median(took[1]), "arrow-go-µs/row")
	b.ReportMetric(median(used[0]), "penstock-CPU-µs/row")
	b.ReportMetric(median(used[1]), "arrow-go-CPU-µs/row")
	b.ReportMetric(median(ratios), "times-the-CPU")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// jumps is an order of n rows whose neighbours are far from each other in the file.
func jumps(n int) []int {
	step := max(1, n*3/8)
	for a, b := step, n; ; a, b = step, n { // until both have no common divisor
		for b > 0 {
			a, b = b, a%b
		}
		if a == 1 {
			break
		}
		step++
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k * step % n
	}
	return order
}

// blocks reads all blocks in a random order.
func blocks(s side, ends []int, seed uint64, give func([]byte, int64)) error {
	random := rand.New(rand.NewPCG(1, seed))
	for _, k := range random.Perm(len(ends)) {
		begin := 0
		if k > 0 {
			begin = ends[k-1]
		}
		if err := s.block(begin, ends[k], random.Perm(ends[k]-begin), give); err != nil {
			return err
		}
	}
	return nil
}

// processorTime is that of this process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
