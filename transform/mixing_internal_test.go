package transform

import (
	"encoding/csv"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// records are the lines of a file of testdata/mixing, whose script says what is in it.
func records(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/mixing/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// numbers is the script's function of that name.
func numbers(seed uint32, n int) []int {
	values := make([]int, n)
	for k := range values {
		seed = seed*1664525 + 1013904223
		values[k] = int(seed >> 8)
	}
	return values
}

// valuesOf is the script's batch of that seed, as memory.
func valuesOf(seed uint32, n int, dtype string) []byte {
	switch raw := numbers(seed, n); dtype {
	case "float64":
		return converted(raw, func(v int) float64 { return float64(v)/(1<<21) - 4 })
	case "float16":
		return converted(raw, func(v int) dataset.F16 { return dataset.ToF16(float32(v)/(1<<21) - 4) })
	case "bfloat16":
		return converted(raw, func(v int) dataset.BF16 { return dataset.ToBF16(float32(v)/(1<<21) - 4) })
	case "uint8":
		return converted(raw, func(v int) uint8 { return uint8(v) })
	case "int64":
		return converted(raw, func(v int) int64 { return int64(v & 255) })
	default:
		return converted(raw, func(v int) float32 { return float32(v)/(1<<21) - 4 })
	}
}

func converted[T dense.Element](raw []int, f func(int) T) []byte {
	values := make([]T, len(raw))
	for k, v := range raw {
		values[k] = f(v)
	}
	return dense.Bytes(values)
}

var mixingDtypes = map[string]dataset.Dtype{"float32": dataset.Float32, "float64": dataset.Float64, "float16": dataset.Float16,
	"bfloat16": dataset.BFloat16, "uint8": dataset.Uint8, "int64": dataset.Int64}

// columnsOf makes a batch of the fields, with the given memory.
func columnsOf(n int, fields dataset.Spec, memory ...[]byte) dataset.Columns {
	var values []slots.Values
	for k, f := range fields {
		values = append(values, slots.Values{Field: slots.NewField(f.Name, f.Dtype.Type(), f.Bytes()), Bytes: memory[k]})
	}
	return dataset.Columns(slots.NewColumns(values, n, new(slots.Draw)))
}

// TestMixedBatchesAreTorchvisions compares with torchvision 0.29 bit for bit.
func TestMixedBatchesAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	for line, c := range records(t, "cases.csv") {
		b, ch, h, w, classes := atoi(t, c[3]), atoi(t, c[4]), atoi(t, c[5]), atoi(t, c[6]), atoi(t, c[7])
		lambda, err := strconv.ParseFloat(c[8], 64)
		if err != nil {
			t.Fatal(err)
		}
		seed := uint32(3 * line)
		spec := dataset.Spec{{Name: "image", Dtype: mixingDtypes[c[1]], Shape: dataset.Shape{ch, h, w}}, {Name: "label", Dtype: dataset.Int64}}
		labels := converted(numbers(seed+1, b), func(v int) int64 { return int64(v % classes) })
		mixed := make([]byte, 4*b*classes)
		if c[2] == "shares" {
			spec[1] = dataset.Field{Name: "label", Dtype: dataset.Float32, Shape: dataset.Shape{classes}}
			labels = valuesOf(seed+2, b*classes, "float32")
			mixed = labels
		}
		step := MixUp(1, classes).(program.Mixing)
		if c[0] == "CutMix" {
			step = CutMix(1, classes).(program.Mixing)
		}
		after, _, err := step.Bind(spec)
		if err != nil {
			t.Fatal(err)
		}
		images := valuesOf(seed, b*ch*h*w, c[1])
		src, dst := columnsOf(b, spec, images, labels), columnsOf(b, after, images, mixed)
		m, err := step.Mixer(spec)
		if err != nil {
			t.Fatal(err)
		}
		if m.Cut {
			draws := []int{atoi(t, c[9]), atoi(t, c[10])}
			g := engine.GridOf(m.Field)
			if g.H != h || g.W != w {
				continue // torchvision does not know images with channels last
			}
			box := engine.DrawBox(lambda, w, h, func(int) int {
				draw := draws[0]
				draws = draws[1:]
				return draw
			})
			g.Exchange(images, b, box)
			lambda = box.Kept(w, h)
		} else {
			m.MixImages(dst, lambda)
		}
		if err := m.MixLabels(dst, src, lambda); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(crc32.ChecksumIEEE(images), crc32.ChecksumIEEE(mixed))
		if want := c[11] + " " + c[12]; got != want {
			t.Errorf("line %d: %v: checksums %s, want %s", line+1, c[:11], got, want)
		}
	}
}

func TestCutMixKnowsImagesWithChannelsLast(t *testing.T) {
	const n, h, w, c = 3, 6, 5, 3
	planar, packed := make([]byte, n*h*w*c), make([]byte, n*h*w*c)
	for k := range n {
		for i := range h * w * c {
			ch, at := i/(h*w), i%(h*w)
			planar[k*h*w*c+i] = byte(90*k + i)
			packed[k*h*w*c+at*c+ch] = byte(90*k + i)
		}
	}
	box := engine.CutBox{X1: 1, Y1: 2, X2: 4, Y2: 6}
	engine.GridOf(dataset.Field{Dtype: dataset.Uint8, Shape: dataset.Shape{c, h, w}}).Exchange(planar, n, box)
	engine.GridOf(dataset.Field{Dtype: dataset.Uint8, Shape: dataset.Shape{h, w, c}}).Exchange(packed, n, box)
	for k := range n {
		for i := range h * w * c {
			ch, at := i/(h*w), i%(h*w)
			if got, want := packed[k*h*w*c+at*c+ch], planar[k*h*w*c+i]; got != want {
				t.Fatalf("image %d, channel %d, pixel %d: %d, want %d", k, ch, at, got, want)
			}
		}
	}
}

// TestLambdaIsDistributedLikeTorchvisions is a Kolmogorov-Smirnov test at the
// percentiles of torchvision's draws. λ of CutMix is discrete, so both sides of a
// percentile count.
func TestLambdaIsDistributedLikeTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	const n = 20000
	// 1.95/√n is the limit for one in 1000 of right samples; torchvision's 50000 add to it.
	const limit = 1.95*0.00707 + 1.95*0.00447
	for _, c := range records(t, "quantiles.csv") {
		alpha, err := strconv.ParseFloat(c[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, 11))
		lambdas := make([]float64, n)
		for k := range lambdas {
			lambdas[k] = float64(min(max(float32(engine.Beta(alpha, r)), 0x1p-126), 1-0x1p-24)) // torch clamps its float32 numbers
			if c[0] == "CutMix" {
				lambdas[k] = engine.DrawBox(lambdas[k], 32, 24, r.IntN).Kept(32, 24)
			}
		}
		worst := 0.0
		for k, text := range c[2:] {
			q, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			below, upTo := 0.0, 0.0
			for _, lambda := range lambdas {
				if lambda < q {
					below += 1.0 / n
				}
				if lambda <= q {
					upTo += 1.0 / n
				}
			}
			want := float64(k+1) / 100
			worst = max(worst, want-upTo, below-want)
		}
		if worst > limit {
			t.Errorf("%s, alpha %v: distance %.4f, want %.4f at most", c[0], alpha, worst, limit)
		}
	}
}
