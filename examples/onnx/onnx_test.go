//go:build cgo

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/examples/onnx/ort"
)

// installed are the model's files, or the test is skipped.
func installed(t testing.TB) model.Files {
	t.Helper()
	files, err := model.Find(model.Folder())
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the model is not installed: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// started is the model in ONNX Runtime.
func started(t testing.TB) *ort.Session {
	t.Helper()
	files := installed(t)
	stop, err := ort.Start(files.Library)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	session, err := ort.Open(files.Net, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// golden is what PyTorch says of a photo: its five highest logits.
type golden struct {
	name    string
	classes [5]int
	logits  [5]float64
}

func readGolden(t *testing.T) []golden {
	t.Helper()
	f, err := os.Open("testdata/golden.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]golden, len(rows))
	for i, row := range rows {
		all[i].name = row[0]
		for k := range 5 {
			if all[i].classes[k], err = strconv.Atoi(row[1+2*k]); err != nil {
				t.Fatal(err)
			}
			if all[i].logits[k], err = strconv.ParseFloat(row[2+2*k], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// TestClassesArePyTorchs compares with what PyTorch says of the same photos through
// PIL, see testdata/golden.py.
func TestClassesArePyTorchs(t *testing.T) {
	const dir = "../../../shared/photos"
	photos, err := dataset.ImageFolder(os.DirFS(dir), dataset.NoClasses())
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos")
	}
	if err != nil {
		t.Fatal(err)
	}
	session, want := started(t), readGolden(t)
	next, same, largest := 0, 0, 0.0
	r, err := classify(t.Context(), photos, session, options{batch: 32, workers: 2}, func(name string, logits []float32) {
		w := want[next]
		next++
		if name != w.name {
			t.Fatalf("image %d is %s, want %s", next, name, w.name)
		}
		top := model.Top(logits, nil, 5)
		if top[0].Index == w.classes[0] {
			same++
		} else {
			t.Errorf("%s: class %d, want %d", name, top[0].Index, w.classes[0])
		}
		largest = max(largest, math.Abs(float64(logits[w.classes[0]])-w.logits[0]))
		for k, c := range w.classes {
			if d := math.Abs(float64(logits[c]) - w.logits[k]); d > 1e-4 {
				t.Errorf("%s: logit of class %d differs by %g", name, c, d)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d have PyTorch's class, the highest logit differs by %.2g at most", same, len(want), largest)
	if next != len(want) || same != 334 || r.Dropped > 0 {
		t.Errorf("%d images of %d, %d with PyTorch's class, want 334", next, len(want), same)
	}
}

func TestTheProgramNamesWhatItSeesAndSaysWhereTheTimeGoes(t *testing.T) {
	installed(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../images/photos/spheres")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "4.jpg"), []byte("no image"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{dir: dir, model: model.Folder(), batch: 4, workers: 2, top: 5}); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"7 images", "1000 classes", "\n1.jpg: ", "\n7.jpg: ", "4.jpg cannot be read: ", " 6 samples in 2 batches", "loop waited", "loop body"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("%s\ndoes not say %q", &out, says)
		}
	}
}

func TestBatchesOfAnySizeGiveTheSameClasses(t *testing.T) {
	session := started(t)
	photos, err := dataset.ImageFolder(os.DirFS("../images/photos/hills"), dataset.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	var want [][]int
	for _, o := range []options{{batch: 1, workers: 0}, {batch: 3, workers: 4}, {batch: 8, workers: 2}} {
		var got [][]int
		if _, err := classify(t.Context(), photos, session, o, func(_ string, logits []float32) {
			var classes []int
			for _, c := range model.Top(logits, nil, 5) {
				classes = append(classes, c.Index)
			}
			got = append(got, classes)
		}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("batches of %d: got %v, want %v", o.batch, got, want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	empty := t.TempDir()
	err := run(t.Context(), &bytes.Buffer{}, options{dir: "../images/photos", model: empty, batch: 1, top: 1})
	if want := "examples/onnx/install " + empty; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := run(t.Context(), &bytes.Buffer{}, options{dir: "../images/photos", model: empty, batch: 1, top: -1}); err == nil || !strings.Contains(err.Error(), "-top") {
		t.Errorf("-top -1: got %v", err)
	}
	installed(t)
	for dir, says := range map[string]string{empty: "no file", filepath.Join(empty, "absent"): "no such file"} {
		err := run(t.Context(), &bytes.Buffer{}, options{dir: dir, model: model.Folder(), batch: 1, top: 1})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// BenchmarkNet is the net alone, by the size of the batch.
func BenchmarkNet(b *testing.B) {
	session := started(b)
	for _, n := range []int{1, 2, 4, 8, 16, 32} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x, y := make([]float32, n*session.Values()), make([]float32, n*session.Classes())
			for b.Loop() {
				if err := session.Run(x, y, n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1000*b.Elapsed().Seconds()/float64(n*b.N), "ms/image")
		})
	}
}
