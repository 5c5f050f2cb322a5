package shards_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

func encode(t testing.TB, x *shards.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := x.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSavedIndicesAreTheSame(t *testing.T) {
	store := objects.Folder("testdata")
	for _, c := range []struct {
		format shards.Format
		names  []string
		want   string
	}{
		{shards.WebDataset(), []string{"webdataset/*.tar", "webdataset/gzip.tar.gz"}, "webdataset: 15 samples in 5 shards, 13 blocks"},
		{shards.MDS(), []string{"mds/index.json"}, "mds: 3 samples in 2 shards, 3 blocks"},
		{shards.MDS(), []string{"mds-zstd/index.json"}, "mds: 3 samples in 2 shards, 2 blocks"},
	} {
		x := scan(t, store, c.format, 1, c.names...)
		saved := encode(t, x)
		got, err := shards.ReadIndex(bytes.NewReader(saved), c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != c.want || x.String() != c.want {
			t.Errorf("index of %q, after it was saved %q, want %q", x, got, c.want)
		}
		if !slices.Equal(got.Ends(), x.Ends()) || fmt.Sprint(got.Objects()) != fmt.Sprint(x.Objects()) || !bytes.Equal(encode(t, got), saved) {
			t.Errorf("%s: another index after it was saved", c.want)
		}
	}
}

func TestAnIndexTakesFewBytesPerBlock(t *testing.T) {
	var list []tarFile
	for i := range 2000 {
		list = append(list, tarFile{fmt.Sprintf("%06d.jpg", i), strings.Repeat("x", 9000)})
	}
	s := &memoryStore{objects: map[string][]byte{"a.tar": archive(t, list...)}}
	x := scan(t, s, shards.WebDataset(), 1<<16, "a.tar")
	if n, blocks := len(encode(t, x)), len(x.Ends()); blocks < 200 || n > 110*blocks+200 {
		t.Errorf("%d bytes for %d blocks, want at most 110 each", n, blocks)
	}
}

func TestDamagedIndicesAreErrors(t *testing.T) {
	_, x := numbered(t)
	saved := encode(t, x)
	for n := range saved {
		if _, err := shards.ReadIndex(bytes.NewReader(saved[:n]), shards.WebDataset()); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(saved))
		}
		damaged := bytes.Clone(saved)
		damaged[n] ^= 0x10
		if _, err := shards.ReadIndex(bytes.NewReader(damaged), shards.WebDataset()); err == nil {
			t.Errorf("no error for a wrong byte %d", n)
		}
	}
	if _, err := shards.ReadIndex(bytes.NewReader(saved), shards.TFRecord()); err == nil || !strings.Contains(err.Error(), `it is for "webdataset", not for "tfrecord"`) {
		t.Errorf("index of another format: %v", err)
	}
}

// forged is an index of one shard "a" of size bytes, with its compression and blocks.
func forged(size uint64, compression uint64, blocks string) []byte {
	return signed(fmt.Sprintf(`{"format":"webdataset","shards":[{"object":{"Name":"a","Size":%d},"compression":%d,"blocks":[%s]}]}`, size, compression, blocks))
}

// signed puts the line with the checksum before a text.
func signed(text string) []byte {
	return append(fmt.Appendf(nil, "penstock shards 2 %08x\n", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))), text...)
}

func TestIndicesOfAnEarlierVersionSayWhatToDo(t *testing.T) {
	for _, saved := range []string{"\x89shards\n\x01\x0awebdataset\x00\x00\x12\x34\x56\x78", "penstock shards 1 00000000\n{}"} {
		if _, err := shards.ReadIndex(strings.NewReader(saved), shards.WebDataset()); err == nil || !strings.Contains(err.Error(), "scan them again") {
			t.Errorf("%q: error %v", saved, err)
		}
	}
}

