package data_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/transform"
)

func TestPhotosAreOfRealisticSize(t *testing.T) {
	count, least, most := 50, int64(100_000), int64(120_000)
	if testing.Short() {
		count, least, most = 8, 70_000, 160_000
	}
	dir, err := data.Photos(t.Context(), t.TempDir(), count)
	if err != nil {
		t.Fatal(err)
	}
	n, bytes := 0, int64(0)
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n, bytes = n+1, bytes+info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if mean := bytes / int64(n); n != count || mean < least || mean > most {
		t.Errorf("%d photos of %d bytes on average, want %d of about 110,000", n, mean, count)
	}
	photos, err := dataset.ImageFolder(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	ds, err := transform.Images(photos, transform.Eval(224))
	if err != nil {
		t.Fatal(err)
	}
	for i := range ds.Len() {
		if _, err := dataset.At(t.Context(), ds, i); err != nil {
			t.Error(err)
		}
	}
}

func TestMadeDataIsWhatItsReaderReads(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	for _, c := range []struct {
		name string
		open func() (dataset.Dataset, error)
		want int
	}{
		{"items", func() (dataset.Dataset, error) {
			dir, err := data.Items(ctx, root, 5, dataset.Float32, 8)
			if err != nil {
				return nil, err
			}
			return packed.Items(os.DirFS(dir), "*.raw", data.Image(dataset.Float32, 8))
		}, 5},
		{"bytes", func() (dataset.Dataset, error) {
			dir, err := data.Items(ctx, root, 6, dataset.Uint8, 8)
			if err != nil {
				return nil, err
			}
			return packed.Items(os.DirFS(dir), "*.raw", data.Image(dataset.Uint8, 8))
		}, 6},
		{"cifar100", func() (dataset.Dataset, error) {
			dir, err := data.CIFAR100(ctx, root, 130)
			if err != nil {
				return nil, err
			}
			return classic.CIFAR100(os.DirFS(dir), classic.Train)
		}, 130},
		{"volumes", func() (dataset.Dataset, error) {
			dir, err := data.Volumes(ctx, root, 2)
			if err != nil {
				return nil, err
			}
			cohort, err := volume.Open(os.DirFS(dir), volume.Scan("ct", "{patient}/ct.nrrd"), volume.Scan("pet", "{patient}/pet.nrrd"),
				volume.Mask("truth", "{patient}/truth.nrrd"), volume.Mask("prediction", "{patient}/prediction.nrrd"))
			if err != nil {
				return nil, err
			}
			return cohort.Slices(ctx)
		}, 2 * data.VolumeShape[0]},
	} {
		ds, err := c.open()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if ds.Len() != c.want {
			t.Errorf("%s: %d samples, want %d", c.name, ds.Len(), c.want)
		}
		for i := range ds.Len() {
			if _, err := dataset.At(ctx, ds, i); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestFoldersAreMadeOnceAndTheSameEverywhere(t *testing.T) {
	for name, make := range map[string]func(ctx context.Context, root string) (string, error){
		"photos":  func(ctx context.Context, root string) (string, error) { return data.Photos(ctx, root, 2) },
		"volumes": func(ctx context.Context, root string) (string, error) { return data.Volumes(ctx, root, 1) },
		"cifar":   func(ctx context.Context, root string) (string, error) { return data.CIFAR100(ctx, root, 9) },
		"H.264":   func(ctx context.Context, root string) (string, error) { return data.Clips(ctx, root, 1, data.H264, 30) },
		"VP9":     func(ctx context.Context, root string) (string, error) { return data.Clips(ctx, root, 1, data.VP9, 30) },
	} {
		root := t.TempDir()
		dir, err := make(t.Context(), root)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Logf("%s: %v", name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		other, err := make(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if digest(t, dir) != digest(t, other) {
			t.Errorf("%s: two folders differ", name)
		}
		mark := filepath.Join(dir, "mark")
		if err := os.WriteFile(mark, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if again, err := make(t.Context(), root); err != nil || again != dir {
			t.Errorf("%s: made %s, %v, then %s", name, dir, err, again)
		}
		if _, err := os.Stat(mark); err != nil {
			t.Errorf("%s: the folder was made again", name)
		}
	}
}

func TestWhatIsNotCompleteLeavesNothing(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := data.Photos(ctx, root, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	for _, n := range []int{0, -1, 1 << 30} {
		if _, err := data.Photos(t.Context(), root, n); err == nil {
			t.Errorf("%d photos: no error", n)
		}
	}
}

// digest sums up the files of a folder, names and contents.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		h.Write([]byte(path))
		h.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestVideosHaveTheirFramesAndKeyFrames(t *testing.T) {
	if _, err := exec.LookPath("ffprobe"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		codec data.Codec
		gop   int
	}{{data.H264, 30}, {data.H264, 250}, {data.VP9, 30}} {
		dir, err := data.Clips(t.Context(), t.TempDir(), 1, c.codec, c.gop)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Logf("%s: %v", c.codec, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v: want one file", files, err)
		}
		packets, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", "packet=flags", "-of", "csv=p=0", files[0]).Output()
		if err != nil {
			t.Fatal(err)
		}
		frames, keys := strings.Count(string(packets), "\n"), strings.Count(string(packets), "K")
		info, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if least := (data.ClipFrames + c.gop - 1) / c.gop; frames != data.ClipFrames || keys < least || keys > least+2 || info.Size() < 200_000 || info.Size() > 450_000 {
			t.Errorf("%s: %d frames, %d of them keys, %d bytes: want %d, %d, some 300,000", c.codec, frames, keys, info.Size(), data.ClipFrames, least)
		}
	}
	if _, err := data.Clips(t.Context(), t.TempDir(), 1, "theora", 30); err == nil {
		t.Error("a codec that there is not: no error")
	}
}

func TestTokensHaveTheLengthsOfTexts(t *testing.T) {
	dir, err := data.Tokens(t.Context(), t.TempDir(), 2000)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tokens.Open(os.DirFS(dir), "tokens.idx")
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := f.Lengths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lengths)
	if mean, median := f.Tokens()/2000, lengths[1000]; len(lengths) != 2000 || mean < 1000 || mean > 1250 || median < 540 || median > 670 {
		t.Errorf("%d documents of %d tokens, the median is %d", len(lengths), mean, median)
	}
}
