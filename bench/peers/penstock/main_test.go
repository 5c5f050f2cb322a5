package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// grayPhotos is a folder of two classes with n photos each, all of level 128.
func grayPhotos(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	picture := image.NewGray(image.Rect(0, 0, 300, 260))
	for i := range picture.Pix {
		picture.Pix[i] = 128
	}
	var text bytes.Buffer
	if err := jpeg.Encode(&text, picture, nil); err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			name := filepath.Join(dir, class, string(rune('0'+i))+".jpg")
			if err := os.WriteFile(name, text.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestLinesSayWhatTheRunnerReads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor time and memory are read from Linux's /proc")
	}
	o := options{folder: grayPhotos(t, 3), work: "eval", workers: 2, batch: 4, epochs: 2, samples: 16}
	var out bytes.Buffer
	if err := run(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(&out)
	for epoch := range o.epochs + 1 {
		var got line
		if err := lines.Decode(&got); err != nil {
			t.Fatalf("line %d: %v", epoch, err)
		}
		if got.Epoch != epoch || got.Work != "eval" || got.Workers != 2 || got.Batch != 4 || got.FirstMs <= 0 {
			t.Errorf("line %d: %+v", epoch, got)
		}
		if epoch == 0 {
			// (128/255 - mean) / std over the three channels
			if math.Abs(got.Mean-0.2352) > 1e-3 || got.MemoryMB <= 0 {
				t.Errorf("first line: mean %v, %v MB: want 0.2352, and some memory", got.Mean, got.MemoryMB)
			}
		} else if got.ImagesPerSecond <= 0 {
			t.Errorf("line %d: %+v", epoch, got)
		}
	}
	if err := lines.Decode(new(line)); err != io.EOF {
		t.Errorf("after the last epoch: %v: want the end", err)
	}
}

func TestPixelsAreEveryPhotoOnce(t *testing.T) {
	var out bytes.Buffer
	o := options{folder: grayPhotos(t, 3), workers: 2, batch: 4, samples: 100, pixels: true}
	if err := run(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.Len(), 6*3*224*224*4; got != want {
		t.Errorf("%d bytes: want %d", got, want)
	}
}
