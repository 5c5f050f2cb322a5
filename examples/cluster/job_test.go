package main

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOtherJobIsRefused(t *testing.T) {
	j := small("packed", t.TempDir())
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
	other := small("packed", j.Out)
	other.Size = 30
	refused("another size", "is of a job with other images or flags", run(t.Context(), other, "0/1", false, 0))
	other = small("packed", j.Out)
	other.Skip = false
	refused("damaged images not left out", "is of a job with other images or flags", run(t.Context(), other, "0/1", false, 0))
	if err := run(t.Context(), j, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	other = small("packed", j.Out)
	other.PerShard = 10
	if err := run(t.Context(), other, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	refused("shards of another number", "00000-of-00008.json is not of this job", run(t.Context(), other, "", true, 0))

	j.In = "../images" // as on a worker that sees another folder
	if _, err := j.open(); err == nil {
		t.Error("a worker with other images: no error")
	}
	for _, flags := range []job{
		{In: photos},
		{Out: j.Out},
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
	j := small("packed", t.TempDir())
	if err := run(t.Context(), j, "0/1", false, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(j.Out, "00004-of-00008.packed"), 100); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), j, "", true, 0); err == nil || !strings.Contains(err.Error(), "00004-of-00008.packed has 100 bytes, want") {
		t.Errorf("check: error %v, want one about 00004-of-00008.packed", err)
	}
}

func TestDamagedImageStopsTheWorkUnlessSkipped(t *testing.T) {
	for _, part := range []string{"", "0/1"} {
		j := small("tar", t.TempDir())
		j.Skip = false
		if err := run(t.Context(), j, part, false, 2); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("-shards %q: error %v, want one about %s", part, err, damaged)
		}
		if _, err := os.Stat(filepath.Join(j.Out, "00007-of-00008.tar")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("-shards %q: the shard of %s is there: %v", part, damaged, err)
		}
	}
	j := small("tar", t.TempDir())
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
