package parquet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// peersPython is the environment variable with the Python that runs testdata/peers.py.
const peersPython = "PENSTOCK_PEERS"

// TestPhotosInParquetAreTorchvisions compares the pixels of photos in Parquet files with the
// golden file: in one that parquet-go wrote, and in those of Hugging Face's datasets if there is
// a Python that has it.
func TestPhotosInParquetAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	if testing.Short() {
		t.Skip("334 photos take minutes in an emulator")
	}
	text, err := os.ReadFile("../../../../shared/golden/photos.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos and their golden sums")
	}
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Photos map[string]struct{ Eval string }
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../../../shared/photos")
	if err != nil {
		t.Fatal(err)
	}
	photos, err := dataset.ImageFolder(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]int64{}
	for i := range photos.Len() {
		labels[path.Base(photos.Name(i))] = int64(photos.Labels()[i])
	}
	dir := t.TempDir()
	rows := make([]photo, photos.Len())
	for i := range rows {
		name := photos.Name(i)
		if rows[i].Image.Bytes, err = os.ReadFile(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		rows[i].Image.Path, rows[i].Label = path.Base(name), int64(photos.Labels()[i])
	}
	writePhotos(t, filepath.Join(dir, "own-0.parquet"), rows)
	type file struct {
		name   string
		blocks int
	}
	files := []file{{"own-0.parquet", 5}}
	if python := os.Getenv(peersPython); python != "" {
		if out, err := exec.CommandContext(t.Context(), python, "testdata/peers.py", root, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files = append(files, file{"photos.parquet", 8}, file{"groups.parquet", 4})
	}
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			store := objects.Folder(dir)
			index := scan(t, store, parquet.Format(), 4<<20, c.name)
			ds := open(t, store, index, shards.Bytes("image", "image"), shards.Scalar[int64]("label", "label"))
			if ds.Len() != photos.Len() || len(ds.Ends()) != c.blocks {
				t.Fatalf("%d photos in %d blocks, want %d in %d", ds.Len(), len(ds.Ends()), photos.Len(), c.blocks)
			}
			pixels, err := transform.Images(ds, transform.Resize(256), transform.CenterCrop(224), transform.Layout(transform.HWC))
			if err != nil {
				t.Fatal(err)
			}
			l, err := loader.New(pixels, loader.BatchSize(16), loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(4))))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			seen := map[string]bool{}
			for batch, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				for row := range batch.Len() {
					name := path.Base(batch.Name(row))
					seen[name] = true
					size := len(batch.Bytes("image")) / batch.Len()
					sum := sha256.Sum256(batch.Bytes("image")[row*size:][:size])
					if got := hex.EncodeToString(sum[:]); got != golden.Photos[name].Eval {
						t.Errorf("%s has other pixels than torchvision's", name)
					}
					if got := loader.Values[int64](batch, "label")[row]; got != labels[name] {
						t.Errorf("%s has the label %d, want %d", name, got, labels[name])
					}
				}
			}
			if len(seen) != photos.Len() {
				t.Errorf("%d photos in an epoch, want %d", len(seen), photos.Len())
			}
		})
	}
}

// TestAnyWorkersAndAnyResumeGiveTheSameSamples reads an epoch of divided row groups with 1
// and 3 workers, and with 2 from a position in the middle.
func TestAnyWorkersAndAnyResumeGiveTheSameSamples(t *testing.T) {
	store := objects.Folder("testdata")
	index := scan(t, store, parquet.Format(), 2<<10, "plain-v1-none.parquet")
	var want []string
	for _, c := range []struct{ workers, skip int }{{1, 0}, {3, 0}, {2, 9}} {
		ds := open(t, store, index, shards.Scalar[int64]("i", "i"), shards.Bytes("s", "s"))
		l, err := loader.New(ds, loader.BatchSize(37), loader.Workers(c.workers), loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(3))))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		from := l.Position(2)
		from.Draw = 37 * c.skip
		for b, err := range l.From(t.Context(), from, 3) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(b.Indices(), loader.Values[int64](b, "i"), string(b.Bytes("s"))))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if want == nil {
			want = got
		}
		if strings.Join(got, "\n") != strings.Join(want[c.skip:], "\n") {
			t.Errorf("%d workers from batch %d: other batches", c.workers, c.skip)
		}
	}
}
