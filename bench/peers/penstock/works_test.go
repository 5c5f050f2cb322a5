package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"
)

// firstLine is what the work says of its first epoch.
func firstLine(t *testing.T, o options) line {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processor time and memory are read from Linux's /proc")
	}
	var out bytes.Buffer
	if err := run(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	var got line
	if err := json.NewDecoder(&out).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestItemsComeInOrderAgainAndAgain(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"0.bin", "1.bin", "2.bin"} {
		values := make([]float32, 3*224*224)
		for k := range values {
			values[k] = float32(i)
		}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
		if err := os.WriteFile(filepath.Join(dir, name), bytes, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := firstLine(t, options{folder: dir, work: "preprocessed", workers: 2, batch: 2, samples: 8})
	if want := 1.5; got.Mean != want { // of items 1 and 2, the third batch
		t.Errorf("mean %v: want %v", got.Mean, want)
	}
}

func TestTinyPicturesAreNormalised(t *testing.T) {
	dir := t.TempDir()
	pixels := bytes.Repeat([]byte{255}, 10*3*32*32)
	clear(pixels[:4*3*32*32]) // the first batch
	clear(pixels[8*3*32*32:]) // the third
	if err := os.WriteFile(filepath.Join(dir, "pictures.bin"), pixels, 0o666); err != nil {
		t.Fatal(err)
	}
	got := firstLine(t, options{folder: dir, work: "cifar", workers: 2, batch: 4, samples: 10})
	if math.Abs(got.Mean-1) > 1e-6 {
		t.Errorf("mean %v of the second batch: want 1", got.Mean)
	}
}
