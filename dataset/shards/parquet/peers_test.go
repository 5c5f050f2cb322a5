package parquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/datatest"
)

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

// TestHuggingFacesPhotosAreRead reads the files of datasets and pyarrow, as one block and
// as a block per page.
func TestHuggingFacesPhotosAreRead(t *testing.T) {
	store := objects.Folder("testdata")
	for _, name := range []string{"photos.parquet", "groups.parquet"} {
		for _, c := range []struct {
			size   int64
			format shards.Format
		}{{1, parquet.Format()}, {1 << 20, parquet.Format()}, {1 << 20, parquet.Format(parquet.Columns("image", "label"))}} {
			index := scan(t, store, c.format, c.size, name)
			ds := open(t, store, index, shards.Bytes("image", "jpg", "image"), shards.Scalar[int64]("label", "label"), shards.Bytes("path", "image.path"))
			if ds.Len() != len(made) {
				t.Fatalf("%s: %d samples, want %d", name, ds.Len(), len(made))
			}
			for i, want := range made {
				s := datatest.Sample(t, ds, i)
				image := dataset.ValuesOf[uint8](s["image"])
				if len(image) != want.size || !bytes.HasPrefix(image, []byte("\xff\xd8")) || !bytes.HasSuffix(image, []byte("\xff\xd9")) {
					t.Errorf("%s: sample %d: the image is not the photo", name, i)
				}
				if s["label"].Data() != want.label || string(dataset.ValuesOf[uint8](s["path"])) != want.name {
					t.Errorf("%s: sample %d: label %v, path %s, want %v", name, i, s["label"], s["path"].Data(), want)
				}
			}
			if err := datatest.Open(t, ds).Place(t.Context(), 1, newSlot(ds)); err != nil {
				t.Fatal(err)
			}
			if got, want := ds.Name(1), name+"/"+made[1].name; got != want {
				t.Errorf("sample 1 is named %q, want %q", got, want)
			}
			classes := parquet.Classes(index, "label")
			if len(classes) != 10 || classes[0] != "bird" || classes[9] != "reptile" {
				t.Errorf("%s: classes %q", name, classes)
			}
			datatest.PlacesWithoutAllocation(t, ds)
			datatest.RefusesOtherIndices(t, ds)
		}
	}
}

func TestColumnsHaveTheirTypes(t *testing.T) {
	store := objects.Folder("testdata")
	index := scan(t, store, parquet.Format(), 1, "types.parquet")
	ds := open(t, store, index,
		shards.Bytes("text", "text"), shards.Ragged[int64]("tokens", nil, "tokens"), shards.Array[float32]("box", []int{4}, "box"),
		shards.Array[float32]("matrix", []int{2, 3}, "matrix"), shards.Scalar[bool]("flag", "flag"), shards.Scalar[int8]("small", "small"),
		shards.Scalar[uint64]("large", "large"), shards.Scalar[dataset.F16]("half", "half"), shards.Scalar[float64]("score", "score"),
		shards.Scalar[int64]("class", "inner.class"), shards.Scalar[int64]("when", "when"))
	if ds.Len() != 40 {
		t.Fatalf("%d samples, want 40", ds.Len())
	}
	for i := range ds.Len() {
		s := datatest.Sample(t, ds, i)
		var tokens []int64
		for k := range i % 5 {
			tokens = append(tokens, int64(k))
		}
		x := float32(i)
		got := fmt.Sprint(string(dataset.ValuesOf[uint8](s["text"])), s["tokens"].Data(), s["box"].Data(), s["matrix"].Data(), s["flag"].Data(), s["small"].Data(),
			s["large"].Data(), dataset.ValuesOf[dataset.F16](s["half"])[0].Float32(), s["score"].Data(), s["class"].Data(), s["when"].Data())
		want := fmt.Sprint(fmt.Sprintf(`{"n": %d, "ż": true}`, i), tokens, []float32{x, x + 0.5, 0 - x, 1e30}, []float32{x, x + 1, x + 2, x + 3, x + 4, x + 5},
			i%3 == 0, i-20, uint64(1<<63-1)-uint64(i), float32(i)/4, float64(i)/8, i%2, i)
		if got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
	if got := parquet.Classes(index, "inner.class"); !slices.Equal(got, []string{"a", "b"}) {
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
	for i := range nested.Len() {
		slot := newSlot(nested)
		err := datatest.Open(t, nested).Place(t.Context(), i, slot)
		switch i % 3 {
		case 0:
			continue // no inner list says how long they are
		case 1:
			if i == 7 {
				if want := `the sample has no column nested`; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("sample 7: error %v, want %q", err, want)
				}
				continue
			}
		}
		var want []int64
		for range i % 3 {
			want = append(want, int64(i), int64(i)+1)
		}
		if got := fmt.Sprint(dataset.ValuesOf[int64](datatest.Sample(t, nested, i)["nested"])); err != nil || got != fmt.Sprint(want) {
			t.Errorf("sample %d: %v, %v, want %v", i, got, err, want)
		}
	}
	for column, want := range map[string]string{
		"texts": "lists of texts", "price": "decimal", "missing": "no column missing of Parquet, only text, tokens",
	} {
		if _, err := shards.Open(store, index, []shards.Field{shards.Bytes("x", column)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("column %s: error %v, want %q", column, err, want)
		}
	}
}

// TestAllEncodingsHaveTheSameValues reads the same table in six files, in any order, as
// blocks of rows that pages of the columns do not end at.
func TestAllEncodingsHaveTheSameValues(t *testing.T) {
	store := objects.Folder("testdata")
	for _, name := range []string{"plain-v1-none", "dictionary-v1-snappy", "dictionary-v2-zstd", "plain-v2-gzip", "delta-v2-brotli", "delta-v1-lz4"} {
		for _, size := range []int64{1, 2 << 10, 1 << 20} {
			index := scan(t, store, parquet.Format(), size, name+".parquet")
			if n := len(index.Ends()); size == 1 && n < 3 || size == 1<<20 && n != 1 {
				t.Errorf("%s: %d blocks of %d bytes or more", name, n, size)
			}
			ds := open(t, store, index, shards.Scalar[int64]("i", "i"), shards.Scalar[int32]("j", "j", "i"), shards.Scalar[float32]("f", "f"),
				shards.Bytes("s", "s"), shards.Bytes("x", "x"), shards.Scalar[bool]("b", "b"), shards.Ragged[int32]("l", nil, "l"))
			for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(1000) {
				s := datatest.Sample(t, ds, i)
				j := i
				if i%10 == 3 {
					j = i*7%1000 - 500
				}
				var l []int32
				for range i % 4 {
					l = append(l, int32(i))
				}
				got := fmt.Sprint(s["i"].Data(), s["j"].Data(), s["f"].Data(), string(dataset.ValuesOf[uint8](s["s"])), s["x"].Data(), s["b"].Data(), s["l"].Data())
				want := fmt.Sprint(i*7%1000-500, j, float32(i)/16, fmt.Sprintf("text %05d", i/3), []byte{byte(i >> 16), byte(i >> 8), byte(i)}, i%3 == 0, l)
				if got != want {
					t.Fatalf("%s, blocks of %d bytes: sample %d: %s, want %s", name, size, i, got, want)
				}
			}
		}
	}
}
