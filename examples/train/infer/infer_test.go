package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/net"
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
func tabulate(t testing.TB, dir string, o options) string {
	t.Helper()
	o.dir, o.out = dir, filepath.Join(t.TempDir(), "table.csv")
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(table)
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

func TestForeignModelsAreErrors(t *testing.T) {
	good, err := net.New(12, []string{"a", "b", "c"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	short := *good
	short.Weights = slices.Clone(good.Weights)
	short.Weights[0].Values = short.Weights[0].Values[1:]
	for says, saved := range map[string]any{
		"there is no model":    struct{ Model, Other *net.Model }{Other: good},
		"in 2 classes":         struct{ Model *net.Model }{&net.Model{Size: 12, Classes: []string{"a", "b"}, Weights: good.Weights}},
		"in 3 classes":         struct{ Model *net.Model }{&short},
		"size is 5000":         struct{ Model *net.Model }{&net.Model{Size: 5000, Classes: good.Classes, Weights: good.Weights}},
		"no fields matched":    struct{ Other *net.Model }{good},
		"fewer than two":       struct{ Model *net.Model }{&net.Model{Size: 12, Weights: good.Weights}},
		"images of 40 pixels ": struct{ Model *net.Model }{&net.Model{Size: 40, Classes: good.Classes, Weights: good.Weights}},
	} {
		file := filepath.Join(t.TempDir(), "foreign")
		if err := net.Save(file, saved); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), options{checkpoint: file, dir: t.TempDir(), batch: 1, out: filepath.Join(t.TempDir(), "table")})
		if got := fmt.Sprint(err); !strings.Contains(got, says) || !strings.Contains(got, file) {
			t.Errorf("got %s, want %s", got, says)
		}
	}
}

func TestRowsAreTheImagesInTheirOrder(t *testing.T) {
	dir := folder(t)
	want := tabulate(t, dir, options{workers: 1, batch: 2})
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
	for _, o := range []options{{workers: 0, batch: 2}, {workers: 4, batch: 2}, {workers: 4, batch: 1}, {workers: 3, batch: 16}, {workers: 2, batch: 64}} {
		if got := tabulate(t, dir, o); got != want {
			t.Errorf("%+v: got\n%s\nwant\n%s", o, got, want)
		}
	}
}

func TestOwnNetKnowsImagesItHasNotSeen(t *testing.T) {
	dir := t.TempDir()
	if err := shapes.Write(dir, 350, 77); err != nil {
		t.Fatal(err)
	}
	right := 0
	all := rows(t, tabulate(t, dir, options{workers: 2, batch: 32}))
	for _, row := range all {
		if p, err := strconv.ParseFloat(row[2], 64); err != nil || p < 1.0/7 || p > 1 {
			t.Errorf("%q: the probability of the most probable of seven classes is %v", row, p)
		}
		if path.Dir(row[0]) == row[1] {
			right++
		}
	}
	if len(all) != 350 || right < 315 {
		t.Errorf("%d rows, %d with the class of their folder", len(all), right)
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
	for i, row := range rows(t, tabulate(t, dir, options{workers: 2, batch: 2})) {
		if want := []string{"a.jpg", "d.gif", "b/c.png"}[i]; row[0] != want || !strings.Contains(row[3], "not a JPEG") {
			t.Errorf("got %q, want an error for %s", row, want)
		}
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

func TestWrongCheckpointsAreErrors(t *testing.T) {
	dir := t.TempDir()
	half := filepath.Join(dir, "half")
	if err := os.WriteFile(half, own[:len(own)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	for checkpoint, says := range map[string]string{filepath.Join(dir, "absent"): "absent: no such file", half: half + ": unexpected EOF"} {
		out := filepath.Join(dir, "table.csv")
		if err := run(t.Context(), options{batch: 1, checkpoint: checkpoint, out: out}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a table", checkpoint)
		}
	}
}

func TestAnInterruptIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, options{out: filepath.Join(t.TempDir(), "table.csv"), workers: 2, batch: 32}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}
