package shards_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// mdsStore holds the files of testdata/mds.
func mdsStore(t testing.TB) *memoryStore {
	t.Helper()
	s := &memoryStore{objects: map[string][]byte{}}
	for _, name := range []string{"index.json", "shard.00000.mds", "shard.00001.mds"} {
		data, err := os.ReadFile("testdata/mds/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.objects["train/"+name] = data
	}
	return s
}

// readMDS reads all samples and returns the first error.
func readMDS(t testing.TB, s *memoryStore, fields ...shards.Field) error {
	t.Helper()
	x, err := shards.Scan(t.Context(), s, shards.MDS(shards.MaxBlockBytes(fuzzLimit)), []string{"train/index.json"}, shards.BlockSize(1))
	if err != nil {
		return err
	}
	ds, err := shards.Open(s, x, fields)
	if err != nil {
		return err
	}
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for i := range ds.Len() {
		if err := r.Place(t.Context(), i, slot); err != nil {
			return err
		}
	}
	return nil
}

func TestWrongMDSIsAnError(t *testing.T) {
	any := shards.Array[float64]("x", []int{2, 2}, "any")
	replace := func(old, new string) func(map[string][]byte) {
		return func(o map[string][]byte) {
			o["train/index.json"] = bytes.Replace(o["train/index.json"], []byte(old), []byte(new), 1)
		}
	}
	number := func(at int, n uint32) func(map[string][]byte) {
		return func(o map[string][]byte) { binary.LittleEndian.PutUint32(o["train/shard.00000.mds"][at:], n) }
	}
	for what, c := range map[string]struct {
		change func(map[string][]byte)
		field  shards.Field
		want   string
	}{
		"nothing wrong":          {func(map[string][]byte) {}, any, "<nil>"},
		"no JSON":                {replace("{", "["), any, "scan train/index.json: invalid character"},
		"another version":        {replace(`"version": 2}`, `"version": 1}`), any, "version 1"},
		"a way out":              {replace("shard.00000.mds", "../../etc/passwd"), any, `is not in the header's folder`},
		"a missing shard":        {replace("shard.00000.mds", "missing.mds"), any, `shard 0, "missing.mds": stat train/missing.mds: file does not exist`},
		"another size":           {replace(`"bytes": 5705`, `"bytes": 5704`), any, "5705 bytes, want 5704"},
		"other columns":          {replace(`"any"`, `"other"`), any, "its columns are not those of"},
		"too many samples":       {replace(`"samples": 2`, `"samples": 99999999999`), any, "99999999999 samples in 5705 bytes"},
		"other samples":          {replace(`"samples": 2`, `"samples": 3`), any, "2 samples, want 3"},
		"another compression":    {replace(`"zip_data": null`, `"zip_data": {"basename": "shard.00000.mds", "bytes": 5705}`), any, `compression "": want gz or zstd`},
		"offsets that decrease":  {number(8, 5), any, "sample 0 ends at byte 5, after byte"},
		"an offset after it all": {number(12, 1<<31), any, "sample 1 ends at byte 2147483648, after byte"},
		"an early end":           {number(12, 5000), any, "the samples end at byte 5000 of 5705"},
		"a late beginning":       {number(4, 1<<31), any, "the first sample begins at byte 2147483648 of 5705"},
		"an early beginning":     {number(4, 4), any, "the first sample begins at byte 4 of 5705"},
		"no such column":         {func(map[string][]byte) {}, shards.Bytes("x", "y"), "no column y of MDS, only any, box, digits"},
		"pickles":                {func(map[string][]byte) {}, shards.Bytes("x", "object"), `column "object" of MDS: the encoding pkl is pickled Python objects`},
		"another shape":          {func(map[string][]byte) {}, shards.Array[float64]("x", []int{4}, "any"), `field "x": shape [2 2], want [4]`},
		"another dtype":          {func(map[string][]byte) {}, shards.Array[int64]("x", []int{2, 2}, "any"), `field "x": values of float64, want int64`},
	} {
		s := mdsStore(t)
		c.change(s.objects)
		if got := fmt.Sprint(readMDS(t, s, c.field)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestDamagedMDSSamplesAreErrors changes the sizes and the array's header in a sample.
func TestDamagedMDSSamplesAreErrors(t *testing.T) {
	any := shards.Array[float64]("x", []int{2, 2}, "any")
	begin := int(binary.LittleEndian.Uint32(mdsStore(t).objects["train/shard.00000.mds"][4:]))
	for what, c := range map[string]struct {
		at    int
		value byte
		want  string
	}{
		"a larger size":  {begin + 2, 1, "shards: train/shard.00000.mds, block at byte"},
		"a smaller size": {begin, 20, "shards: train/shard.00000.mds, block at byte"},
		"no dtype":       {begin + 7*4, 3, `column "any": an array of the unknown type 3`},
		"many dims":      {begin + 7*4 + 1, 0xff, `column "any": unexpected EOF`},
		"another dim":    {begin + 7*4 + 2, 3, "32 bytes of data for shape [3 2]"},
	} {
		s := mdsStore(t)
		s.objects["train/shard.00000.mds"][c.at] = c.value
		if got := fmt.Sprint(readMDS(t, s, any)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// FuzzMDS changes the index and the first shard.
func FuzzMDS(f *testing.F) {
	s := mdsStore(f)
	f.Add(s.objects["train/index.json"], s.objects["train/shard.00000.mds"])
	f.Add([]byte(`{"version":2,"shards":[`+strings.TrimSuffix(strings.Repeat("{},", 20000), ",")+`]}`), []byte(nil))
	_, bomb := mdsShard([][]byte{make([]byte, 5000)}, `"column_encodings":["bytes"],"column_names":["txt"],"column_sizes":[5000]`)
	zip := manyZeros(2 << 20)
	f.Add([]byte(strings.NewReplacer(`"compression": null`, `"compression": "zstd"`, `"bytes": 5012`, `"bytes": 900000`,
		`"zip_data": null`, fmt.Sprintf(`"zip_data": {"basename": "shard.00000.mds", "bytes": %d}`, len(zip))).Replace(string(bomb))), zip)
	f.Fuzz(func(t *testing.T, index, shard []byte) {
		s := mdsStore(t)
		s.objects["train/index.json"], s.objects["train/shard.00000.mds"] = index, shard
		input := len(index) + len(shard) + len(s.objects["train/shard.00001.mds"])
		hostile.Bounded(t, input, unpacked(t, shard), func() {
			readMDS(t, s, shards.Ragged[float32]("x", nil, "any", "box"), shards.Scalar[int64]("y", "digits", "label"))
		})
	})
}
