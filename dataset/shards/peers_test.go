package shards_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
)

// scan makes an index of objects of a store.
func scan(t testing.TB, s objects.Store, f shards.Format, size int64, names ...string) *shards.Index {
	t.Helper()
	index, err := shards.Scan(t.Context(), s, f, names, shards.BlockSize(size))
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// open makes a dataset of an index, as it is after it was saved and read.
func open(t testing.TB, s objects.Store, f shards.Format, index *shards.Index, fields ...shards.Field) *shards.Dataset {
	t.Helper()
	var file bytes.Buffer
	if _, err := index.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	index, err := shards.ReadIndex(&file, f)
	if err != nil {
		t.Fatal(err)
	}
	ds, err := shards.Open(s, index, fields)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// made is what testdata/peers.py writes: the three smallest photos, smallest first.
var made = []struct {
	key   string
	size  int
	label int64
	box   []float32
	token []int64
}{
	{"n03584829_iron", 2150, 7, []float32{0, 1.5, -2.25, 1e30}, []int64{0}},
	{"n04254120_soap_dispenser", 2736, 8, []float32{1, 1.5, -2.25, 1e30}, []int64{-7, -8}},
	{"n02089078_black-and-tan_coonhound", 3544, 1, []float32{2, 1.5, -2.25, 1e30}, []int64{14, 15, 16}},
}

// TestPeersShardsHaveTheirSamples reads shards of the peers' own writers, as one block and
// as a block per sample.
func TestPeersShardsHaveTheirSamples(t *testing.T) {
	for _, c := range []struct {
		format shards.Format
		name   string
		image  string
		label  string
		box    string
		tokens string
		text   string
		blocks int // where each has one byte or more
		sample string
	}{
		{shards.WebDataset(), "webdataset/train-{000000..000000}.tar", "jpg", "cls", "box.npy", "tokens.npy", "txt", 3, "/n03584829_iron"},
		{shards.WebDataset(), "webdataset/gzip.tar.gz", ".jpg", "CLS", "box.npy", "tokens.npy", "txt", 1, "/n03584829_iron"},
		{shards.WebDataset(), "webdataset/z*.tar.zst", "jpg", "cls", "box.npy", "tokens.npy", "txt", 1, "/n03584829_iron"},
		{shards.TFRecord(), "tfrecord/train.tfrecord", "image", "label", "box", "tokens", "text", 3, ", sample 0"},
		{shards.TFRecord(), "tfrecord/gzip.tfrecord.gz", "image", "label", "box", "tokens", "text", 1, ", sample 0"},
		{shards.MDS(), "mds/index.json", "image", "label", "box", "tokens", "text", 3, ", sample 0"},
		{shards.MDS(), "mds-zstd/index.json", "image", "label", "box", "tokens", "text", 2, ", sample 0"},
	} {
		for _, size := range []int64{1, 1 << 20} {
			t.Run(fmt.Sprint(c.name, " ", size), func(t *testing.T) {
				store := objects.Folder("testdata")
				x := scan(t, store, c.format, size, c.name)
				if size == 1 && len(x.Ends()) != c.blocks {
					t.Errorf("%d blocks, want %d", len(x.Ends()), c.blocks)
				}
				ds := open(t, store, c.format, x,
					shards.Bytes("image", "missing", c.image),
					shards.Scalar[int64]("label", c.label),
					shards.Array[float32]("box", []int{2, 2}, c.box),
					shards.Ragged[int32]("tokens", nil, c.tokens),
					shards.Bytes("text", c.text))
				if ds.Len() != len(made) {
					t.Fatalf("%d samples, want %d", ds.Len(), len(made))
				}
				for i, want := range made {
					s := datatest.Sample(t, ds, i)
					image := dataset.ValuesOf[uint8](s["image"])
					if len(image) != want.size || !bytes.HasPrefix(image, []byte("\xff\xd8")) || !bytes.HasSuffix(image, []byte("\xff\xd9")) {
						t.Errorf("sample %d: the image is not the photo", i)
					}
					if got := s["label"].Data(); got != want.label {
						t.Errorf("sample %d: label %v, want %v", i, got, want.label)
					}
					if got := dataset.ValuesOf[float32](s["box"]); !slices.Equal(got, want.box) {
						t.Errorf("sample %d: box %v, want %v", i, got, want.box)
					}
					if got := fmt.Sprint(s["tokens"].Data()); got != fmt.Sprint(want.token) {
						t.Errorf("sample %d: tokens %v, want %v", i, got, want.token)
					}
					text := strings.Trim(string(dataset.ValuesOf[uint8](s["text"])), `"`)
					if strings.HasSuffix(c.name, ".json") {
						text = strings.NewReplacer(`\u017c`, "ż", `\u00f3`, "ó", `\u0142`, "ł").Replace(text)
					}
					if want := fmt.Sprintf("photo number %d: żółw", i); text != want {
						t.Errorf("sample %d: text %q, want %q", i, text, want)
					}
				}
				if got := ds.Name(0); !strings.HasSuffix(got, c.sample) && size == 1<<20 {
					r := datatest.Open(t, ds)
					if err := r.Place(t.Context(), 0, newSlot(ds)); err != nil {
						t.Fatal(err)
					}
					if got := ds.Name(0); !strings.HasSuffix(got, c.sample) {
						t.Errorf("sample 0 is named %q, want %q at its end", got, c.sample)
					}
				}
				datatest.PlacesWithoutAllocation(t, ds)
				datatest.RefusesOtherIndices(t, ds)
			})
		}
	}
}

// TestTarFormatsAreRead reads long names in all their formats.
func TestTarFormatsAreRead(t *testing.T) {
	for _, name := range []string{"ustar", "pax", "gnu"} {
		for _, size := range []int64{1, 1 << 20} {
			store := objects.Folder("testdata/webdataset")
			ds := open(t, store, shards.WebDataset(), scan(t, store, shards.WebDataset(), size, name+".tar"),
				shards.Bytes("image", "jpg"), shards.Bytes("mask", "seg.png"), shards.Scalar[uint8]("label", "cls"))
			if ds.Len() != len(made) {
				t.Fatalf("%s: %d samples, want %d", name, ds.Len(), len(made))
			}
			for i, want := range made {
				s := datatest.Sample(t, ds, i)
				if got := len(dataset.ValuesOf[uint8](s["image"])); got != want.size {
					t.Errorf("%s: image %d has %d bytes, want %d", name, i, got, want.size)
				}
				if got := string(dataset.ValuesOf[uint8](s["mask"])); got != "mask" {
					t.Errorf("%s: mask %d is %q", name, i, got)
				}
				if got := dataset.ValuesOf[uint8](s["label"])[0]; int64(got) != want.label {
					t.Errorf("%s: label %d is %v, want %d", name, i, got, want.label)
				}
			}
		}
	}
}

func TestMDSColumnsHaveTheirTypes(t *testing.T) {
	store := objects.Folder("testdata")
	ds := open(t, store, shards.MDS(), scan(t, store, shards.MDS(), 1<<20, "mds/index.json"),
		shards.Scalar[float64]("score", "score"),
		shards.Scalar[dataset.F16]("half", "half"),
		shards.Scalar[uint8]("small", "small"),
		shards.Scalar[int8]("digits", "digits"),
		shards.Array[float64]("any", []int{2, 2}, "any"),
		shards.Bytes("key", "key"))
	for i, want := range made {
		s := datatest.Sample(t, ds, i)
		got := fmt.Sprint(s["score"].Data(), dataset.ValuesOf[dataset.F16](s["half"])[0].Float32(), s["small"].Data(), s["digits"].Data(), s["any"].Data(), string(dataset.ValuesOf[uint8](s["key"])))
		score := float64(i) / 4
		if want := fmt.Sprint(score, score, 200+i, -i, []float64{float64(i), 1.5, -2.25, float64(float32(1e30))}, want.key); got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
}
