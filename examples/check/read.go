package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
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

// maxValues is the most values that a tensor may have.
const maxValues = 1 << 26

// readTensor reads a file of NumPy or safetensors, or raw float32 in little-endian order. name is the tensor to take from
// a file that has several; "" is pixel_values, or the only one.
func readTensor(path, name string) (t tensor, err error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy":
		t, err = readNumPy(path)
	case ".safetensors":
		t, err = readSafetensors(path, name)
	default:
		t, err = readRaw(path)
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
	for len(t.shape) > 3 && t.shape[0] == 1 {
		t.shape = t.shape[1:]
	}
	if len(t.shape) > 3 {
		return fmt.Errorf("shape %v: want the tensor of one image", t.shape)
	}
	whole, common := true, uint32(0)
	for i, v := range t.values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
		t.most = max(t.most, math.Abs(float64(v)))
		whole = whole && v == float32(math.Trunc(float64(v)))
		common |= math.Float32bits(v)
	}
	switch t.bits = 23; {
	case whole:
	case common&(1<<16-1) == 0:
		t.bits = 7
	case common&(1<<13-1) == 0:
		t.bits = 10
	}
	return nil
}

// tolerance is how many levels a value u may be off by rounding: one level of 16 bits, for float32 arithmetic such as the places
// of a resize, and what the dtype rounds.
func (t *tensor) tolerance(u float64, v *values) float64 {
	const level = 1.0 / 257
	least := math.Inf(1)
	for c := range 3 {
		_, a, _ := v.channel(c)
		least = min(least, math.Abs(a))
	}
	ulps := 0.5
	if t.bits == 23 {
		ulps = 4 // of the steps before
	}
	return level + ulps*math.Ldexp(math.Abs(u), -t.bits)/least
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
	text := t.dtype
	if t.shape != nil {
		text += " " + strings.ReplaceAll(strings.Trim(fmt.Sprint(t.shape), "[]"), " ", "×")
	} else {
		text += fmt.Sprintf(", %d values", len(t.values))
	}
	switch t.bits {
	case 7:
		text += ", rounded to bfloat16"
	case 10:
		text += ", rounded to float16"
	}
	return text
}

// readNumPy reads an .npy file: for package npy, its first dimension is that of samples.
func readNumPy(path string) (t tensor, err error) {
	ds, err := npy.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path), "tensor", npy.MaxBytes(8*maxValues))
	if err != nil {
		return t, err
	}
	field := ds.Spec()[0]
	t.dtype, t.shape = field.Dtype.String(), append([]int{ds.Len()}, field.Shape...)
	if n := field.Elements(); n < 1 || ds.Len() > maxValues/n {
		return t, fmt.Errorf("shape %v: want from 1 to %d values", t.shape, maxValues)
	}
	for i := range ds.Len() {
		sample, err := dataset.At(context.Background(), ds, i)
		if err != nil {
			return t, err
		}
		switch all := sample["tensor"].Data().(type) {
		case []float32:
			t.values = append(t.values, all...)
		case []float64:
			t.values = appendFloats(t.values, all)
		case []uint8:
			t.values = appendFloats(t.values, all)
		case float32: // samples without a dimension
			t.values = append(t.values, all)
		case float64:
			t.values = append(t.values, float32(all))
		case uint8:
			t.values = append(t.values, float32(all))
		default:
			return t, fmt.Errorf("dtype %s: want float16, float32, float64 or uint8", t.dtype)
		}
	}
	return t, nil
}

func appendFloats[T float64 | uint8](to []float32, all []T) []float32 {
	for _, v := range all {
		to = append(to, float32(v))
	}
	return to
}

// readSafetensors reads one tensor of a file: see https://huggingface.co/docs/safetensors.
func readSafetensors(path, name string) (t tensor, err error) {
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	var length uint64
	if err := binary.Read(file, binary.LittleEndian, &length); err != nil {
		return t, err
	}
	const most = 1 << 22
	if length > most {
		return t, fmt.Errorf("the header has %d bytes: want %d at most", length, most)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(file, text); err != nil {
		return t, err
	}
	type entry struct {
		Dtype   string
		Shape   []int
		Offsets [2]int64 `json:"data_offsets"`
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return t, fmt.Errorf("header: %w", err)
	}
	delete(raw, "__metadata__")
	names := slices.Sorted(maps.Keys(raw))
	if name == "" && len(names) == 1 {
		name = names[0]
	} else if name == "" {
		name = "pixel_values"
	}
	var e entry
	if raw[name] == nil {
		return t, fmt.Errorf("it has no tensor %q, but %q: see -name", name, names[:min(len(names), 10)])
	} else if err := json.Unmarshal(raw[name], &e); err != nil {
		return t, fmt.Errorf("tensor %q: %w", name, err)
	}
	size := map[string]int64{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "U8": 1}[e.Dtype]
	n := int64(1)
	for _, side := range e.Shape {
		if side < 1 || n > maxValues/int64(side) {
			return t, fmt.Errorf("tensor %q: shape %v: want from 1 to %d values", name, e.Shape, maxValues)
		}
		n *= int64(side)
	}
	if size == 0 {
		return t, fmt.Errorf("tensor %q: dtype %s: want F16, BF16, F32, F64 or U8", name, e.Dtype)
	}
	if e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != n*size {
		return t, fmt.Errorf("tensor %q: its offsets %d are not those of %d values", name, e.Offsets, n)
	}
	data := make([]byte, n*size)
	if _, err := file.ReadAt(data, 8+int64(length)+e.Offsets[0]); err != nil {
		return t, fmt.Errorf("tensor %q: %w", name, err)
	}
	t.dtype, t.shape, t.values = e.Dtype, e.Shape, decoded(e.Dtype, data)
	return t, nil
}

// decoded makes float32 of values in little-endian order.
func decoded(dtype string, data []byte) (all []float32) {
	little := binary.LittleEndian
	switch dtype {
	case "U8":
		return appendFloats(nil, data)
	case "F64":
		for b := range slices.Chunk(data, 8) {
			all = append(all, float32(math.Float64frombits(little.Uint64(b))))
		}
	case "F32":
		for b := range slices.Chunk(data, 4) {
			all = append(all, math.Float32frombits(little.Uint32(b)))
		}
	case "BF16":
		for b := range slices.Chunk(data, 2) {
			all = append(all, math.Float32frombits(uint32(little.Uint16(b))<<16))
		}
	case "F16":
		for b := range slices.Chunk(data, 2) {
			all = append(all, half(little.Uint16(b)))
		}
	}
	return all
}

// half is the float16 of these bits.
func half(bits uint16) float32 {
	sign, exponent, fraction := 1.0, int(bits>>10&31), float64(bits&1023)
	if bits>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return float32(math.Ldexp(sign*fraction, -24))
	case 31:
		return float32(math.NaN())
	}
	return float32(math.Ldexp(sign*(1024+fraction), exponent-25))
}

// readRaw reads float32 values, one after the other.
func readRaw(path string) (t tensor, err error) {
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 4*maxValues+1))
	switch {
	case err != nil:
		return t, err
	case len(data)%4 != 0:
		return t, errors.New("want .npy, .safetensors, or raw float32 values: its size is no multiple of 4")
	case len(data) > 4*maxValues:
		return t, fmt.Errorf("want %d values at most", maxValues)
	case bytes.HasPrefix(data, []byte("\x93NUMPY")):
		return t, errors.New("it is an .npy file under another name")
	}
	t.dtype, t.values = "raw float32", decoded("F32", data)
	return t, nil
}
