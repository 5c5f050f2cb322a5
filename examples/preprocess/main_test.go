package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/images/photos"
)

// killedAt names the file that a copy of the test program packs until it kills
// itself.
const killedAt = "PREPROCESS_TEST_OUT"

func TestMain(m *testing.M) {
	if out := os.Getenv(killedAt); out != "" {
		batches := 0
		_, err := small(out).pack(context.Background(), mustFolder(), func(int) {
			if batches++; batches < 4 {
				return
			}
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {}
		})
		panic(err) // it should have been killed
	}
	os.Exit(m.Run())
}

func mustFolder() *dataset.Folder {
	photos, err := dataset.ImageFolder(photos.Files)
	if err != nil {
		panic(err)
	}
	return photos
}

func small(out string) job {
	return job{files: photos.Files, out: out, size: 28, dtype: "uint8", workers: 2, batch: 4, skip: true}
}

func ignore(int) {}

func whole(t *testing.T) []byte {
	t.Helper()
	j := small(filepath.Join(t.TempDir(), "whole"))
	r, err := j.pack(t.Context(), mustFolder(), ignore)
	if err != nil {
		t.Fatal(err)
	}
	if r.packed != 29 || len(r.skipped) != 1 || mustFolder().Name(r.skipped[0].index) != "tiles/truncated.jpg" ||
		!strings.HasSuffix(r.skipped[0].reason, "unexpected EOF") {
		t.Errorf("%d packed, %v left out; want 29 and tiles/truncated.jpg", r.packed, r.skipped)
	}
	data, err := os.ReadFile(j.out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestKilledProgramGoesOnToTheSameFile(t *testing.T) {
	want := whole(t)
	out := filepath.Join(t.TempDir(), "killed")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killedAt+"="+out)
	child.Stderr = io.Discard
	if err := child.Run(); err == nil {
		t.Fatal("the program was not killed")
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a killed program left a file with the final name: %v", err)
	}
	var begins []int
	j := small(out)
	j.workers, j.batch = 1, 7
	if _, err := j.pack(t.Context(), mustFolder(), func(next int) { begins = append(begins, next) }); err != nil {
		t.Fatal(err)
	}
	if begins[0] != 12 {
		t.Errorf("goes on with image %d, want 12, after three batches of 4", begins[0])
	}
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want the %d that an uninterrupted run writes", len(got), err, len(want))
	}
}

func TestInterruptedProgramGoesOnToTheSameFile(t *testing.T) {
	want := whole(t)
	j := small(filepath.Join(t.TempDir(), "interrupted"))
	for stop := 4; ; stop += 8 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := j.pack(ctx, mustFolder(), func(next int) {
			if next >= stop {
				cancel()
			}
		})
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(j.out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want the %d that an uninterrupted run writes", len(got), err, len(want))
	}
}

