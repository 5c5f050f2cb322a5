package transform_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
)

// A goldenPhoto holds SHA-256 sums of what torchvision 0.14.1 with Pillow 9.4
// makes of a photo.
type goldenPhoto struct {
	Width, Height int
	Eval          string
	EvalTensor    string `json:"eval_tensor"`
	Box           [4]int // top, left, height, width
	Flip          bool
	Train         string
	TrainTensor   string `json:"train_tensor"`
}

// TestPhotosAreTorchvisions compares every photo's pixels and tensors, after the
// evaluation preset and after a training crop, with torchvision's. The photos are JPEG
// files, and packed photos of both levels.
func TestPhotosAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	text, err := os.ReadFile("../../shared/golden/photos.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos and their golden sums")
	}
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Photos map[string]goldenPhoto }
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	photos := sharedPhotos(t)
	if len(golden.Photos) != photos.Len() || photos.Len() == 0 {
		t.Fatalf("%d photos, %d golden ones", photos.Len(), len(golden.Photos))
	}
	sources := map[string]dataset.Dataset{"JPEG": photos}
	for name, level := range map[string]packed.Level{"fast": packed.Fast, "small": packed.Small} {
		ds, err := packed.Photos(photos, level)
		if err != nil {
			t.Fatal(err)
		}
		if sources[name], err = dataset.Cached(ds, 1<<30); err != nil { // each photo is packed once
			t.Fatal(err)
		}
	}
	uint8s := []transform.Item{transform.Layout(transform.HWC)}
	tensors := []transform.Item{transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)}
	for i := range photos.Len() {
		if testing.Short() && i%20 != 0 { // emulators are slow
			continue
		}
		want, ok := golden.Photos[path.Base(photos.Name(i))]
		if !ok {
			t.Fatalf("%s has no golden sums", photos.Name(i))
		}
		eval := []transform.Item{transform.Resize(256), transform.CenterCrop(224)}
		train := []transform.Item{transform.Crop(want.Box[0], want.Box[1], want.Box[2], want.Box[3]), transform.Resize([2]int{224, 224})}
		if want.Flip {
			train = append(train, transform.RandomHorizontalFlip(1))
		}
		for _, c := range []struct {
			name  string
			steps [2][]transform.Item
			want  string
		}{
			{"eval", [2][]transform.Item{eval, uint8s}, want.Eval},
			{"eval tensor", [2][]transform.Item{eval, tensors}, want.EvalTensor},
			{"train", [2][]transform.Item{train, uint8s}, want.Train},
			{"train tensor", [2][]transform.Item{train, tensors}, want.TrainTensor},
		} {
			for source, ds := range sources {
				if got := sum(t, ds, i, append(c.steps[0], c.steps[1]...)); got != c.want {
					t.Errorf("%s as %s: %s has other bits than torchvision's", photos.Name(i), source, c.name)
				}
			}
		}
	}
}

func sum(t *testing.T, photos dataset.Dataset, i int, steps []transform.Item) string {
	t.Helper()
	ds, err := transform.Images(photos, steps...)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, i)
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	switch values := sample["image"].Data().(type) {
	case []uint8:
		data = values
	case []float32:
		data = bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values)))
	}
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// TestOneReaderTakesAllPhotos compares a reader that has seen hundreds of other
// sizes with a fresh one: nothing that it keeps between photos may matter.
func TestOneReaderTakesAllPhotos(t *testing.T) {
	testenv.Slow(t)
	photos := sharedPhotos(t)
	ds, err := transform.Images(photos, transform.Eval(224))
	if err != nil {
		t.Fatal(err)
	}
	used, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	slot := dataset.NewSlot(ds.Spec()...)
	for round := range 2 {
		for i := range photos.Len() {
			i = (i * 131 * (round + 1)) % photos.Len() // so that sizes alternate
			if err := used.Place(context.Background(), i, slot); err != nil {
				t.Fatalf("%s: %v", photos.Name(i), err)
			}
			if round == 1 && i%5 == 0 {
				fresh, err := dataset.At(context.Background(), ds, i)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(dataset.Row[float32](slot, 0), dataset.ValuesOf[float32](fresh["image"])) {
					t.Errorf("%s: a used reader gives other pixels", photos.Name(i))
				}
			}
		}
	}
}

func sharedPhotos(t *testing.T) *dataset.Folder {
	t.Helper()
	photos, err := dataset.ImageFolder(os.DirFS("../../shared/photos"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos")
	}
	if err != nil {
		t.Fatal(err)
	}
	return photos
}
