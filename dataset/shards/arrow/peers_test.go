package arrow_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/arrow"
	"github.com/penstock-go/penstock/internal/datatest"
)

func scan(t testing.TB, s objects.Store, f shards.Format, size int64, names ...string) *shards.Index {
	t.Helper()
	index, err := shards.Scan(t.Context(), s, f, names, shards.BlockSize(size))
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func open(t testing.TB, s objects.Store, index *shards.Index, fields ...shards.Field) *shards.Dataset {
	t.Helper()
	ds, err := shards.Open(s, index, fields)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// made is what testdata/peers.py writes: the three smallest photos, smallest first.
var made = []struct {
	name  string
	size  int
	label int64
}{
	{"n03584829_iron.JPEG", 2150, 7},
	{"n04254120_soap_dispenser.JPEG", 2736, 8},
	{"n02089078_black-and-tan_coonhound.JPEG", 3544, 1},
}

func TestHuggingFacesPhotosAreRead(t *testing.T) {
	store := objects.Folder("testdata")
	for _, f := range []shards.Format{arrow.Format(), arrow.Format(arrow.Columns("image", "label"))} {
		index := scan(t, store, f, 1, "photos-*.arrow")
		ds := open(t, store, index, shards.Bytes("image", "jpg", "image"), shards.Scalar[int64]("label", "label"), shards.Bytes("path", "image.path"))
		if ds.Len() != len(made) || len(index.Objects()) != 2 {
			t.Fatalf("%d samples in %d files, want %d in 2", ds.Len(), len(index.Objects()), len(made))
		}
		for i, want := range made {
			s := datatest.Sample(t, ds, i)
			image := dataset.ValuesOf[uint8](s["image"])
			if len(image) != want.size || !bytes.HasPrefix(image, []byte("\xff\xd8")) || !bytes.HasSuffix(image, []byte("\xff\xd9")) {
				t.Errorf("sample %d: the image is not the photo", i)
			}
			if s["label"].Data() != want.label || string(dataset.ValuesOf[uint8](s["path"])) != want.name {
				t.Errorf("sample %d: label %v, path %s, want %v", i, s["label"], s["path"].Data(), want)
			}
			if got := ds.Name(i); !strings.HasPrefix(got, "photos-data-0000") || !strings.HasSuffix(got, "-of-00002.arrow/"+want.name) {
				t.Errorf("sample %d is named %q", i, got)
			}
		}
		classes := arrow.Classes(index, "label")
		if len(classes) != 10 || classes[0] != "bird" || classes[9] != "reptile" {
			t.Errorf("classes %q", classes)
		}
		datatest.PlacesWithoutAllocation(t, ds)
		datatest.RefusesOtherIndices(t, ds)
	}
}

func TestColumnsHaveTheirTypes(t *testing.T) {
	store := objects.Folder("testdata")
	for _, c := range []struct {
		size int64
		ends []int
	}{{1, []int{16, 32, 40}}, {8 << 20, []int{40}}} {
		index := scan(t, store, arrow.Format(), c.size, "types.arrow")
		if got := index.Ends(); !slices.Equal(got, c.ends) {
			t.Errorf("blocks of %d bytes end at %v, want %v", c.size, got, c.ends)
		}
		typed(t, store, index)
	}
}

func typed(t *testing.T, store objects.Store, index *shards.Index) {
	ds := open(t, store, index,
		shards.Bytes("text", "text"), shards.Bytes("long", "long"), shards.Ragged[int64]("tokens", nil, "tokens"), shards.Array[int16]("large", []int{2}, "large"),
		shards.Array[float32]("box", []int{4}, "box"), shards.Array[float32]("matrix", []int{2, 3}, "matrix"),
		shards.Scalar[bool]("flag", "flag"), shards.Ragged[bool]("flags", nil, "flags"), shards.Scalar[int8]("small", "small"),
		shards.Scalar[uint64]("huge", "huge"), shards.Scalar[dataset.F16]("half", "half"), shards.Scalar[float64]("score", "score"),
		shards.Scalar[int64]("class", "inner.class"), shards.Scalar[int64]("when", "when"),
		shards.Ragged[float32]("boxes", []int{2}, "objects.box"), shards.Ragged[int64]("areas", nil, "objects.area"))
	if ds.Len() != 40 {
		t.Fatalf("%d samples, want 40", ds.Len())
	}
	for i := range ds.Len() {
		s := datatest.Sample(t, ds, i)
		var tokens, areas []int64
		var flags []bool
		var boxes []float32
		for k := range i % 5 {
			tokens = append(tokens, int64(k))
		}
		for k := range i % 4 {
			flags = append(flags, k%2 == 0)
		}
		for k := range i % 3 {
			areas, boxes = append(areas, int64(k)), append(boxes, float32(i), float32(k))
		}
		x := float32(i)
		got := fmt.Sprint(string(dataset.ValuesOf[uint8](s["text"])), len(dataset.ValuesOf[uint8](s["long"])), s["tokens"].Data(), s["large"].Data(), s["box"].Data(),
			s["matrix"].Data(), s["flag"].Data(), s["flags"].Data(), s["small"].Data(), s["huge"].Data(), dataset.ValuesOf[dataset.F16](s["half"])[0].Float32(),
			s["score"].Data(), s["class"].Data(), s["when"].Data(), s["boxes"].Data(), s["areas"].Data())
		want := fmt.Sprint(fmt.Sprintf(`{"n": %d, "ż": true}`, i), i, tokens, []int16{int16(-i), int16(i)}, []float32{x, x + 0.5, 0 - x, 1e30},
			[]float32{x, x + 1, x + 2, x + 3, x + 4, x + 5}, i%3 == 0, flags, i-20, uint64(1<<63-1)-uint64(i), x/4,
			float64(i)/8, i%2, i, boxes, areas)
		if got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
	if got := arrow.Classes(index, "inner.class"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("classes of inner.class %q", got)
	}
	sometimes := open(t, store, index, shards.Scalar[int64]("n", "sometimes", "small"))
	for _, c := range []struct {
		i    int
		want int64
	}{{1, 1}, {2, -18}, {39, 39}} {
		if got := datatest.Sample(t, sometimes, c.i)["n"].Data(); got != c.want {
			t.Errorf("sample %d: %v, want %v: where a column is null, the next one is taken", c.i, got, c.want)
		}
	}
	nested := open(t, store, index, shards.Ragged[int64]("nested", []int{2}, "nested"))
	for _, i := range []int{1, 2, 38} {
		var want []int64
		for range i % 3 {
			want = append(want, int64(i), int64(i+1))
		}
		if got := fmt.Sprint(datatest.Sample(t, nested, i)["nested"].Data()); got != fmt.Sprint(want) {
			t.Errorf("sample %d: %s, want %v", i, got, want)
		}
	}
	if err := place(t, nested, 7); err == nil || !strings.Contains(err.Error(), "the sample has no column nested") {
		t.Errorf("lists of different lengths: error %v", err)
	}
}

// place reads a sample, for its error.
func place(t testing.TB, ds *shards.Dataset, i int) error {
	return datatest.Open(t, ds).Place(t.Context(), i, newSlot(ds))
}

func newSlot(ds dataset.Dataset) dataset.Slot { return dataset.NewSlot(ds.Spec()...) }

func TestColumnsThatCannotBeReadSayWhy(t *testing.T) {
	store := objects.Folder("testdata")
	index := scan(t, store, arrow.Format(), 1, "types.arrow")
	for column, want := range map[string]string{
		"texts":   `column "texts" of Arrow: lists of texts or files are not supported`,
		"price":   `column "price" of Arrow: the type decimal(10, 2) is not supported`,
		"nothing": "no column nothing of Arrow, only text, long, tokens",
	} {
		if _, err := shards.Open(store, index, []shards.Field{shards.Bytes("x", column)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("column %s: error %v, want %q", column, err, want)
		}
	}
	if _, err := shards.Scan(t.Context(), store, arrow.Format(arrow.Columns("nothing", "price")), []string{"types.arrow"}); err == nil ||
		!strings.Contains(err.Error(), "no column nothing or price that can be read, only text, long") {
		t.Errorf("columns that are not there: error %v", err)
	}
	if _, err := shards.Scan(t.Context(), store, arrow.Format(arrow.MaxBlockBytes(0)), []string{"types.arrow"}); err == nil || !strings.Contains(err.Error(), "MaxBlockBytes(0)") {
		t.Errorf("no memory: error %v", err)
	}
}
