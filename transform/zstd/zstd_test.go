package zstd_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/internal/pillowtest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/zstd"
)

// files are those of internal/codec/tiff with Zstandard frames.
func files(t *testing.T) (all []pillowtest.File) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../internal/codec/tiff")
	defer t.Chdir(here)
	for _, f := range pillowtest.Files(t) {
		if strings.Contains(f.Name, "zstd") && f.RGB != "" {
			all = append(all, f)
		}
	}
	if len(all) < 2 {
		t.Fatalf("only %d files", len(all))
	}
	return all
}

func TestFilesAreThoseOfPillow(t *testing.T) {
	testenv.OneGoroutine(t)
	var group sync.WaitGroup
	defer group.Wait()
	for _, f := range files(t) {
		one, err := transform.Compile(transform.CenterCrop([2]int{f.H, f.W}), zstd.TIFF())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 { // at the same time
			group.Go(func() {
				pix := make([]byte, 3*f.W*f.H)
				if err := one.IntoBytes(pix, transform.File(f.Data)); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				if sum := sha256.Sum256(pix); hex.EncodeToString(sum[:]) != f.RGB {
					t.Errorf("%s: other pixels than Pillow's", f.Name)
				}
			})
		}
	}
}

func TestFileIsUnsupportedWithoutTheStep(t *testing.T) {
	f := files(t)[0]
	one, err := transform.Compile(transform.CenterCrop([2]int{f.H, f.W}))
	if err != nil {
		t.Fatal(err)
	}
	err = one.IntoBytes(make([]byte, 3*f.W*f.H), transform.File(f.Data))
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "package transform/zstd adds it") {
		t.Errorf("got %v, want an error that names this package", err)
	}
}

func TestDamagedFramesAreErrors(t *testing.T) {
	for _, f := range files(t) {
		frame := strings.Index(string(f.Data), "\x28\xb5\x2f\xfd")
		if frame < 0 {
			t.Fatalf("%s: no frame", f.Name)
		}
		one, err := transform.Compile(zstd.TIFF(), transform.CenterCrop([2]int{f.H, f.W}))
		if err != nil {
			t.Fatal(err)
		}
		damaged := append([]byte(nil), f.Data...)
		damaged[frame] ^= 1
		if err := one.IntoBytes(make([]byte, 3*f.W*f.H), transform.File(damaged)); err == nil || errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "zstd: ") {
			t.Errorf("%s: got %v, want an error of zstd", f.Name, err)
		}
	}
}
