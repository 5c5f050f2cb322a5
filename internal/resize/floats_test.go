package resize_test

import (
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/resize"
)

// TestFloatWeightsAreThoseOfBytes compares both kinds of weights for many axes, by what they
// make of single samples.
func TestFloatWeightsAreThoseOfBytes(t *testing.T) {
	var w resize.FloatWeights
	for filter := resize.Bilinear; filter <= resize.Hamming; filter++ {
		for _, size := range [][2]int{{7, 7}, {9, 4}, {4, 9}, {101, 14}, {14, 101}, {1, 5}, {5, 1}} {
			for _, reverse := range []bool{false, true} {
				a := resize.Axis{Filter: filter, In: size[0], Out: size[1], From: size[1] / 3, To: size[1], Reverse: reverse}
				var want resize.Weights
				want.Compute(a)
				w.Compute(a)
				if w.Lo > want.Lo || w.Hi < want.Hi-1 {
					t.Fatalf("%v %v: from %d to %d, want %d to %d", filter, size, w.Lo, w.Hi, want.Lo, want.Hi)
				}
				n := a.To - a.From
				row, one, column := make([]float32, w.Hi-w.Lo), make([]float32, n), make([]float32, 1)
				rows, five := make([]float32, 5*(len(row)+1)), make([]float32, 5*n)
				for at := range row {
					clear(row)
					row[at] = 1
					w.Horizontal(one, n, row, len(row), 1)
					for r := range 5 {
						clear(rows[r*(len(row)+1):])
						rows[r*(len(row)+1)+at] = 1
					}
					w.Horizontal(five, n, rows, len(row)+1, 5)
					for i, v := range five {
						if v != one[i%n] {
							t.Fatalf("%v %v: %v in row %d of five, %v alone", filter, size, v, i/n, one[i%n])
						}
					}
					for i, got := range one {
						v := 0.0
						if j := at + w.Lo - want.Lo - int(want.First[i]); j >= 0 && j < int(want.Count[i]) {
							v = float64(want.K[i*want.Taps+j]) / resize.One
						}
						if math.Abs(float64(got)-v) > 2e-6 {
							t.Fatalf("%v %v reversed %v: weight of %d for %d is %v, want %v", filter, size, reverse, at, i, got, v)
						}
						if w.Vertical(column, row, 1, i); column[0] != got {
							t.Fatalf("%v %v: %v in columns, %v in rows", filter, size, column[0], got)
						}
					}
				}
			}
		}
	}
}

// TestFloatWeightsOfVeryWideRowsStayInThem computes the last positions of rows above 2^24, where float32 has
// no odd numbers.
func TestFloatWeightsOfVeryWideRowsStayInThem(t *testing.T) {
	var w resize.FloatWeights
	for filter := resize.Bilinear; filter <= resize.Hamming; filter++ {
		for in := 1<<25 - 9; in < 1<<25+9; in++ {
			for _, out := range []int{in - 1, in + 1, in + 5, in - in/3, in + in/3} {
				a := resize.Axis{Filter: filter, In: in, Out: out, From: out - 5, To: out}
				w.Compute(a)
				if w.Lo < in-64 || w.Hi > in || w.Lo >= w.Hi {
					t.Fatalf("%v: from %d to %d of %d", a, w.Lo, w.Hi, in)
				}
				row, got := make([]float32, w.Hi-w.Lo), make([]float32, 5)
				for i := range row {
					row[i] = 1
				}
				w.Horizontal(got, 5, row, len(row), 1)
				for i, v := range got {
					if math.Abs(float64(v)-1) > 1e-5 {
						t.Fatalf("%v: ones become %v at %d", a, v, i)
					}
				}
			}
		}
	}
}
