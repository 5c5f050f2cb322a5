package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/train/shapes"
)

// damaged are images that cannot be read: the first, the last and, with batches
// of two, all of a batch.
var damaged = []string{"cross/0000.jpg", "disc/0022.jpg", "disc/0029.jpg", "moon/0002.jpg", "triangle/0048.jpg"}

// folder holds 49 images in classes, some of them damaged, and other files.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := shapes.Write(dir, 49, 5); err != nil {
		t.Fatal(err)
	}
	for i, name := range damaged {
		if err := os.Truncate(filepath.Join(dir, name), int64(300*i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"notes.txt", ".hidden.jpg", "star/.cache/0000.jpg"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no image"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tabulate infers and returns the table.
func tabulate(t testing.TB, dir string, o options) (*report, string) {
	t.Helper()
	model, err := open(o.checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	photos, err := dataset.ImageFolder(os.DirFS(dir), dataset.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := infer(t.Context(), model, photos, &out, o, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func rows(t testing.TB, table string) [][]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func TestFolderThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for dir, want := range map[string]error{missing: fs.ErrNotExist, file: nil, dir: nil} {
		err := run(t.Context(), options{dir: dir, batch: 1, out: filepath.Join(t.TempDir(), "table")})
		got := fmt.Sprint(err)
		if want != nil && !errors.Is(err, want) || !strings.HasPrefix(got, "-dir "+dir+": ") {
			t.Errorf("%s: got %s", dir, got)
		}
	}
}

func TestRowsAreTheImagesInTheirOrder(t *testing.T) {
	dir := folder(t)
	_, want := tabulate(t, dir, options{workers: 1, batch: 2})
	all := rows(t, want)
	files := make([]string, len(all))
	for i, row := range all {
		files[i] = row[0]
		broken := slices.Contains(damaged, row[0])
		if got := row[3] != ""; got != broken || broken != (row[1] == "") || broken != (row[2] == "") {
			t.Errorf("got %q, damaged: %v", row, broken)
		}
	}
	if len(files) != 49 || !slices.IsSorted(files) {
		t.Errorf("%d files: %v", len(files), files)
	}
	for _, o := range []options{{workers: 0, batch: 2, poison: true}, {workers: 4, batch: 2, poison: true}, {workers: 4, batch: 1}, {workers: 3, batch: 16}, {workers: 2, batch: 64}} {
		if _, got := tabulate(t, dir, o); got != want {
			t.Errorf("%+v: got\n%s\nwant\n%s", o, got, want)
		}
	}
}

func TestClassIsTheMostProbableAndProbabilitiesAddUpToOne(t *testing.T) {
	_, table := tabulate(t, folder(t), options{workers: 2, batch: 20, all: true})
	for _, row := range rows(t, table) {
		if row[3] != "" {
			continue
		}
		sum, best := 0.0, 0
		probabilities := make([]float64, len(shapes.Names))
		for i, text := range row[4:] {
			probabilities[i], _ = strconv.ParseFloat(text, 64)
			sum += probabilities[i]
			if probabilities[i] > probabilities[best] {
				best = i
			}
		}
		if math.Abs(sum-1) > 1e-3 || row[1] != shapes.Names[best] || row[2] != row[4+best] {
			t.Errorf("%q: sum %v", row, sum)
		}
	}
}

func TestOwnNetKnowsImagesItHasNotSeen(t *testing.T) {
	dir := t.TempDir()
	if err := shapes.Write(dir, 350, 77); err != nil {
		t.Fatal(err)
	}
	r, _ := tabulate(t, dir, options{workers: 2, batch: 32})
	if r.classified != 350 || r.table.named != 350 || r.table.agreed < 315 {
		t.Errorf("%d classified, %d of %d as their folders are named", r.classified, r.table.agreed, r.table.named)
	}
	var text strings.Builder
	r.print(&text)
	for _, says := range []string{"350 images", "waiting", "decode", "were given that class"} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("%s\ndoes not say %s", &text, says)
		}
	}
}

func TestAFolderOfDamageIsATableOfErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.jpg", "b/c.png", "d.gif"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no image"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, table := tabulate(t, dir, options{workers: 2, batch: 2, all: true})
	for i, row := range rows(t, table) {
		if want := []string{"a.jpg", "d.gif", "b/c.png"}[i]; row[0] != want || !strings.Contains(row[3], "not a JPEG") {
			t.Errorf("got %q, want an error for %s", row, want)
		}
	}
	var text strings.Builder
	r.print(&text)
	if got, want := text.String(), "none of the 3 images can be read (the column error of the table says why)\n"; got != want || r.table.failures != 3 {
		t.Errorf("got %d failures, %s", r.table.failures, got)
	}
}

func TestInterruptedTableIsWholeUpToThere(t *testing.T) {
	dir := folder(t)
	_, whole := tabulate(t, dir, options{workers: 2, batch: 4})
	model, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	photos, err := dataset.ImageFolder(os.DirFS(dir), dataset.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	_, err = infer(ctx, model, photos, &out, options{workers: 2, batch: 4}, func(n int) {
		if n > 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := len(rows(t, out.String())); n < 10 || n > 20 || !strings.HasPrefix(whole, out.String()) {
		t.Errorf("%d rows:\n%s", n, &out)
	}
}

func TestRunWritesATableOfItsOwnImages(t *testing.T) {
	o := options{out: filepath.Join(t.TempDir(), "table.csv"), workers: 2, batch: 32}
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows(t, string(table))); n != 500 || strings.Count(string(table), "unexpected EOF") != 1 {
		t.Errorf("%d rows", n)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	half := filepath.Join(dir, "half.safetensors")
	if err := os.WriteFile(half, own[:len(own)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "table.csv")
	for name, test := range map[string]struct {
		o    options
		says []string
	}{
		"no checkpoint": {options{batch: 1, checkpoint: filepath.Join(dir, "absent")},
			[]string{"absent: no such file", "go run ./examples/train -checkpoint " + filepath.Join(dir, "absent")}},
		"ends too early": {options{batch: 1, checkpoint: half}, []string{"half.safetensors: tensor ", "ends too early"}},
		"empty":          {options{batch: 1, dir: dir}, []string{dir + ": dataset: folder: no file "}},
		"no folder":      {options{batch: 1, dir: filepath.Join(dir, "absent")}, []string{"absent"}},
	} {
		test.o.out = out
		err := run(t.Context(), test.o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, says := range test.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%v\ndoes not say %s", err, says)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a table", name)
		}
	}
}

func TestAnInterruptLeavesNoTable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "table.csv")
	if err := run(ctx, options{out: out, workers: 2, batch: 32}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table: got error %v, want %v", err, fs.ErrNotExist)
	}
}

// /dev/stdout is such a link.
func TestAnInterruptLeavesLinks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	out := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "table.csv"), out); err != nil {
		t.Skip("needs symbolic links: ", err)
	}
	if err := run(ctx, options{out: out, workers: 2, batch: 32}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if _, err := os.Lstat(out); err != nil {
		t.Errorf("the link: %v", err)
	}
}
