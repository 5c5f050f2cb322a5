package parquet_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

// readAll reads the samples of a file up to an error.
func readAll(t testing.TB, file []byte, size, limit int64) error {
	s, index, err := indexOf(t, file, size, limit)
	if err != nil {
		return err
	}
	ds, err := openAll(t, s, index)
	if err != nil {
		return err
	}
	return readFrom(t, ds, 0)
}

// indexOf scans a file, and saves and reads its index.
func indexOf(t testing.TB, file []byte, size, limit int64) (*memoryStore, *shards.Index, error) {
	s := &memoryStore{objects: map[string][]byte{"a.parquet": file}}
	f := parquet.Format(parquet.MaxBlockBytes(limit))
	index, err := shards.Scan(t.Context(), s, f, []string{"a.parquet"}, shards.BlockSize(size))
	if err != nil {
		return nil, nil, err
	}
	var saved bytes.Buffer
	if _, err := index.WriteTo(&saved); err != nil {
		t.Fatal(err)
	}
	if index, err = shards.ReadIndex(&saved, f); err != nil {
		t.Errorf("the index that was saved: %v", err)
	}
	return s, index, err
}

// openAll has a field for each column of bytes or integers.
func openAll(t testing.TB, s *memoryStore, index *shards.Index) (*shards.Dataset, error) {
	var schema struct {
		Columns []struct {
			Name, Type, Error string
			Repeated          []int
		}
	}
	if err := json.Unmarshal(index.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	var fields []shards.Field
	for k, c := range schema.Columns {
		switch name := fmt.Sprint(k); {
		case c.Error != "" || len(c.Repeated) > 1:
		case c.Type == "bytes":
			fields = append(fields, shards.Bytes(name, c.Name))
		case strings.Contains(c.Type, "int") && len(c.Repeated) == 1:
			fields = append(fields, shards.Ragged[int64](name, nil, c.Name))
		case strings.Contains(c.Type, "int"):
			fields = append(fields, shards.Scalar[int64](name, c.Name))
		}
	}
	return shards.Open(s, index, fields)
}

// readFrom reads up to 5,000 samples, until one is an error. Nulls are none.
func readFrom(t testing.TB, ds *shards.Dataset, from int) error {
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for i := from; i < min(ds.Len(), from+5000); i++ {
		if err := r.Place(t.Context(), i, slot); err != nil && !strings.Contains(err.Error(), "has no column") {
			return err
		}
	}
	return nil
}

func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(names) < 9 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	found := map[string][]byte{}
	for _, name := range names {
		if found[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// window is what the decoder of Brotli takes beside the bytes that it decodes: the window that the
// stream asks for, up to 16 MiB, which grows once.
const window = 32 << 20

// FuzzParquet reads files that may be damaged, up to the first block that is. Nothing may panic,
// and a block may take its limit: for its pages, and for its rows, whose memory grows.
func FuzzParquet(f *testing.F) {
	for _, file := range files(f) {
		if len(file) < 20_000 {
			f.Add(file, uint16(1000))
		}
	}
	for _, c := range hostileFiles() {
		f.Add(c.file, uint16(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, size uint16) {
		const limit = 256 << 10
		var s *memoryStore
		var index *shards.Index
		var err error
		hostile.Bounded(t, len(file), 0, func() { s, index, err = indexOf(t, file, int64(size)+1, limit) })
		if err != nil {
			return
		}
		ds, err := openAll(t, s, index)
		if err != nil {
			return
		}
		hostile.Bounded(t, len(file), window+8*limit*int64(len(ds.Ends())), func() { _ = readFrom(t, ds, 0) })
	})
}

func TestFilesCutShortAreErrors(t *testing.T) {
	testenv.OneGoroutine(t)
	for name, file := range files(t) {
		if err := readAll(t, file, 1, 1<<20); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := 0; n < len(file); n += 1 + n/50 {
			if readAll(t, file[:n], 1, 1<<20) == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, len(file))
			}
		}
	}
}

// TestMutatedFilesTakeLittleMemory changes bytes of files, more often those of headers.
func TestMutatedFilesTakeLittleMemory(t *testing.T) {
	all := files(t)
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 400
	if testing.Short() {
		rounds = 20
	}
	for name, file := range all {
		footer := 8 + int(binary.LittleEndian.Uint32(file[len(file)-8:]))
		for range rounds {
			mutant := bytes.Clone(file)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(mutant))
				if r.IntN(2) == 0 {
					at = len(mutant) - 1 - r.IntN(footer)
				}
				mutant[at] = byte(r.Uint32())
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readAll(t, mutant, 1, 8<<20)
			runtime.ReadMemStats(&after)
			most := uint64(96 << 20)
			if strings.Contains(name, "brotli") {
				most = 384 << 20 // its decoder takes a window of up to 16 MiB per column and block, as the stream says
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%s: %d bytes of memory, %v", name, n, err)
			}
		}
	}
}

// TestPromisesTakeNoMemory has files whose headers promise what is not there.
func TestPromisesTakeNoMemory(t *testing.T) {
	for _, c := range hostileFiles() {
		t.Run(c.what, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readAll(t, c.file, 1<<20, 1<<30)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
				t.Errorf("%d bytes of memory for a file of %d", n, len(c.file))
			}
		})
	}
}

