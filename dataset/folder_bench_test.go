package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

// manyFiles makes folders of images named as ImageNet's are.
func manyFiles(b *testing.B, classes, files int, content string) string {
	dir := b.TempDir()
	for c := range classes {
		class := fmt.Sprintf("n%08d", c)
		for f := range files {
			write(b, filepath.Join(dir, class, fmt.Sprintf("%s_%d.JPEG", class, f)), content)
		}
	}
	return dir
}

// BenchmarkImageFolder scans 50 classes of 400 images in a warm directory cache.
func BenchmarkImageFolder(b *testing.B) {
	const files = 50 * 400
	fsys := os.DirFS(manyFiles(b, 50, 400, ""))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := imageFolder(b, fsys)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	for b.Loop() {
		imageFolder(b, fsys)
	}
	b.ReportMetric(files*float64(b.N)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(f.Len()), "held-B/file")
}

// BenchmarkFolderPlace reads warm images of 107 kB.
func BenchmarkFolderPlace(b *testing.B) {
	f := imageFolder(b, os.DirFS(manyFiles(b, 4, 100, strings.Repeat("x", 107_000))))
	r, err := f.Open()
	if err != nil {
		b.Fatal(err)
	}
	slot := dataset.NewSlot(f.Spec()...)
	ctx := b.Context()
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i = (i + 61) % f.Len()
		if err := r.Place(ctx, i, slot); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
}
