package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
)

// A tensor is what the user's program made.
type tensor struct {
	values []float32
	shape  []int // as the file says it; nil for raw values
	dtype  string
	bits   int     // of the fraction: 23, or 10 for float16 and 7 for bfloat16, even if they are stored as float32
	most   float64 // the greatest value, without its sign
}

// readTensor reads a file of NumPy or safetensors, or raw float32 in little-endian order. name is the tensor to take from
// a file that has several; "" is pixel_values, or the only one.
func readTensor(path, name string) (t tensor, err error) {
	kind := strings.ToLower(filepath.Ext(path))
	if kind == ".npy" {
		t, err = readNumPy(path)
	} else if data, e := os.ReadFile(path); e != nil {
		err = e
	} else if kind == ".safetensors" {
		t, err = readSafetensors(data, name)
	} else if strings.HasPrefix(string(data), "\x93NUMPY") {
		err = errors.New("it is an .npy file under another name")
	} else {
		t.dtype = "raw float32"
		t.values, err = decoded("F32", data)
	}
	if err == nil {
		err = t.finish()
	}
	if err != nil {
		return t, fmt.Errorf("-tensor %s: %w", path, err)
	}
	return t, nil
}

// finish looks at all values.
func (t *tensor) finish() error {
	n := 1.0
	for _, side := range t.shape {
		n *= float64(max(side, 0))
	}
	if len(t.values) == 0 || t.shape != nil && n != float64(len(t.values)) {
		return fmt.Errorf("shape %v: it has %d values", t.shape, len(t.values))
	}
	for len(t.shape) > 3 && t.shape[0] == 1 {
		t.shape = t.shape[1:]
	}
	if len(t.shape) > 3 {
		return fmt.Errorf("shape %v: want the tensor of one image", t.shape)
	}
	isWhole, common := true, uint32(0)
	for i, v := range t.values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
		t.most = max(t.most, math.Abs(float64(v)))
		isWhole = isWhole && v == float32(math.Trunc(float64(v)))
		common |= math.Float32bits(v)
	}
	if t.bits = 23; !isWhole && common&(1<<16-1) == 0 {
		t.bits = 7
	} else if !isWhole && common&(1<<13-1) == 0 {
		t.bits = 10
	}
	return nil
}

// tolerance is how many levels a value u may be off by rounding, if a level is a: one level of 16 bits, for float32 arithmetic such as
// the places of a resize, and what the dtype rounds.
func (t *tensor) tolerance(u, a float64) float64 {
	ulps := 0.5
	if t.bits == 23 {
		ulps = 4 // of the steps before
	}
	return 1.0/257 + ulps*math.Ldexp(math.Abs(u/a), -t.bits)
}

// size is the width and the height that the shape says, or 0, 0.
func (t *tensor) size() image.Point {
	switch s := t.shape; {
	case len(s) == 3 && s[0] == 3:
		return image.Pt(s[2], s[1])
	case len(s) == 3 && s[2] == 3:
		return image.Pt(s[1], s[0])
	}
	return image.Point{}
}

func (t *tensor) String() string {
	text := fmt.Sprintf("%s, %d values", t.dtype, len(t.values))
	if t.shape != nil {
		text = t.dtype + " " + strings.ReplaceAll(strings.Trim(fmt.Sprint(t.shape), "[]"), " ", "×")
	}
	return text + map[int]string{7: ", rounded to bfloat16", 10: ", rounded to float16"}[t.bits]
}

func readNumPy(path string) (t tensor, err error) {
	name := regexp.MustCompile(`[*?[\\]`).ReplaceAllString(filepath.Base(path), `\$0`) // it is no pattern
	ds, err := npy.Items(os.DirFS(filepath.Dir(path)), name, "tensor")
	if err != nil {
		return t, err
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		return t, err
	}
	all := sample["tensor"]
	t.dtype, t.shape = all.Dtype().String(), all.Shape()
	code := map[dataset.Dtype]string{dataset.Float32: "F32", dataset.Float64: "F64", dataset.Uint8: "U8"}[all.Dtype()]
	if code == "" {
		return t, fmt.Errorf("dtype %s: want float16, float32, float64 or uint8", t.dtype)
	}
	t.values, err = decoded(code, all.Bytes()) // float16 is float32 there
	return t, err
}

// readSafetensors reads one tensor of a file: see https://huggingface.co/docs/safetensors.
func readSafetensors(file []byte, name string) (t tensor, err error) {
	if len(file) < 8 || binary.LittleEndian.Uint64(file) > uint64(len(file)-8) {
		return t, errors.New("the header is longer than the file")
	}
	header, data := file[8:][:binary.LittleEndian.Uint64(file)], file[8+binary.LittleEndian.Uint64(file):]
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &all); err != nil {
		return t, fmt.Errorf("header: %w", err)
	}
	delete(all, "__metadata__")
	names := slices.Sorted(maps.Keys(all))
	if name == "" {
		name = "pixel_values"
		if len(names) == 1 {
			name = names[0]
		}
	}
	var e struct {
		Dtype   string
		Shape   []int
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if all[name] == nil {
		return t, fmt.Errorf("it has no tensor %q, but %q: see -name", name, names[:min(len(names), 10)])
	} else if err := json.Unmarshal(all[name], &e); err != nil {
		return t, fmt.Errorf("tensor %q: %w", name, err)
	}
	if e.Offsets[0] > e.Offsets[1] || e.Offsets[1] > uint64(len(data)) {
		return t, fmt.Errorf("tensor %q: its offsets %d are not those of %d bytes", name, e.Offsets, len(data))
	}
	t.dtype, t.shape = e.Dtype, e.Shape
	t.values, err = decoded(e.Dtype, data[e.Offsets[0]:e.Offsets[1]])
	return t, err
}

// decoded makes float32 of values in little-endian order.
func decoded(dtype string, data []byte) ([]float32, error) {
	size := map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "U8": 1}[dtype]
	switch {
	case size == 0:
		return nil, fmt.Errorf("dtype %s: want F16, BF16, F32, F64 or U8", dtype)
	case len(data)%size != 0:
		return nil, fmt.Errorf("%d bytes of %s: the number is no multiple of %d", len(data), dtype, size)
	}
	all, little := make([]float32, len(data)/size), binary.LittleEndian
	for i := range all {
		switch b := data[size*i:]; dtype {
		case "U8":
			all[i] = float32(b[0])
		case "F64":
			all[i] = float32(math.Float64frombits(little.Uint64(b)))
		case "F32":
			all[i] = math.Float32frombits(little.Uint32(b))
		case "BF16":
			all[i] = dataset.BF16(little.Uint16(b)).Float32()
		case "F16":
			all[i] = dataset.F16(little.Uint16(b)).Float32()
		}
	}
	return all, nil
}
