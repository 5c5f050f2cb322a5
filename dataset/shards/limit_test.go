package shards_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

// zstdZeros is a frame of zstd that has head and then at least n zeros: 128 KiB of them are four
// bytes. Its window is 2 to the power of log.
func zstdZeros(head []byte, n int64, log uint) []byte {
	const raw, run, most = 0, 1, 128 << 10
	block := func(b []byte, kind, size uint32) []byte {
		header := binary.LittleEndian.AppendUint32(b, kind<<1|size<<3)
		return header[:len(header)-1]
	}
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(log-10) << 3}
	b = append(block(b, raw, uint32(len(head))), head...)
	for ; n > 0; n -= most {
		b = append(block(b, run, most), 0)
	}
	return append(block(b, raw, 0), 0)[:len(b)+3]
}

// end marks the last block of such a frame.
func end(frame []byte) []byte {
	frame[len(frame)-3] |= 1
	return frame
}

// manyZeros is a tar file of one file of n zeros.
func manyZeros(n int64) []byte {
	return end(zstdZeros(rawHeader("a.txt", '0', fmt.Sprintf("%011o", n)), n+1024, 20))
}

func TestAShardOfManyZerosIsAnError(t *testing.T) {
	testenv.OneGoroutine(t)
	data := manyZeros(2 << 30)
	larger := binary.LittleEndian.AppendUint32(bytes.Clone(data), 0x184d2a50) // a frame that is skipped
	larger = append(binary.LittleEndian.AppendUint32(larger, 1<<20), make([]byte, 1<<20)...)
	for _, c := range []struct {
		data []byte
		want string
	}{
		{data, "byte 202407936 of the decompressed data: damaged or hostile: 66064 bytes that are more than 2048 times as many after decompression"},
		{larger, "byte 1073741824 of the decompressed data: it takes more memory than the option MaxBlockBytes allows"},
	} {
		s := &memoryStore{objects: map[string][]byte{"a.tar.zst": c.data}}
		hostile.Bounded(t, len(c.data), 8<<20, func() { // for zstd's window
			if _, err := shards.Scan(t.Context(), s, shards.WebDataset(), []string{"a.tar.zst"}); fmt.Sprint(err) != "shards: scan a.tar.zst: "+c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// A packed is a shard that is compressed as a whole.
type packed struct {
	name    string
	format  func(...shards.FormatOption) shards.Format
	object  string // for Scan
	objects map[string][]byte
	size    int64 // after decompression
	samples int64
}

// packedShards are small shards of all formats, compressed by gzip and zstd.
func packedShards(t testing.TB) (list []packed) {
	t.Helper()
	archive := archive(t, tarFile{"a.txt", strings.Repeat("x", 10000)}, tarFile{"b.txt", ""})
	records := slices.Concat(record(make([]byte, 5000)), record(make([]byte, 5000)))
	values, index := mdsShard([][]byte{make([]byte, 5000), make([]byte, 5000)}, `"column_encodings":["bytes"],"column_names":["txt"],"column_sizes":[5000]`)
	for name, pack := range map[string]func([]byte) []byte{"gz": gzipped, "zstd": func(b []byte) []byte { return zstded(t, b) }} {
		list = append(list, packed{"tar " + name, shards.WebDataset, "a", map[string][]byte{"a": pack(archive)}, int64(len(archive)), 2})
		list = append(list, packed{"TFRecord " + name, shards.TFRecord, "a", map[string][]byte{"a": pack(records)}, int64(len(records)), 2})
		zip := pack(values)
		text := strings.NewReplacer(`"compression": null`, fmt.Sprintf(`"compression": %q`, name),
			`"zip_data": null`, fmt.Sprintf(`"zip_data": {"basename": "z", "bytes": %d}`, len(zip))).Replace(string(index))
		list = append(list, packed{"MDS " + name, shards.MDS, "index.json", map[string][]byte{"index.json": []byte(text), "z": zip}, int64(len(values)), 2})
	}
	return list
}

func TestABlockTakesAsMuchMemoryAsTheLimitAllows(t *testing.T) {
	for _, p := range packedShards(t) {
		s := &memoryStore{objects: p.objects}
		most := p.size + 16*p.samples
		var saved bytes.Buffer
		x, err := shards.Scan(t.Context(), s, p.format(shards.MaxBlockBytes(most)), []string{p.object})
		if err == nil {
			_, err = x.WriteTo(&saved)
		}
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if _, err := shards.ReadIndex(bytes.NewReader(saved.Bytes()), p.format(shards.MaxBlockBytes(most))); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		shard := x.Objects()[0].Name
		for _, limit := range []int64{most - 1, p.size - 1, 100} {
			f := p.format(shards.MaxBlockBytes(limit))
			_, err := shards.Scan(t.Context(), s, f, []string{p.object})
			_, err2 := shards.ReadIndex(bytes.NewReader(saved.Bytes()), f)
			for _, err := range []error{err, err2} {
				if text := fmt.Sprint(err); !strings.Contains(text, shard) || !strings.Contains(text, "more memory than the option MaxBlockBytes allows") {
					t.Errorf("%s, MaxBlockBytes(%d): error %v, want one that names %s and the option", p.name, limit, err, shard)
				}
			}
		}
	}
}

// The block of an uncompressed shard is as long as its longest sample.
func TestALongSampleIsWithinTheLimitToo(t *testing.T) {
	s := &memoryStore{objects: map[string][]byte{"a": archive(t, tarFile{"a.txt", strings.Repeat("x", 10000)})}}
	_, err := shards.Scan(t.Context(), s, shards.WebDataset(shards.MaxBlockBytes(10000)), []string{"a"})
	if want := "shards: scan a: block 0: 1 samples, 10752 bytes that are 10752 in memory: it takes more memory than the option MaxBlockBytes allows"; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// An MDS shard has no checksum, so only its length says that it is another one.
func TestAPackedBlockIsNoLongerThanItsIndexSays(t *testing.T) {
	zip := manyZeros(100 << 20)
	_, index := mdsShard([][]byte{make([]byte, 5000)}, `"column_encodings":["bytes"],"column_names":["txt"],"column_sizes":[5000]`)
	text := strings.NewReplacer(`"compression": null`, `"compression": "zstd"`,
		`"zip_data": null`, fmt.Sprintf(`"zip_data": {"basename": "z", "bytes": %d}`, len(zip))).Replace(string(index))
	s := &memoryStore{objects: map[string][]byte{"index.json": []byte(text), "z": zip}}
	ds, err := shards.Open(s, scan(t, s, shards.MDS(), 1, "index.json"), []shards.Field{shards.Bytes("text", "txt")})
	if err != nil {
		t.Fatal(err)
	}
	hostile.Bounded(t, len(zip), 4<<20, func() { // for zstd's window, of two readings
		err := datatest.Open(t, ds).Place(t.Context(), 0, newSlot(ds))
		if want := "shards: z, block at byte 0: more than 5012 bytes after decompression"; fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

func TestAFrameHasAWindowOfItsSize(t *testing.T) {
	for _, c := range []struct {
		log  uint
		size int64
		ok   bool
	}{{23, 1 << 20, true}, {24, 1 << 20, false}, {27, 1 << 37, false}} {
		head := archive(t, tarFile{"a.txt", "x"})
		s := &memoryStore{objects: map[string][]byte{"a": end(zstdZeros(head, 1<<20, c.log))}}
		_, err := shards.Scan(t.Context(), s, shards.WebDataset(), []string{"a"})
		if (err == nil) != c.ok {
			t.Errorf("window of 2^%d bytes: error %v", c.log, err)
		}
	}
}

func TestAWrongLimitIsAnError(t *testing.T) {
	s, index := numbered(t)
	for name, f := range map[string]shards.Format{"s0.tar": shards.WebDataset(shards.MaxBlockBytes(0)), "a": shards.TFRecord(shards.MaxBlockBytes(0)), "index.json": shards.MDS(shards.FormatOption{}, shards.MaxBlockBytes(0))} {
		const want = "shards: MaxBlockBytes(0): want 1 or more"
		if _, err := shards.Scan(t.Context(), s, f, []string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", f, err, want)
		}
	}
	if _, err := shards.ReadIndex(bytes.NewReader(encode(t, index)), shards.WebDataset(shards.MaxBlockBytes(-1))); err == nil {
		t.Error("an index is read with a wrong limit")
	}
}

func TestASmallBlockTakesLittleMemory(t *testing.T) {
	s := numberedShards(t, 1, 100)
	x := scan(t, s, shards.WebDataset(), 1, "s0.tar")
	got := allocs.Bytes(1<<20, func() {
		ds := numberedDataset(t, s, x)
		r, slot := datatest.Open(t, ds), newSlot(ds)
		for i := range ds.Len() {
			place(t, r, slot, i)
		}
	})
	if got > 1<<20 {
		t.Errorf("%d bytes allocated for 100 blocks of 1 KiB", got)
	}
}

func TestManyEmptyShardsAreAnError(t *testing.T) {
	text := []byte(`{"version":2,"shards":[` + strings.TrimSuffix(strings.Repeat("{},", 20000), ",") + `]}`)
	s := &memoryStore{objects: map[string][]byte{"index.json": text}}
	hostile.Bounded(t, len(text), 0, func() {
		_, err := shards.Scan(t.Context(), s, shards.MDS(), []string{"index.json"})
		if want := "shards: scan index.json: shards: damaged or hostile: more memory than"; !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

// A sample of many files with long names, which take little when they are compressed.
func TestTheNamesOfASampleAreBounded(t *testing.T) {
	var b []byte
	for k := range 100 {
		name := make([]byte, 100<<10)
		copy(name, fmt.Sprintf("a.%d%s", k, strings.Repeat("x", 99<<10)))
		b = slices.Concat(b, rawHeader("long", 'L', fmt.Sprintf("%011o", len(name))), name, rawHeader("a", '0', "0"))
	}
	data := zstded(t, b)
	s := &memoryStore{objects: map[string][]byte{"a.tar.zst": data}}
	_, err := shards.Scan(t.Context(), s, shards.WebDataset(), []string{"a.tar.zst"})
	if want := "names of columns: damaged or hostile"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%d bytes: got %v, want %s", len(data), err, want)
	}
	s.objects["a.tar.zst"] = b // where a name takes as much as it is long
	if _, err := shards.Scan(t.Context(), s, shards.WebDataset(), []string{"a.tar.zst"}); err != nil {
		t.Error(err)
	}
}

// boasting is a store of objects that say that they are as large as can be.
type boasting struct{ *memoryStore }

func (b boasting) Stat(ctx context.Context, name string) (objects.Object, error) {
	o, err := b.memoryStore.Stat(ctx, name)
	if name == "shard.00000.mds" {
		o.Size = math.MaxInt64 - 1
	}
	return o, err
}

func TestAnUntrueSizeIsNoPanic(t *testing.T) {
	_, index := mdsShard([][]byte{make([]byte, 5000)}, `"column_encodings":["bytes"],"column_names":["txt"],"column_sizes":[5000]`)
	for _, n := range []int64{1, 1 << 59, 1<<61 - 1} {
		text := strings.NewReplacer(`"bytes": 5012`, fmt.Sprintf(`"bytes": %d`, int64(math.MaxInt64-1)), `"samples": 1`, fmt.Sprintf(`"samples": %d`, n)).Replace(string(index))
		s := boasting{&memoryStore{objects: map[string][]byte{"index.json": []byte(text), "shard.00000.mds": nil}}}
		if _, err := shards.Scan(t.Context(), s, shards.MDS(), []string{"index.json"}); err == nil || !strings.Contains(err.Error(), `shard 0, "shard.00000.mds"`) {
			t.Errorf("%d samples: error %v", n, err)
		}
	}
}
