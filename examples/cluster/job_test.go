package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
)

func TestOtherJobIsRefused(t *testing.T) {
	j := small(t.TempDir())
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.makeShard(t.Context(), folder, 0, 0); err != nil {
		t.Fatal(err)
	}
	refused := func(name, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	other := small(j.Out)
	other.Size = 30
	refused("another size", "is of a job with other images or flags", run(t.Context(), other, "0/1", false))
	other = small(j.Out)
	other.Skip = false
	refused("damaged images not left out", "is of a job with other images or flags", run(t.Context(), other, "0/1", false))
	if err := run(t.Context(), j, "0/1", false); err != nil {
		t.Fatal(err)
	}
	other = small(j.Out)
	other.PerShard = 10
	if err := run(t.Context(), other, "0/1", false); err != nil {
		t.Fatal(err)
	}
	refused("shards of another number", "00000-of-00008.packed is not of this job", run(t.Context(), other, "", true))

	for _, flags := range []job{
		{In: photos, Size: 1, PerShard: 1},
		{Out: j.Out, Size: 1, PerShard: 1},
		{In: photos, Out: j.Out, PerShard: 1},
		{In: photos, Out: j.Out, Size: 1},
		{In: "absent", Out: j.Out, Size: 1, PerShard: 1},
	} {
		if _, err := flags.prepare(); err == nil {
			t.Errorf("%+v: no error", flags)
		}
	}
}

func TestEveryImageIsInOneShard(t *testing.T) {
	for _, perShard := range []int{1, 4, 29, 30, 31, math.MaxInt} {
		j := job{Images: 30, PerShard: perShard}
		next := 0
		for shard := range j.shards() {
			first, end := j.bounds(shard)
			if first != next || end <= first {
				t.Errorf("%d per shard: shard %d has %d up to %d, want the first to be %d", perShard, shard, first, end, next)
			}
			next = end
		}
		if next != j.Images {
			t.Errorf("%d per shard: %d images are in shards, want %d", perShard, next, j.Images)
		}
	}
}

func TestTruncatedShardIsNoticed(t *testing.T) {
	j := small(t.TempDir())
	if err := run(t.Context(), j, "0/1", false); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(j.Out, "00004-of-00008.packed"), 100); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), j, "", true); err == nil || !strings.Contains(err.Error(), "00004-of-00008.packed has 100 bytes, want") {
		t.Errorf("check: error %v, want one about 00004-of-00008.packed", err)
	}
}

func TestDamagedImageStopsTheWorkUnlessSkipped(t *testing.T) {
	for _, part := range []string{"", "0/1"} {
		j := small(t.TempDir())
		j.Skip = false
		if err := run(t.Context(), j, part, false); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("-shards %q: error %v, want one about %s", part, err, damaged)
		}
		if _, err := os.Stat(filepath.Join(j.Out, "00007-of-00008.packed")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("-shards %q: the shard of %s is there: %v", part, damaged, err)
		}
	}
	j := small(t.TempDir())
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.makeShard(t.Context(), folder, 7, 2); err != nil {
		t.Fatal(err)
	}
	r, err := j.readRecord(7)
	if err != nil || r.Samples != 1 || len(r.Skipped) != 1 || r.Skipped[0].Image != damaged || !strings.HasSuffix(r.Skipped[0].Reason, "unexpected EOF") {
		t.Errorf("record %+v, %v; want one sample, and %s left out", r, err, damaged)
	}
}

// TestEverySkippedImageHasItsReason: a loader's statistics list a thousand failures.
func TestEverySkippedImageHasItsReason(t *testing.T) {
	in := t.TempDir()
	if err := os.Mkdir(filepath.Join(in, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 1100 {
		if err := os.WriteFile(filepath.Join(in, "a", fmt.Sprintf("%04d.jpg", i)), []byte("no image"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	j := small(t.TempDir())
	j.In, j.PerShard = in, 2000
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.makeShard(t.Context(), folder, 0, 2); err != nil {
		t.Fatal(err)
	}
	r, err := j.readRecord(0)
	if err != nil || len(r.Skipped) != 1100 {
		t.Fatalf("%d images are left out, %v", len(r.Skipped), err)
	}
	for i, s := range r.Skipped {
		if s.Image != fmt.Sprintf("a/%04d.jpg", i) || !strings.Contains(s.Reason, "not a JPEG") {
			t.Fatalf("image %d of those left out is %+v", i, s)
		}
	}
}

func TestShardsHaveThePixelsOfTheImages(t *testing.T) {
	j := small(t.TempDir())
	if err := run(t.Context(), j, "", false); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(j.Out), "*.packed") // sorted, so in the order of the images
	if err != nil {
		t.Fatal(err)
	}
	var all []dataset.Dataset
	for _, name := range files {
		file, err := packed.Open(os.DirFS(j.Out), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	got, err := dataset.Concat(all...)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := j.prepare()
	if err != nil {
		t.Fatal(err)
	}
	want, err := j.samples(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != 29 {
		t.Fatalf("%d samples, want 29", got.Len())
	}
	for i := range got.Len() { // the damaged image is the last one
		g, err := dataset.At(t.Context(), got, i)
		if err != nil {
			t.Fatal(err)
		}
		w, err := dataset.At(t.Context(), want, i)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(dataset.ValuesOf[uint8](g["image"]), dataset.ValuesOf[uint8](w["image"])) || g["label"].Data() != w["label"].Data() {
			t.Errorf("sample %d differs from %s", i, folder.Name(i))
		}
	}
}
