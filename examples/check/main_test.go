package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	onnx "github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform/presets"
)

const photo = "../images/photos/tiles/6.jpg"

// checked runs the program.
func checked(t *testing.T, o options) (string, error) {
	t.Helper()
	if o.config == "" {
		o.config = "testdata"
	}
	if o.image == "" {
		o.image = photo
	}
	o.out = filepath.Join(t.TempDir(), "difference.png")
	var out bytes.Buffer
	err := run(t.Context(), &out, o)
	if err == nil {
		file, err := os.Open(o.out)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if m, err := png.Decode(file); err != nil || m.Bounds().Dx() <= 3*m.Bounds().Dy() {
			t.Errorf("the picture of the difference: %v, %v", m.Bounds(), err)
		}
	}
	return out.String(), err
}

// TestTensorsOfOtherLibrariesAreExplained: testdata/others.py has made them.
func TestTensorsOfOtherLibrariesAreExplained(t *testing.T) {
	for _, c := range []struct {
		file  string
		lines []string
	}{
		{"exact.npy", []string{"it is the exact tensor"}},
		{"exact.safetensors", []string{"BF16 3×48×48, rounded to bfloat16", "it is the exact tensor"}},
		{"fast.npy", []string{"exactly explained by", "transformers' fast processors"}},
		{"interpolate.npy", []string{"exactly explained by", "bilinear without antialias, in floating point and not rounded to 8 bits"}},
		{"antialias.npy", []string{"exactly explained by", "bicubic with antialias, in floating point and not rounded to 8 bits"}},
		{"linear.npy", []string{"exactly explained by", "the channels are BGR, not RGB, before", "OpenCV's INTER_LINEAR, without antialias"}},
		{"cubic.npy", []string{"exactly explained by", "a = -0.75"}},
		{"area.npy", []string{"exactly explained by", "the filter is OpenCV's INTER_AREA"}},
	} {
		out, err := checked(t, options{tensor: filepath.Join("testdata", c.file)})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		for _, want := range c.lines {
			if !strings.Contains(out, want) {
				t.Errorf("%s: want %q in\n%s", c.file, want, out)
			}
		}
	}
}

// TestTensorFiles: what is read, and errors that name the file and what was wanted.
func TestTensorFiles(t *testing.T) {
	safetensors := func(header string, data ...byte) []byte {
		return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
	}
	floats := func(values ...float32) []byte {
		all, _ := binary.Append(nil, binary.LittleEndian, values)
		return all
	}
	npy := func(descr, shape string, data []byte) []byte {
		header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }\n"
		return append(append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0), append([]byte(header), data...)...)
	}
	for _, c := range []struct {
		file string
		data []byte
		want string // of the tensor, or in the error
	}{
		{"a.raw", floats(1, 2, 2.1), "raw float32, 3 values"},
		{"a.raw", floats(1, 2, float32(math.NaN())), "value 2 is NaN"},
		{"a.raw", []byte{1, 2, 3}, "the number is no multiple of 4"},
		{"a.bin", npy("<f4", "1,", floats(1)), "under another name"},
		{"a.npy", npy("<f4", "1, 3, 1, 2", floats(1, 2, 3, 4, 5, 6.1)), "float32 3×1×2"},
		{"a.npy", npy("|u1", "2, 3", []byte{1, 2, 3, 4, 5, 6}), "uint8 2×3"},
		{"a.npy", npy("<f8", "1,", make([]byte, 8)), "float64 1"},
		{"a.npy", npy("<i8", "1,", make([]byte, 8)), "want float16, float32, float64 or uint8"},
		{"a.npy", npy("<f4", "2, 3, 1, 1", floats(1, 2, 3, 4, 5, 6)), "want the tensor of one image"},
		{"a.npy", npy("<f4", "99999999999, 3, 1, 1", nil), "a.npy"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}}`, 0x66, 0x2e, 0, 0xc0), "F16 2, rounded to float16"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}`, 9, 8, 7), "U8 2"},
		{"a.safetensors", safetensors(`{"x": {}, "y": {}}`), `no tensor "pixel_values", but ["x" "y"]`},
		{"a.safetensors", safetensors(`{"x": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}`, 1, 2, 3, 4, 5, 6, 7, 8), "want F16, BF16, F32, F64 or U8"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "F32", "shape": [1000000000, 1000000000], "data_offsets": [0, 4]}}`, 1, 2, 3, 4), "shape [1000000000 1000000000]: it has 1 values"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}`, 1, 2, 3, 4), "shape [2]: it has 1 values"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}}`), "tensor \"x\": json"},
		{"a.safetensors", safetensors(`{"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}`, 1, 2), "its offsets"},
		{"a.safetensors", safetensors(`{"x": 1}`), "a.safetensors"},
		{"a.safetensors", safetensors(`[`), "header"},
		{"a.safetensors", []byte{255, 255, 255, 255, 255, 255, 255, 255}, "the header is longer than the file"},
		{"a.safetensors", []byte{1}, "the header is longer than the file"},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := readTensor(path, "")
		got := x.String()
		if err != nil {
			got = err.Error()
			if !strings.HasPrefix(got, "-tensor "+path+": ") {
				t.Errorf("%q does not name the file", got)
			}
		}
		if !strings.Contains(got, c.want) || err == nil && got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.file, c.data, got, c.want)
		}
	}
	if _, err := readTensor("testdata/exact.safetensors", "other"); err != nil {
		t.Error(err)
	}
	for bits, want := range map[uint16]float32{0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 1: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24), 0x8000: 0} {
		if got, err := decoded("F16", binary.LittleEndian.AppendUint16(nil, bits)); err != nil || got[0] != want {
			t.Errorf("float16 of %#x = %v, %v, want %v", bits, got, err, want)
		}
	}
}