// TestNamesThatAnIndexWouldChangeAreNotSaved has the name of a shard in ISO 8859-1.
func TestNamesThatAnIndexWouldChangeAreNotSaved(t *testing.T) {
	const name = "caf\xe9.tar"
	x := scan(t, &memoryStore{objects: map[string][]byte{name: archive(t, tarFile{"0.jpg", "x"})}}, shards.WebDataset(), 1, name)
	if n, err := x.WriteTo(new(bytes.Buffer)); n > 0 || err == nil || !strings.Contains(err.Error(), `caf\xe9.tar`) {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

func TestHostileIndicesAreErrors(t *testing.T) {
	for what, c := range map[string]struct {
		file []byte
		want string
	}{
		"no number":                 {forged(1<<40, 0, `{"rows":-`), "invalid character"},
		"more bytes than the shard": {forged(100, 0, `{"rows":1,"len":101,"size":101}`), "101 bytes from byte 0 of an object of 100"},
		"an offset that overflows":  {forged(math.MaxInt64, 0, `{"rows":1,"off":9223372036854775807,"len":2,"size":2}`), "2 bytes from byte 9223372036854775807"},
		"a negative offset":         {forged(100, 0, `{"rows":1,"off":-1,"len":2,"size":2}`), "2 bytes from byte -1"},
		"a negative length":         {forged(100, 0, `{"rows":1,"off":1,"len":-1,"size":-1}`), "-1 bytes from byte 1"},
		"more samples than bytes":   {forged(100, 0, `{"rows":101,"len":100,"size":100}`), "101 samples in 100 bytes"},
		"negative samples":          {forged(100, 0, `{"rows":-1,"len":100,"size":100}`), "-1 samples"},
		"no sample":                 {forged(100, 0, `{"len":100,"size":100}`), "0 samples"},
		"another compression":       {forged(100, 9, ""), "compression 9"},
		"half a compressed shard":   {forged(100, 1, `{"rows":1,"len":50,"size":100}`), "100 bytes in memory"},
		"data after the end":        {signed(`{"format":"webdataset"} 7`), "after top-level value"},
	} {
		if _, err := shards.ReadIndex(bytes.NewReader(c.file), shards.WebDataset()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

// TestAnIndexPromisesNoMemory opens an index that promises a block of half a gigabyte.
func TestAnIndexPromisesNoMemory(t *testing.T) {
	for _, compression := range []uint64{0, 1} {
		x, err := shards.ReadIndex(bytes.NewReader(forged(1<<29, compression, `{"rows":1,"len":536870912,"size":536870912}`)), shards.WebDataset())
		if err != nil {
			t.Fatal(err)
		}
		s := &memoryStore{objects: map[string][]byte{"a": make([]byte, 1000)}}
		ds := numberedDataset(t, s, x)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := datatest.Open(t, ds).Place(t.Context(), 0, newSlot(ds)); err == nil {
			t.Error("no error for a block that is not there")
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 80<<20 {
			t.Errorf("%d bytes allocated", got)
		}
	}
}

func FuzzReadIndex(f *testing.F) {
	add := func(saved []byte) {
		_, text, _ := strings.Cut(string(saved), "\n")
		f.Add(text)
	}
	_, x := numbered(f)
	add(encode(f, x))
	store := objects.Folder("testdata")
	for _, name := range []string{"mds/index.json", "mds-zstd/index.json"} {
		add(encode(f, scan(f, store, shards.MDS(), 1, name)))
	}
	add(forged(100, 0, `{"rows":1,"len":100,"size":100}`))
	add(forged(5000, 0, strings.Repeat("{},", 5000)+"{}"))
	add(forged(1000, 1, `{"rows":1,"len":1000,"size":1073741808}`)) // the largest that is allowed
	f.Fuzz(func(t *testing.T, text string) {
		data := signed(text)
		for _, format := range []shards.Format{shards.WebDataset(), shards.MDS()} {
			var x *shards.Index
			var err error
			// An index takes 130 bytes per block, as it says, twice while it is read, and a block three bytes of the file.
			hostile.Bounded(t, len(data), 3*130/3*int64(len(data)), func() { x, err = shards.ReadIndex(bytes.NewReader(data), format) })
			if err != nil {
				continue
			}
			ends := x.Ends()
			if !slices.IsSorted(ends) || len(ends) > len(data) {
				t.Errorf("%d blocks of %d bytes, which end at %v", len(ends), len(data), ends)
			}
			again, err := shards.ReadIndex(bytes.NewReader(encode(t, x)), format)
			if err != nil || !slices.Equal(again.Ends(), ends) {
				t.Errorf("another index after it was saved: %v", err)
			}
		}
	})
}

func TestAPatternWithoutMatchNamesTheStore(t *testing.T) {
	s := identified{&memoryStore{}}
	_, err := shards.Scan(t.Context(), s, shards.WebDataset(), []string{"c/*"})
	if want := "shards: scan c/*: no object in s3:photos has such a name: file does not exist"; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// identified is a store with a name.
type identified struct{ *memoryStore }

func (identified) Identity() string { return "s3:photos" }

func TestNamesAreExpanded(t *testing.T) {
	s := &memoryStore{objects: map[string][]byte{}}
	for _, name := range []string{"a/x-08.tar", "a/x-09.tar", "a/x-10.tar", "a/y.tar", "b/x-08.tar", "a/b/x-1.tar"} {
		s.objects[name] = archive(t, tarFile{"k.cls", "1"})
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a/x-{08..10}.tar"}, "[a/x-08.tar a/x-09.tar a/x-10.tar]"},
		{[]string{"{b,a}/x-08.tar"}, "[b/x-08.tar a/x-08.tar]"},
		{[]string{"a/y.tar", "a/x-?[89].tar"}, "[a/y.tar a/x-08.tar a/x-09.tar]"},
		{[]string{"{a,b}/*.tar"}, "[a/x-08.tar a/x-09.tar a/x-10.tar a/y.tar b/x-08.tar]"},
		{[]string{"a/{x-{1..2}}.tar"}, "want a }"},
		{[]string{"a/x-{9..1}.tar"}, "{9..1}: want a range"},
		{[]string{"x{0..99999999999}"}, "want a range"},
		{[]string{"{0..99999}{0..99999}"}, "more than"},
		{[]string{"c/*"}, "no object has such a name"},
		{[]string{"a/["}, "syntax error in pattern"},
		{[]string{"missing.tar"}, "scan missing.tar: stat missing.tar: file does not exist"},
		{nil, "no names"},
	} {
		x, err := shards.Scan(t.Context(), s, shards.WebDataset(), c.names)
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, o := range x.Objects() {
				names = append(names, o.Name)
			}
			got = fmt.Sprint(names)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestASavedIndexIsReadInPlaceOfTheShards(t *testing.T) {
	s, dir := numberedShards(t, 2, 10), t.TempDir()
	open := func(s objects.Store, file string) error {
		_, err := shards.OpenSaved(t.Context(), s, shards.WebDataset(), []string{"s{0..1}.tar"}, file, []shards.Field{shards.Scalar[int64]("n", "cls")})
		return err
	}
	file := filepath.Join(dir, "index")
	for _, again := range []bool{false, true} {
		if err := open(s, file); err != nil {
			t.Fatal(err)
		}
		if reads := s.take(); (len(reads) == 0) != again {
			t.Errorf("again %v: reads %v", again, reads)
		}
	}
	if err := os.Truncate(file, 20); err != nil {
		t.Fatal(err)
	}
	if err := open(s, file); err == nil || !strings.Contains(err.Error(), file) || len(s.take()) > 0 {
		t.Errorf("a damaged index: error %v", err)
	}
	for _, wrong := range []string{filepath.Join(dir, "none", "index"), dir} {
		if err := open(s, wrong); err == nil {
			t.Errorf("%s is an index", wrong)
		}
	}
	if err := open(&memoryStore{}, filepath.Join(dir, "other")); err == nil {
		t.Error("shards that are missing have an index")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, error %v", left, err)
	}
}
