package net

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A checkpoint is a file in the format safetensors
// (https://github.com/huggingface/safetensors), which other tools read: the
// header's length in 8 bytes, the header in JSON, and the tensors' bytes, without
// a gap. All numbers are little-endian.
const (
	metadataKey = "__metadata__"
	digestKey   = "sha256" // of the header without this entry, and the bytes
)

// entry is a tensor in the header.
type entry struct {
	Dtype   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets *[2]int64 `json:"data_offsets"` // after the header
}

// encode writes the arrays and the metadata. The same input gives the same bytes.
func encode(arrays []Array, metadata map[string]string) ([]byte, error) {
	header := map[string]any{}
	var data []byte
	for _, a := range arrays {
		begin := int64(len(data))
		for _, v := range a.Values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		if _, exists := header[a.Name]; exists || a.Name == metadataKey {
			return nil, fmt.Errorf("two tensors are named %s", a.Name)
		}
		header[a.Name] = entry{"F32", a.Shape, &[2]int64{begin, int64(len(data))}}
	}
	text := map[string]string{}
	for k, v := range metadata {
		text[k] = v
	}
	header[metadataKey] = text
	sum, err := digest(header, data)
	if err != nil {
		return nil, err
	}
	text[digestKey] = sum
	head, err := marshal(header)
	if err != nil {
		return nil, err
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(file, head...), data...), nil
}

// marshal writes a header. Spaces after it align the tensors.
func marshal(header any) ([]byte, error) {
	head, err := json.Marshal(header) // keys are sorted
	return append(head, bytes.Repeat([]byte{' '}, -len(head)&7)...), err
}

// digest is the SHA-256 of the header without a digest, and of the tensors' bytes.
func digest(header any, data []byte) (string, error) {
	head, err := marshal(header)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(head)
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// decode is the inverse of encode. It returns the arrays in the order of their bytes,
// and takes a small multiple of the file's size in memory.
func decode(file []byte) ([]Array, map[string]string, error) {
	if len(file) < 8 {
		return nil, nil, fmt.Errorf("offset 0: the file has %d bytes, want 8 or more: the length of the header", len(file))
	}
	length := binary.LittleEndian.Uint64(file)
	if length > uint64(len(file)-8) {
		return nil, nil, fmt.Errorf("offset 0: a header of %d bytes, but %d follow: the file ends too early or is not a checkpoint", length, len(file)-8)
	}
	head, data := file[8:8+length], file[8+length:]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil {
		return nil, nil, fmt.Errorf("offset 8: header: %w", err)
	}
	var metadata map[string]string
	if err := json.Unmarshal(raw[metadataKey], &metadata); err != nil {
		return nil, nil, fmt.Errorf("header: %s: %w", metadataKey, err)
	}
	delete(raw, metadataKey)

	header := map[string]any{metadataKey: metadata}
	entries := make(map[string]entry, len(raw))
	arrays := make([]Array, 0, len(raw))
	for name, text := range raw {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, nil, fmt.Errorf("header: tensor %s: %w", name, err)
		}
		if e.Offsets == nil {
			return nil, nil, fmt.Errorf("header: tensor %s: data_offsets are missing", name)
		}
		header[name], entries[name] = e, e
		arrays = append(arrays, Array{Name: name, Shape: e.Shape})
	}
	slices.SortFunc(arrays, func(a, b Array) int {
		x, y := entries[a.Name].Offsets, entries[b.Name].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), strings.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for i := range arrays {
		a, e := &arrays[i], entries[arrays[i].Name]
		if err := e.check(at, int64(len(data))); err != nil {
			return nil, nil, fmt.Errorf("tensor %s, offset %d: %w", a.Name, int64(8+length)+at, err)
		}
		a.Values = make([]float32, (e.Offsets[1]-at)/4)
		for k := range a.Values {
			a.Values[k] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+int64(4*k):]))
		}
		at = e.Offsets[1]
	}
	if at != int64(len(data)) {
		return nil, nil, fmt.Errorf("offset %d: %d bytes too many", int64(8+length)+at, int64(len(data))-at)
	}
	want, exists := metadata[digestKey]
	if !exists {
		return nil, nil, fmt.Errorf("header: %s: %s is missing", metadataKey, digestKey)
	}
	delete(metadata, digestKey)
	if sum, err := digest(header, data); err != nil || sum != want {
		return nil, nil, errors.Join(fmt.Errorf("%s: the content does not match it: the file is damaged", digestKey), err)
	}
	metadata[digestKey] = want
	if again, err := marshal(header); err != nil || !bytes.Equal(again, head) {
		return nil, nil, errors.Join(errors.New("offset 8: the header is valid, but differs from the one that Write makes"), err)
	}
	delete(metadata, digestKey)
	return arrays, metadata, nil
}

// check reports what is wrong with a tensor that must begin at offset at of the data,
// which has that many bytes.
func (e entry) check(at, bytes int64) error {
	begin, end := e.Offsets[0], e.Offsets[1]
	switch {
	case e.Dtype != "F32":
		return fmt.Errorf("the dtype is %q, want F32", e.Dtype)
	case begin != at || end < begin:
		return fmt.Errorf("data_offsets are %d to %d, want them from %d", begin, end, at)
	case end > bytes:
		return fmt.Errorf("data_offsets are %d to %d, but the file holds %d bytes: it ends too early", begin, end, bytes)
	}
	n := int64(4)
	for _, d := range e.Shape {
		if d < 0 || d > 0 && n > bytes/int64(d) {
			return fmt.Errorf("the shape %v does not fit in %d bytes", e.Shape, end-begin)
		}
		n *= int64(d)
	}
	if n != end-begin {
		return fmt.Errorf("the shape %v is %d bytes, not %d", e.Shape, n, end-begin)
	}
	return nil
}