func TestAConfigurationThatIsWrongIsNamed(t *testing.T) {
	empty, wrong := t.TempDir(), t.TempDir()
	file := filepath.Join(wrong, "preprocessor_config.json")
	if err := os.WriteFile(file, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{empty: "-config " + empty + ": ", wrong: "-config " + file + ": "} {
		err := run(t.Context(), io.Discard, options{config: dir, image: photo, tensor: "none"})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestRecipesAreThoseOfTheConfigurations: for all that presets are tested with, the recipe without a deviation makes the exact
// tensor, and the crop and the resize can be varied.
func TestRecipesAreThoseOfTheConfigurations(t *testing.T) {
	var golden struct {
		Transformers, Timm []struct {
			Name   string
			Config json.RawMessage
			Model  string
		}
	}
	text, err := os.ReadFile("../../transform/presets/testdata/processors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(photo)
	if err != nil {
		t.Fatal(err)
	}
	for k, g := range append(golden.Transformers, golden.Timm...) {
		dir := t.TempDir()
		name := "preprocessor_config.json"
		if k >= len(golden.Transformers) {
			name = "config.json"
			g.Config = fmt.Appendf(nil, `{"architecture": "some", "pretrained_cfg": %s}`, g.Config)
		} else if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "`+g.Model+`"}`), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), g.Config, 0o666); err != nil {
			t.Fatal(err)
		}
		step, _, err := presets.Open(os.DirFS(dir))
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		m, err := modelOf(step, file)
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		theirs := tensor{values: m.exact}
		if err := theirs.finish(); err != nil {
			t.Fatal(err)
		}
		c, err := newComparison(m, file, theirs)
		if err != nil {
			t.Fatal(err)
		}
		if c.limited {
			t.Errorf("%s: not understood:\n%s", g.Name, m.plan)
		}
		if l := c.compare(pictureOf(m.exact, m.w, m.h, m.base.values), &c.base.values); !l.exact {
			t.Errorf("%s: the values are not understood: %v\n%s", g.Name, l, m.plan)
		}
	}
}

// TestWhatCannotBeVariedIsSaid: a rule of a model's own and a crop. Values are still explained.
func TestWhatCannotBeVariedIsSaid(t *testing.T) {
	dir := t.TempDir()
	config := `{"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 48, "longest_edge": 60}, "crop_size": 40}`
	if err := os.WriteFile(filepath.Join(dir, "preprocessor_config.json"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	step, _, err := presets.Open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(photo)
	if err != nil {
		t.Fatal(err)
	}
	m, err := modelOf(step, file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "theirs.raw")
	data, _ := binary.Append(nil, binary.LittleEndian, interleaved(m.exact))
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := checked(t, options{config: dir, tensor: path})
	if err != nil || !strings.Contains(out, "cannot be varied") || !strings.Contains(out, "exactly explained by\n  - the values are in the order HWC") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestMistakesAreOneLine(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short.raw")
	if err := os.WriteFile(short, make([]byte, 40), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]options{
		"-tensor is missing": {},
		"nowhere":            {config: "nowhere", tensor: short},
		"nothing.jpg":        {image: "nothing.jpg", tensor: short},
		"absent.npy":         {tensor: "absent.npy"},
		"main.go: ":          {image: "main.go", tensor: short},
		"has 10 values, the exact tensor 6912 (3×48×48)": {tensor: short},
	} {
		if out, err := checked(t, o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q in one line\n%s", err, want, out)
		}
	}
}

// TestModelSaysHowMuchItMatters runs examples/onnx/outputs, where ONNX Runtime is installed.
func TestModelSaysHowMuchItMatters(t *testing.T) {
	if _, err := onnx.Find(onnx.Folder()); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the model is not installed: ", err)
	}
	for _, tool := range []string{"go", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	s := subjectOf(t, config{side: 256, size: 224}, "hills/1.jpg")
	dir := t.TempDir()
	data, _ := binary.Append(nil, binary.LittleEndian, s.right().tensor(func(v float64, c int) float64 { return v / 255 }))
	for name, data := range map[string][]byte{
		"theirs.raw":  data,
		"config.json": []byte(`{"architecture": "tf_efficientnet_lite0", "pretrained_cfg": {"mean": 0.5, "std": 0.5, "interpolation": "bilinear"}}`),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	net := filepath.Join(onnx.Folder(), "efficientnet-lite0.onnx")
	out, err := checked(t, options{config: dir, image: "../images/photos/hills/1.jpg", tensor: filepath.Join(dir, "theirs.raw"), model: net})
	if err != nil || !strings.Contains(out, "exactly explained by\n  - mean and std are not applied") || !strings.Contains(out, "cosine of the model's outputs: 0.") {
		t.Errorf("%v\n%s", err, out)
	}
}