func TestDamagedImageStopsTheWorkUnlessSkipped(t *testing.T) {
	j := small(filepath.Join(t.TempDir(), "strict"))
	j.skip = false
	r, err := j.pack(t.Context(), mustFolder(), ignore)
	if err == nil || !strings.Contains(err.Error(), "tiles/truncated.jpg") || r.packed != 28 {
		t.Errorf("%d packed, error %v; want 28 and one about tiles/truncated.jpg", r.packed, err)
	}
	j.skip = true
	if r, err = j.pack(t.Context(), mustFolder(), ignore); err != nil || r.packed != 29 {
		t.Errorf("%d packed, %v, when it is skipped after all; want 29", r.packed, err)
	}
	if got, want := readAll(t, j.out), whole(t); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want the same %d", len(got), len(want))
	}
}

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOtherWorkDoesNotGoOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "other")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := small(out).pack(ctx, mustFolder(), func(next int) {
		if next > 0 { // otherwise there is nothing that other work could lose
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*job){
		"size": func(j *job) { j.size = 30 },
		"type": func(j *job) { j.dtype = "float32" },
		"kind": func(j *job) { j.photos = "fast" },
	} {
		j := small(out)
		change(&j)
		if _, err := j.pack(t.Context(), mustFolder(), ignore); err == nil || !strings.Contains(err.Error(), "another source") {
			t.Errorf("another %s: error %v, want one about another source", name, err)
		}
	}
}

func TestFileOfOtherOptionsIsNotLoaded(t *testing.T) {
	j := small(filepath.Join(t.TempDir(), "there"))
	if err := os.WriteFile(j.out, whole(t), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*job)
		want   string
	}{
		"as before": {func(*job) {}, ""},
		"size": {func(j *job) { j.size = 30 }, "-size 30 -dtype uint8: it has image uint8 (3, 28, 28), label int64 (), " +
			"want image uint8 (3, 30, 30), label int64 ()"},
		"type": {func(j *job) { j.dtype = "float32" }, "-size 28 -dtype float32: it has image uint8 (3, 28, 28), label int64 (), " +
			"want image float32 (3, 28, 28), label int64 ()"},
		"kind": {func(j *job) { j.photos = "small" }, "-photos small: it has image uint8 (3, 28, 28), label int64 (), " +
			"want image uint8 (n), label int64 ()"},
		"list": {func(j *job) { j.files = renamed{photos.Files} }, "images of -dir: it was made of others, or in another way"},
		"skip": {func(j *job) { j.skip = false }, "images of -dir: it has 29, want 30"},
		"folder": {func(j *job) { j.files = fstest.MapFS{"one/a.jpg": {}} },
			"classes of -dir: it has [hills spheres stripes tiles], want [one]"},
	} {
		j := j
		c.change(&j)
		got := fmt.Sprint(run(t.Context(), j))
		want := "<nil>"
		if c.want != "" {
			want = j.out + " exists already, made with other options:\n\t" + c.want +
				"\ngive another -out, or remove the file"
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// renamed has the same images, but says that one of them is larger.
type renamed struct{ fs.FS }

func (r renamed) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(r.FS, name)
	if name == "hills/6.jpg" {
		info = larger{info}
	}
	return info, err
}

type larger struct{ fs.FileInfo }

func (l larger) Size() int64 { return l.FileInfo.Size() + 1 }

func TestWholePhotosArePackedAndGoOn(t *testing.T) {
	for _, level := range []string{"fast", "small"} {
		j := small(filepath.Join(t.TempDir(), level))
		j.photos = level
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := j.pack(ctx, mustFolder(), func(next int) {
			if next >= 8 {
				cancel()
			}
		}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		r, err := j.pack(t.Context(), mustFolder(), ignore)
		if err != nil || r.packed != 30 {
			t.Fatalf("%s: %d packed, want all 30, also the one that does not decode: %v", level, r.packed, err)
		}
		file, err := openPacked(j.out)
		if err != nil {
			t.Fatal(err)
		}
		direct, _, err := j.tensors(mustFolder())
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := j.tensors(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range direct.Len() {
			want, wrong := dataset.At(t.Context(), direct, i)
			got, err := dataset.At(t.Context(), again, i)
			if fmt.Sprint(wrong) != fmt.Sprint(err) || dataset.Name(again, i) != dataset.Name(direct, i) {
				t.Errorf("%s: %s: error %v, want %v", level, dataset.Name(again, i), err, wrong)
			}
			if err == nil && !bytes.Equal(dataset.ValuesOf[uint8](got["image"]), dataset.ValuesOf[uint8](want["image"])) {
				t.Errorf("%s: %s has other pixels", level, dataset.Name(again, i))
			}
		}
		if err := run(t.Context(), j); err != nil {
			t.Errorf("%s: loading with -skip: %v", level, err)
		}
		j.skip = false
		if err := run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "tiles/truncated.jpg") {
			t.Errorf("%s: loading: error %v, want one about tiles/truncated.jpg", level, err)
		}
	}
	j := small(filepath.Join(t.TempDir(), "other"))
	j.photos = "tiny"
	if _, err := j.pack(t.Context(), mustFolder(), ignore); fmt.Sprint(err) != "-photos tiny: want fast or small" {
		t.Error(err)
	}
}

func TestVerifyAndLoadNoticeDamage(t *testing.T) {
	j := small(filepath.Join(t.TempDir(), "damaged"))
	data := whole(t)
	if err := os.WriteFile(j.out, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), j.out, 2, 4); err != nil {
		t.Errorf("before damage: %v", err)
	}
	if _, _, err := load(t.Context(), j); err != nil {
		t.Errorf("before damage: %v", err)
	}
	data[3*28*28*5+100]++ // each sample has 8 bytes of label too, so this is in sample 5
	if err := os.WriteFile(j.out, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), j.out, 2, 4); err == nil || !strings.HasSuffix(err.Error(), "1 of 29 samples are damaged") {
		t.Errorf("verify: error %v, want 1 of 29 samples", err)
	}
	j.skip = false
	if _, _, err := load(t.Context(), j); err == nil || !strings.Contains(err.Error(), "sample 5 (hills/6.jpg), epoch 0, batch 3: packed: the sample at byte 11800 is damaged") {
		t.Errorf("load: error %v, want one about sample 5 at byte 11800", err)
	}
}
