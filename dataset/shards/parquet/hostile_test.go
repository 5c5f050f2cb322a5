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

	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// readAll reads all samples of a file, of which most are errors.
func readAll(t testing.TB, file []byte, size, limit int64) error {
	s := &memoryStore{objects: map[string][]byte{"a.parquet": file}}
	f := parquet.Format(parquet.Limit(limit))
	index, err := shards.Scan(t.Context(), s, f, []string{"a.parquet"}, shards.BlockSize(size))
	if err != nil {
		return err
	}
	var saved bytes.Buffer
	if _, err := index.WriteTo(&saved); err != nil {
		t.Fatal(err)
	}
	if index, err = shards.ReadIndex(&saved, f); err != nil {
		t.Errorf("the index that was saved: %v", err)
		return err
	}
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
	ds, err := shards.Open(s, index, fields)
	if err != nil {
		return err
	}
	r, slot := datatest.Open(t, ds), newSlot(ds)
	var first error
	for i := range min(ds.Len(), 5000) {
		if err := r.Place(t.Context(), i, slot); err != nil && first == nil && !strings.Contains(err.Error(), "has no column") {
			first = err // and no null
		}
	}
	return first
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

// FuzzParquet reads files that may be damaged. Nothing may panic, and no block may take
// more than its limit.
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
		_ = readAll(t, file, int64(size)+1, 1<<20)
	})
}

func TestFilesCutShortAreErrors(t *testing.T) {
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

func text(id int, s string) []byte {
	return field(8, id, append(binary.AppendUvarint(nil, uint64(len(s))), s...))
}

func structure(fields ...[]byte) []byte { return append(slices.Concat(fields...), 0) }

func structs(id int, list ...[]byte) []byte {
	return field(9, id, append(binary.AppendUvarint([]byte{15<<4 | 12}, uint64(len(list))), slices.Concat(list...)...))
}

// A tiny file has one column, of int64 unless text is set.
type tiny struct {
	text    bool
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
	}
	chunk := structure(field(12, 3, structure(number(1, physical), number(4, f.codec), number(5, f.values), number(6, n), number(7, n+f.packed), number(9, 4+f.offset))))
	if f.index != nil {
		chunk = append(chunk[:len(chunk)-1], structure(number(4, int64(len(b))), number(5, int64(len(f.index))))...)
		b = append(b, f.index...)
	}
	groups := structs(4, structure(structs(1, chunk), number(3, f.rows)))
	if f.columns != nil {
		groups = f.columns
	}
	footer := structure(structs(2, structure(text(4, "schema"), number(5, 1)), structure(number(1, physical), number(3, 0), text(4, "x"))), number(3, f.rows), groups)
	b = append(b, footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// pageHead is the header of a data page of version 1.
func pageHead(size, packed, values, encoding int64) []byte {
	return structure(number(1, 0), number(2, size), number(3, packed), field(12, 5, structure(number(1, values), number(2, encoding), number(3, 3), number(4, 3))))
}

type hostileFile struct {
	what, want string
	file       []byte
}

func hostileFiles() []hostileFile {
	const many = 1<<31 - 1
	eight := make([]byte, 8)
	long := func(id int) []byte { return field(9, id, append(binary.AppendUvarint([]byte{15<<4 | 12}, many), 0)) }
	return []hostileFile{
		{"rows", "Limit", tiny{rows: 1 << 39, values: 1 << 39, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"values", "2147483647 values in 1000 rows", tiny{rows: 1000, values: many, header: pageHead(8, 8, many, 0), page: eight}.file()},
		{"values of a page", "unexpected EOF", tiny{rows: 1000, values: 1000, header: pageHead(8, 8, 1000, 0), page: eight}.file()},
		{"bytes of a page", "a page of 2147483647 bytes", tiny{rows: 1, values: 1, header: pageHead(8, many, 1, 0), page: eight}.file()},
		{"bytes after decompression", "Limit", tiny{rows: 1, values: 1, codec: 1, header: pageHead(many, 8, 1, 0), page: eight}.file()},
		{"bytes after Snappy", "after decompression", tiny{rows: 1, values: 1, codec: 1, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes after gzip", "after decompression", tiny{rows: 1, values: 1, codec: 2, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes after Zstandard", "after decompression", tiny{rows: 1, values: 1, codec: 6, header: pageHead(1<<29, 8, 1, 0), page: eight}.file()},
		{"bytes of a text", "unexpected EOF", tiny{text: true, rows: 1, values: 1, header: pageHead(8, 8, 1, 0), page: []byte{255, 255, 255, 127, 0, 0, 0, 0}}.file()},
		{"differences", "lengths", tiny{text: true, rows: 1, values: 1, header: pageHead(9, 9, 1, 6), page: []byte{128, 1, 4, 255, 255, 255, 255, 7, 0}}.file()},
		{"a dictionary", "a dictionary: unexpected EOF", tiny{text: true, rows: 1, values: 1, header: structure(number(1, 2), number(2, 8), number(3, 8), field(12, 7, structure(number(1, 1000), number(2, 0)))), page: eight}.file()},
		{"bytes of a column", "bytes from byte 4", tiny{rows: 1, values: 1, packed: 1 << 40, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"an offset", "bytes from byte", tiny{rows: 1, values: 1, offset: 1 << 62, header: pageHead(8, 8, 1, 0), page: eight}.file()},
		{"row groups", "", tiny{rows: 1, values: 1, columns: long(4)}.file()},
		{"columns", "", tiny{rows: 1, values: 1, columns: structs(4, structure(long(1)))}.file()},
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
	footer := structure(structs(2, elements...), number(3, 0), structs(5, structure(text(1, "huggingface"), text(2, features))))
	b := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// TestSmallFilesTakeLittle has files that are small, and whose metadata or pages ask for much.
func TestSmallFilesTakeLittle(t *testing.T) {
	root := structure(text(4, "r"), number(5, 1))
	leaf := structure(number(1, 2), number(3, 0), text(4, "a"))
	names := [][]byte{root, structure(number(3, 0), text(4, strings.Repeat("n", 60_000)), number(5, 7000))}
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
	for _, c := range []struct {
		what string
		file []byte
		want string // of the error
	}{
		{"the path of a group in every column", schemaFile("{}", names...), "more memory"},
		{"nested structures of features", schemaFile(nested(`{"a":`, "}"), root, leaf), "nested more than"},
		{"nested lists of features", schemaFile(nested(`{"_type":"List","feature":`, "}"), root, leaf), "nested more than"},
		{"lengths without bits", tiny{text: true, rows: 1, values: 1, header: pageHead(n, n, values, 6), page: zeros}.file(), ""},
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
