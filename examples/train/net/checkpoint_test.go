package net_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/internal/hostile"
)

// written is a checkpoint's file.
func written(t testing.TB, c *net.Checkpoint) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func newCheckpoint(t testing.TB) *net.Checkpoint {
	return &net.Checkpoint{
		Model:  newModel(t),
		Arrays: []net.Array{{Name: "empty", Shape: []int{0}, Values: []float32{}}, {Name: "pair", Shape: []int{2}, Values: []float32{1, -2}}},
		Notes:  map[string]string{"a": "ä <b>", "c": ""},
	}
}

func TestCheckpointsComeBackAsTheyWere(t *testing.T) {
	want := newCheckpoint(t)
	file := written(t, want)
	got, err := net.Parse("c", file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if !bytes.Equal(written(t, got), file) {
		t.Error("written again it differs")
	}
	pair := []net.Array{{Name: "pair", Shape: []int{2}, Values: make([]float32, 2)}}
	if err := got.Fill(pair); err != nil || pair[0].Values[1] != -2 {
		t.Errorf("got %v, %v", pair, err)
	}
	if v, err := got.Series("empty"); err != nil || len(v) != 0 {
		t.Errorf("got %v, %v", v, err)
	}
	for _, err := range []error{got.Fill(pair), func() error { _, err := got.Series("pair"); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "tensor pair") {
			t.Errorf("got %v for what was taken already", err)
		}
	}
}

func TestWriteLeavesTheOldFileOrTheNew(t *testing.T) {
	c := newCheckpoint(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "c")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	c.Arrays = append(c.Arrays, c.Arrays[0])
	if err := c.Write(path); err == nil || !strings.Contains(err.Error(), "two tensors are named empty") {
		t.Errorf("got %v", err)
	}
	if content, _ := os.ReadFile(path); string(content) != "old" {
		t.Errorf("the file holds %q", content)
	}
	c.Arrays = nil
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v were left", files)
	}
	if err := c.Write(filepath.Join(dir, "absent", "c")); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v", err)
	}
}

func TestEveryDamageIsAnError(t *testing.T) {
	file := written(t, newCheckpoint(t))
	for n := 0; n < len(file); n += 1 + n/20 {
		if _, err := net.Parse("c", file[:n]); err == nil {
			t.Errorf("no error at %d of %d bytes", n, len(file))
		}
	}
	for i := 0; i < len(file); i += 1 + i/20 {
		for _, bit := range []byte{1, 0x20, 0x80} {
			damaged := bytes.Clone(file)
			damaged[i] ^= bit
			if _, err := net.Parse("c", damaged); err == nil {
				t.Errorf("no error with byte %d changed by %#x: %q", i, bit, damaged[max(0, i-20):min(i+20, len(file))])
			}
		}
	}
	if _, err := net.Parse("c", append(bytes.Clone(file), 0)); err == nil || !strings.Contains(err.Error(), "1 bytes too many") {
		t.Errorf("got %v", err)
	}
}

// headed is a file with that header and that many bytes of data.
func headed(header string, bytes int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, bytes)...)
}

func TestWrongHeadersNameTheField(t *testing.T) {
	const meta = `"__metadata__":{"size":"12"}`
	for header, says := range map[string]string{
		`[]`:                       "offset 8: header",
		`{}`:                       "__metadata__",
		`{"__metadata__":{"a":1}}`: "__metadata__",
		`{` + meta + `,"x":3}`:     "tensor x",
		`{` + meta + `,"x":{}}`:    "tensor x: data_offsets are missing",
		`{` + meta + `,"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`:                       `tensor x, offset`,
		`{` + meta + `,"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`:                       "want them from 0",
		`{` + meta + `,"x":{"dtype":"F32","shape":[1],"data_offsets":[0,-8]}}`:                      "0 to -8",
		`{` + meta + `,"x":{"dtype":"F32","shape":[1],"data_offsets":[0,400]}}`:                     "ends too early",
		`{` + meta + `,"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`:                       "shape [3] does not fit in 8 bytes",
		`{` + meta + `,"x":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`:                      "does not fit",
		`{` + meta + `,"x":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]}}`: "does not fit",
		`{` + meta + `,"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`:                       "sha256 is missing",
	} {
		_, err := net.Parse("file.safetensors", headed(header, 8))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "net: checkpoint file.safetensors: ") {
			t.Errorf("%s: got %v, want %s", header, err, says)
		}
	}
}

func TestForeignModelsAreErrors(t *testing.T) {
	for says, change := range map[string]func(*net.Checkpoint){
		"size is 4":                            func(c *net.Checkpoint) { c.Model.Size = 4 },
		"size is 100000":                       func(c *net.Checkpoint) { c.Model.Size = 100000 },
		"fewer than two classes":               func(c *net.Checkpoint) { c.Model.Classes = nil },
		"tensor linear.weight: the shape is":   func(c *net.Checkpoint) { c.Model.Size = 1024 },
		"tensor linear.bias: the shape is":     func(c *net.Checkpoint) { c.Model.Weights[7].Shape = []int{3} },
		"tensor conv1.weight is missing":       func(c *net.Checkpoint) { c.Model.Weights = c.Model.Weights[1:] },
		`size: strconv.Atoi: parsing "twelve"`: func(c *net.Checkpoint) { c.Notes["size"] = "twelve" },
		"classes: ":                            func(c *net.Checkpoint) { c.Notes["classes"] = "a, b" },
	} {
		c := newCheckpoint(t)
		change(c)
		if _, err := net.Parse("c", written(t, c)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(written(f, newCheckpoint(f)))
	f.Add(headed(`{"__metadata__":{"sha256":"","size":"8","classes":"[]"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	f.Fuzz(func(t *testing.T, file []byte) {
		var c *net.Checkpoint
		var err error
		hostile.Bounded(t, len(file), 0, func() { c, err = net.Parse("c", file) })
		if (c == nil) == (err == nil) {
			t.Errorf("%v, %v", c, err)
		}
	})
}
