package nets

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/pickle"
)

// A Weight is a tensor of a PyTorch file.
type Weight struct {
	Shape  []int
	Values []float32
}

// maxWeights bounds the bytes of a file of weights.
const maxWeights = 1 << 30

// ReadWeights reads the float32 tensors of a state dictionary that torch.save wrote
// before PyTorch 1.6 or with _use_new_zipfile_serialization=False. Tensors of int64
// are left out. It executes nothing of the file.
func ReadWeights(path string) (map[string]Weight, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("nets: weights: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxWeights {
		err = fmt.Errorf("%d bytes are more than %d", info.Size(), maxWeights)
	}
	if err != nil {
		return nil, fmt.Errorf("nets: weights %s: %w", path, err)
	}
	weights, err := readWeights(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("nets: weights %s: %w", path, err)
	}
	return weights, nil
}

// magic is the pickle of 0x1950a86a20f9469cfc6c, which such a file begins with.
// Source: PyTorch, torch/serialization.py, MAGIC_NUMBER and _legacy_save.
const magic = "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."

const protocolVersion = 1001

// readWeights reads five pickles: the magic number, the protocol's version, the
// system's sizes, the dictionary, and the keys of its storages. The storages follow
// in the order of the keys, each as its length and its values.
func readWeights(r io.Reader, size int64) (map[string]Weight, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(in, begin); err != nil || string(begin) != magic {
		return nil, errors.New("not a file of torch.save without zip")
	}
	var b budget.Budget // of all pickles
	var parts [4]any
	for k := range parts {
		var err error
		if parts[k], err = pickle.Read(in, size, &b); err != nil {
			return nil, err
		}
	}
	if parts[0] != int64(protocolVersion) {
		return nil, fmt.Errorf("protocol %v, want %d", parts[0], protocolVersion)
	}
	if sizes, ok := parts[1].(*pickle.Dict); !ok || sizes.Get("little_endian") != true {
		return nil, errors.New("big-endian values")
	}
	dict, ok := parts[2].(*pickle.Dict)
	if !ok {
		return nil, errors.New("not a dictionary")
	}
	keys, err := pickle.Texts(parts[3], &b)
	if err != nil {
		return nil, fmt.Errorf("keys of the storages: %w", err)
	}
	storages, err := readStorages(in, size, dict, keys)
	if err != nil {
		return nil, err
	}
	weights := map[string]Weight{}
	for name, v := range dict.All() {
		t := v.(*pickle.Tensor)
		if t.Storage.Type != "FloatStorage" {
			continue
		}
		if weights[name], err = weight(t, storages[t.Storage.Key]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return weights, nil
}

// widths are the bytes of a value.
var widths = map[string]int64{"FloatStorage": 4, "LongStorage": 8}

// readStorages reads the bytes of all storages of the dictionary's tensors.
func readStorages(in io.Reader, left int64, dict *pickle.Dict, keys []string) (map[string][]byte, error) {
	known := map[string]*pickle.Storage{}
	for name, v := range dict.All() {
		t, ok := v.(*pickle.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s is not a tensor", name)
		}
		known[t.Storage.Key] = t.Storage
	}
	storages := map[string][]byte{}
	for _, key := range keys {
		s := known[key]
		if s == nil {
			return nil, fmt.Errorf("storage %s belongs to no tensor", key)
		}
		delete(known, key)
		var length [8]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return nil, fmt.Errorf("storage %s: %w", key, err)
		}
		width := widths[s.Type]
		if n := int64(binary.LittleEndian.Uint64(length[:])); n != s.Len || n > left/width {
			return nil, fmt.Errorf("storage %s has %d values, want %d", key, n, s.Len)
		}
		var b bytes.Buffer
		if _, err := io.CopyN(&b, in, s.Len*width); err != nil {
			return nil, fmt.Errorf("storage %s: %w", key, io.ErrUnexpectedEOF)
		}
		left -= s.Len * width
		storages[key] = b.Bytes()
	}
	for key := range known {
		return nil, fmt.Errorf("storage %s is missing", key)
	}
	return storages, nil
}

// weight takes a tensor out of its storage. Its rows may lie in another order there.
func weight(t *pickle.Tensor, storage []byte) (w Weight, err error) {
	has := int64(len(storage)) / 4
	n, last := int64(1), t.Offset
	for k, side := range t.Shape {
		if side < 1 || side > has/n || t.Strides[k] > has || last > has {
			return w, fmt.Errorf("shape %v, strides %v: the storage has %d values", t.Shape, t.Strides, has)
		}
		n *= side
		last += (side - 1) * t.Strides[k]
		w.Shape = append(w.Shape, int(side))
	}
	if last >= has {
		return w, fmt.Errorf("shape %v, strides %v at %d: the storage has %d values", t.Shape, t.Strides, t.Offset, has)
	}
	w.Values = make([]float32, n)
	index := make([]int64, len(t.Shape))
	at := t.Offset
	for i := range w.Values {
		w.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(storage[4*at:]))
		for k := len(index) - 1; k >= 0; k-- { // the next index, the last side first
			index[k]++
			at += t.Strides[k]
			if index[k] < t.Shape[k] {
				break
			}
			at -= t.Shape[k] * t.Strides[k]
			index[k] = 0
		}
	}
	return w, nil
}