// The metadata of Parquet: each of these is a field of a structure, with its number.
func field(kind, id int, value []byte) []byte {
	return append([]byte{byte(kind), byte(2 * id)}, value...)
}

func number(id int, n int64) []byte { return field(6, id, binary.AppendVarint(nil, n)) }

func small(id int, n int64) []byte { return field(5, id, binary.AppendVarint(nil, n)) } // of 32 bits

func text(id int, s string) []byte {
	return field(8, id, append(binary.AppendUvarint(nil, uint64(len(s))), s...))
}

func structure(fields ...[]byte) []byte { return append(slices.Concat(fields...), 0) }

func structs(id int, list ...[]byte) []byte {
	return field(9, id, append(binary.AppendUvarint([]byte{15<<4 | 12}, uint64(len(list))), slices.Concat(list...)...))
}

// chunkOf is a column of a row group, of the path x.
func chunkOf(physical, codec, values, size, packed, offset int64, more ...[]byte) []byte {
	encodings, path := field(9, 2, []byte{1<<4 | 5, 0}), field(9, 3, []byte{1<<4 | 8, 1, 'x'})
	meta := structure(small(1, physical), encodings, path, small(4, codec), number(5, values), number(6, size), number(7, packed), number(9, offset))
	return structure(number(2, 0), field(12, 3, meta), slices.Concat(more...))
}

// group is a row group.
func group(rows int64, chunks ...[]byte) []byte {
	return structure(structs(1, chunks...), number(2, 0), number(3, rows))
}

// ended is a file with a footer of these fields.
func ended(file []byte, fields ...[]byte) []byte {
	footer := structure(small(1, 2), slices.Concat(fields...))
	file = append(slices.Clip(file), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
}

// element is a column of a schema.
func element(physical, repetition int64, name string) []byte {
	return structure(small(1, physical), small(3, repetition), text(4, name))
}

// root is the schema's first element.
func root(columns int64) []byte { return structure(text(4, "r"), small(5, columns)) }

// A tiny file has one column, of int64 unless text or bools is set.
type tiny struct {
	text    bool
	bools   bool
	schema  [][]byte // in place of a root and a required column
	rows    int64
	values  int64
	header  []byte // of the page
	page    []byte
	codec   int64
	packed  int64  // added to the bytes of the chunk
	offset  int64  // added to its offset
	index   []byte // the page index, or nil
	columns []byte // in place of the list of row groups
}

func (f tiny) file() []byte {
	b := append([]byte("PAR1"), f.header...)
	b = append(b, f.page...)
	n := int64(len(b) - 4)
	physical := int64(2)
	if f.text {
		physical = 6
	} else if f.bools {
		physical = 0
	}
	var more []byte
	at := n + 4
	if f.index != nil {
		more = append(number(4, at), small(5, int64(len(f.index)))...)
		b = append(b, f.index...)
	}
	groups := structs(4, group(f.rows, chunkOf(physical, f.codec, f.values, n, n+f.packed, 4+f.offset, more)))
	if f.columns != nil {
		groups = f.columns
	}
	if f.schema == nil {
		f.schema = [][]byte{root(1), element(physical, 0, "x")}
	}
	return ended(b, structs(2, f.schema...), number(3, f.rows), groups)
}

// pageHead is the header of a data page of version 1.
func pageHead(size, packed, values, encoding int64) []byte {
	return structure(small(1, 0), small(2, size), small(3, packed), field(12, 5, structure(small(1, values), small(2, encoding), small(3, 3), small(4, 3))))
}

type hostileFile struct {
	what, want string
	file       []byte
}

func hostileFiles() []hostileFile {
	const many = 1<<31 - 1
	eight := make([]byte, 8)
	dictionary := structure(small(1, 2), small(2, 8), small(3, 8), field(12, 7, structure(small(1, 1), small(2, 0))))
	long := func(id int) []byte { return field(9, id, append(binary.AppendUvarint([]byte{15<<4 | 12}, many), 0)) }
	return []hostileFile{
		{"rows", "MaxBlockBytes", tiny{rows: 1 << 39, values: 1 << 39, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"values", "2147483647 values in 1000 rows", tiny{rows: 1000, values: many, header: pageHead(8, 8, many, 0), page: eight}.file()},
		{"values of a page", "unexpected EOF", tiny{rows: 1000, values: 1000, header: pageHead(8, 8, 1000, 0), page: eight}.file()},
		{"bytes of a page", "a page of 2147483647 bytes", tiny{rows: 1, values: 1, header: pageHead(8, many, 1, 0), page: eight}.file()},
		{"bytes after decompression", "MaxBlockBytes", tiny{rows: 1, values: 1, codec: 1, header: pageHead(many, 8, 1, 0), page: eight}.file()},
		{"bytes after Snappy", "after decompression", tiny{rows: 1, values: 1, codec: 1, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes after gzip", "after decompression", tiny{rows: 1, values: 1, codec: 2, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes after Zstandard", "after decompression", tiny{rows: 1, values: 1, codec: 6, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes of a text", "unexpected EOF", tiny{text: true, rows: 1, values: 1, header: pageHead(8, 8, 1, 0), page: []byte{255, 255, 255, 127, 0, 0, 0, 0}}.file()},
		{"differences", "lengths", tiny{text: true, rows: 1, values: 1, header: pageHead(9, 9, 1, 6), page: []byte{128, 1, 4, 255, 255, 255, 255, 7, 0}}.file()},
		{"a dictionary", "a dictionary: unexpected EOF", tiny{text: true, rows: 1, values: 1, header: structure(small(1, 2), small(2, 8), small(3, 8), field(12, 7, structure(small(1, 1000), small(2, 0)))), page: eight}.file()},
		{"two dictionaries", "a second dictionary", tiny{rows: 1, values: 1, header: slices.Concat(dictionary, eight, dictionary), page: eight}.file()},
		{"bytes of a column", "bytes from byte 4", tiny{rows: 1, values: 1, packed: 1 << 40, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"an offset", "bytes from byte", tiny{rows: 1, values: 1, offset: 1 << 62, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"row groups", "", tiny{rows: 1, values: 1, columns: long(4)}.file()},
		{"columns", "", tiny{rows: 1, values: 1, columns: structs(4, structure(long(1)))}.file()},
		{"columns of a byte", "more memory", tiny{rows: 1, values: 1, columns: structs(4, structure(field(9, 1, append(binary.AppendUvarint([]byte{15<<4 | 12}, 100_000), make([]byte, 100_000)...))))}.file()},
		{"structures that nobody knows", "nested more than", tiny{rows: 1, values: 1, columns: append(structs(4), bytes.Repeat([]byte{1<<4 | 12}, 100_000)...)}.file()},
		{"a list in the header of a page", "a list of 2147483647", tiny{rows: 1, values: 1, header: structure(small(1, 0), long(9)), page: eight}.file()},
	}
}

// TestValuesOfEveryPageAreChecked changes the checksum that a page has.
func TestValuesOfEveryPageAreChecked(t *testing.T) {
	file := files(t)["testdata/dictionary-v2-zstd.parquet"]
	damaged := bytes.Clone(file)
	damaged[200] ^= 1
	if err := readAll(t, damaged, 1, 1<<20); err == nil || !strings.Contains(err.Error(), "CRC-32") {
		t.Errorf("error %v, want one about the checksum", err)
	}
}

// schemaFile is a file without rows and with this schema and these features.
func schemaFile(features string, elements ...[]byte) []byte {
	return ended([]byte("PAR1"), structs(2, elements...), number(3, 0), structs(4), structs(5, structure(text(1, "huggingface"), text(2, features))))
}

// TestSmallFilesTakeLittle has files that are small, and whose metadata or pages ask for much.
func TestSmallFilesTakeLittle(t *testing.T) {
	leaf := element(2, 0, "a")
	names := [][]byte{root(1), structure(small(3, 0), text(4, strings.Repeat("n", 60_000)), small(5, 7000))}
	for range 7000 {
		names = append(names, leaf)
	}
	nested := func(open, end string) string {
		return `{"info":{"features":{"A":` + strings.Repeat(open, 9900) + "0" + strings.Repeat(end, 9900) + "}}}"
	}
	const values, each = 1 << 29, 1 << 20
	zeros := binary.AppendUvarint([]byte{0x80, 0x80, 0x40, 1}, values) // numbers of a block, miniblocks
	zeros = append(zeros, make([]byte, 1+2*(values/each))...)
	n := int64(len(zeros))
	optional := [][]byte{root(1), element(2, 1, "a")}
	nulls := run(values, 0)
	lists := [][]byte{root(1), structure(small(3, 2), text(4, "a"), small(5, 1)), element(2, 1, "b")}
	nullList := slices.Concat(prefix(append(binary.AppendUvarint([]byte{2, 0}, (values-1)<<1), 1)), run(values, 1))
	for _, c := range []struct {
		what string
		file []byte
		want string // of the error
	}{
		{"the path of a group in every column", schemaFile("{}", names...), "more memory"},
		{"nested structures of features", schemaFile(nested(`{"a":`, "}"), root(1), leaf), "nested more than"},
		{"nested lists of features", schemaFile(nested(`{"_type":"List","feature":`, "}"), root(1), leaf), "nested more than"},
		{"lengths without bits", tiny{text: true, rows: 1, values: 1, header: pageHead(n, n, values, 6), page: zeros}.file(), "more than rows"},
		{"nulls of one row", tiny{schema: optional, rows: 1, values: 1, header: pageHead(int64(len(nulls)), int64(len(nulls)), values, 0), page: nulls}.file(), "more than rows"},
		{"a list of nulls", tiny{schema: lists, rows: 1, values: values, header: pageHead(int64(len(nullList)), int64(len(nullList)), values, 0), page: nullList}.file(), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			hostile.Bounded(t, len(c.file), 0, func() {
				err := readAll(t, c.file, 1<<20, 1<<30)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

// prefix puts the length before levels.
func prefix(levels []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
}

// run is n times the same level of at most 8 bits.
func run(n uint64, level byte) []byte {
	return prefix(append(binary.AppendUvarint(nil, n<<1), level))
}

// TestRowsThatAreSkippedTakeLittle has a row group of two columns of nulls. The last block is one
// row, and the page of the second column has all the others before it.
func TestRowsThatAreSkippedTakeLittle(t *testing.T) {
	const rows = 60_000_000
	file := []byte("PAR1")
	add := func(n int64) (at, size int64) {
		at = int64(len(file))
		data := run(uint64(n), 0)
		file = append(append(file, pageHead(int64(len(data)), int64(len(data)), n, 0)...), data...)
		return at, int64(len(file)) - at
	}
	first, n1 := add(rows - 1)
	second, n2 := add(1)
	other, n3 := add(rows)
	place := func(at, size, row int64) []byte { return structure(number(1, at), small(2, size), number(3, row)) }
	index := structure(structs(1, place(first, n1, 0), place(second, n2, rows-1)))
	otherIndex := structure(structs(1, place(other, n3, 0)))
	at := int64(len(file))
	file = slices.Concat(file, index, otherIndex)
	chunk := func(begin, size, index int64, length int) []byte {
		return chunkOf(2, 0, rows, size, size, begin, number(4, index), small(5, int64(length)))
	}
	file = ended(file, structs(2, root(2), element(2, 1, "a"), element(2, 1, "b")), number(3, rows),
		structs(4, group(rows, chunk(first, n1+n2, at, len(index)), chunk(other, n3, at+int64(len(index)), len(otherIndex)))))
	s, saved, err := indexOf(t, file, 1, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	ds, err := openAll(t, s, saved)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{rows - 1, rows}; !slices.Equal(ds.Ends(), want) {
		t.Fatalf("blocks end at %v, want %v", ds.Ends(), want)
	}
	hostile.Bounded(t, len(file), 0, func() {
		if err := readFrom(t, ds, rows-1); err == nil || !strings.Contains(err.Error(), "more work") {
			t.Errorf("error %v, want one about work", err)
		}
	})
}

// TestRowsAfterARunOfNullsAreTheirOwn reads a list after one of many nulls, and lists of lists after
// many empty ones.
func TestRowsAfterARunOfNullsAreTheirOwn(t *testing.T) {
	const many = 1000
	runs := func(counts ...uint64) []byte { // of pairs: how many times, which level
		var b []byte
		for k := 0; k < len(counts); k += 2 {
			b = append(binary.AppendUvarint(b, counts[k]<<1), byte(counts[k+1]))
		}
		return prefix(b)
	}
	values := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 7), 8)
	for _, c := range []struct {
		what, column, want string
		shape              []int
		schema             [][]byte
		empty              uint64 // definition level of what repeats
	}{
		{"nulls", "a.b", "has no column a.b", nil, [][]byte{root(1), structure(small(3, 2), text(4, "a"), small(5, 1)), element(2, 1, "b")}, 1},
		{"empty lists", "a.b", "", []int{1}, [][]byte{root(1), structure(small(3, 2), text(4, "a"), small(5, 1)), element(2, 2, "b")}, 1},
	} {
		page := slices.Concat(runs(1, 0, many-1, 1, 1, 0, 1, 1), runs(many, c.empty, 2, 2), values)
		file := tiny{schema: c.schema, rows: 2, values: many + 2, header: pageHead(int64(len(page)), int64(len(page)), many+2, 0), page: page}.file()
		s, index, err := indexOf(t, file, 1, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		ds := open(t, s, index, shards.Ragged[int64]("x", c.shape, c.column))
		slot := newSlot(ds)
		r := datatest.Open(t, ds)
		err = r.Place(t.Context(), 0, slot)

		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
		if err := r.Place(t.Context(), 1, slot); err != nil || !bytes.Equal(slot.Cell(0).Bytes(), values) {
			t.Errorf("%s: row 1 is %v, %v, want 7 and 8", c.what, slot.Cell(0).Bytes(), err)
		}
	}
}

// TestABlockOfAnEarlierIndexSaysSo has the description of a block as earlier versions wrote it.
func TestABlockOfAnEarlierIndexSaysSo(t *testing.T) {
	_, index, err := indexOf(t, files(t)["testdata/photos.parquet"], 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	l, err := parquet.Format().Layout(index.Schema())
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.(shardfmt.Unpacker).Unpack(nil, make([]byte, 8), &shardfmt.Block{Rows: 1, Off: 4, Len: 8, Meta: []byte{1, 1, 0, 0, 1, 4, 8}})
	if want := "the index is of an earlier version: scan the files again"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestChunksThatShareAPageIndexTakeLittle has many columns that all are the same bytes of the file,
// with the same long page index.
func TestChunksThatShareAPageIndexTakeLittle(t *testing.T) {
	const columns, pages = 1000, 20_000
	at := int64(4)
	var places [][]byte
	for k := range int64(pages) {
		places = append(places, structure(number(1, at+k), small(2, 1), number(3, k)))
	}
	index := structure(structs(1, places...))
	file := slices.Concat([]byte("PAR1"), make([]byte, pages), index)
	elements := [][]byte{root(columns)}
	var chunks [][]byte
	for range columns {
		elements = append(elements, element(2, 0, "a"))
		chunks = append(chunks, chunkOf(2, 0, pages, pages, pages, at, number(4, at+pages), small(5, int64(len(index)))))
	}
	file = ended(file, structs(2, elements...), number(3, pages), structs(4, group(pages, chunks...)))
	for _, size := range []int64{1, 8 << 20} {
		hostile.Bounded(t, len(file), 0, func() {
			if _, _, err := indexOf(t, file, size, 1<<30); err == nil || !strings.Contains(err.Error(), "more memory") {
				t.Errorf("blocks of %d bytes: error %v, want one about memory", size, err)
			}
		})
	}
}

// TestRunsOfBoolsEndAnywhere has runs that are no multiples of eight.
func TestRunsOfBoolsEndAnywhere(t *testing.T) {
	page := prefix([]byte{13 << 1, 1, 2 << 1, 0, 1 << 1, 1})
	n := int64(len(page))
	s, index, err := indexOf(t, tiny{bools: true, rows: 16, values: 16, header: pageHead(n, n, 16, 3), page: page}.file(), 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ds := open(t, s, index, shards.Scalar[bool]("x", "x"))
	for i := range ds.Len() {
		if got, want := datatest.Sample(t, ds, i)["x"].Data(), i != 13 && i != 14; got != want {
			t.Errorf("sample %d: %v, want %v", i, got, want)
		}
	}
}

// TestPagesOfABlockTakeItsLimitTogether has pages without values that are large after decompression.
func TestPagesOfABlockTakeItsLimitTogether(t *testing.T) {
	const size, limit = 400_000, 1 << 20
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll(make([]byte, size), nil)
	page := append(pageHead(size, int64(len(packed)), 0, 0), packed...)
	file := tiny{rows: 1, values: 1, codec: 6, page: bytes.Repeat(page, 1000)}.file()
	hostile.Bounded(t, len(file), limit, func() {
		if err := readAll(t, file, 1<<20, limit); err == nil || !strings.Contains(err.Error(), "more memory") {
			t.Errorf("error %v, want one about memory", err)
		}
	})
}

// TestADictionaryOfEmptyTextsTakesTheLimitAtMost has texts that are nothing but their lengths: where
// they end takes twice as much memory as they.
func TestADictionaryOfEmptyTextsTakesTheLimitAtMost(t *testing.T) {
	const size, limit = 12 << 20, 16 << 20
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll(make([]byte, size), nil)
	packed = append(packed, bytes.Repeat([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, 1000)...) // frames to be skipped: a page may have 2048 times its bytes
	header := structure(small(1, 2), small(2, size), small(3, int64(len(packed))), field(12, 7, structure(small(1, size/4), small(2, 0))))
	file := tiny{text: true, rows: 1, values: 1, codec: 6, header: header, page: packed}.file()
	hostile.Bounded(t, len(file), 2*limit, func() { // with the decoder of zstd
		if err := readAll(t, file, 1<<20, limit); err == nil || !strings.Contains(err.Error(), "more memory") {
			t.Errorf("error %v, want one about memory", err)
		}
	})
}
