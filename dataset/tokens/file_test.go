package tokens_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// golden is what other libraries read from the files in testdata/files.
type golden struct {
	Documents, Rows map[string][][]int64
}

func readGolden(t testing.TB) (golden, fs.FS) {
	t.Helper()
	var g golden
	datatest.JSON(t, "testdata/files/files.json", &g)
	if len(g.Documents) != 9 || len(g.Rows) != 1 {
		t.Fatalf("%d files with documents and %d with rows", len(g.Documents), len(g.Rows))
	}
	return g, os.DirFS("testdata/files")
}

func open(t testing.TB, fsys fs.FS, name string, options ...tokens.FileOption) *tokens.File {
	t.Helper()
	if name == "nanogpt.bin" {
		options = append(options, tokens.Raw(dataset.Uint16))
	}
	f, err := tokens.Open(fsys, name, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// values are the tokens of a sample.
func values(t testing.TB, ds dataset.Dataset, i int) (v []int64) {
	t.Helper()
	s := datatest.Sample(t, ds, i)["tokens"]
	if s.Dtype() == dataset.Int64 {
		return slices.Clone(dataset.ValuesOf[int64](s))
	}
	for _, x := range dataset.ValuesOf[int32](s) {
		v = append(v, int64(x))
	}
	return v
}

// A farFS has files of which every read is a request to a service.
type farFS struct {
	fs.FS
	reads *atomic.Int64
}

type farFile struct {
	fs.File
	fsys farFS
}

func (f farFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return &farFile{file, f}, err
}

func (f *farFile) ReadAt(p []byte, offset int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, offset)
}

func (f *farFile) ReadAtContext(_ context.Context, p []byte, offset int64) (int, error) {
	f.fsys.reads.Add(1)
	return f.File.(io.ReaderAt).ReadAt(p, offset)
}

func TestFilesHaveTheDocumentsThatOtherLibrariesRead(t *testing.T) {
	g, local := readGolden(t)
	for name, want := range g.Documents {
		for kind, fsys := range map[string]fs.FS{"local": local, "far": farFS{local, new(atomic.Int64)}, "seeking": datatest.SeekOnly{FS: local}} {
			for _, dt := range []dataset.Dtype{dataset.Int32, dataset.Int64} {
				f := open(t, fsys, name, tokens.As(dt))
				lengths, err := f.Lengths(t.Context())
				if err != nil || f.Len() != len(want) || len(lengths) != len(want) || f.Spec()[0].Dtype != dt {
					t.Fatalf("%s, %s, %v: %d documents and %d lengths, want %d; %v", name, kind, dt, f.Len(), len(lengths), len(want), err)
				}
				sum := int64(0)
				for i, w := range want {
					if got := values(t, f, i); !slices.Equal(got, w) || int(lengths[i]) != len(w) {
						t.Errorf("%s, %s, %v, document %d of length %d: got %v, want %v", name, kind, dt, i, lengths[i], got, w)
					}
					sum += int64(len(w))
				}
				if f.Tokens() != sum {
					t.Errorf("%s: %d tokens, want %d", name, f.Tokens(), sum)
				}
			}
		}
	}
}

func TestRowsAreTheStreamOfTheFile(t *testing.T) {
	g, fsys := readGolden(t)
	for name, documents := range g.Documents {
		f := open(t, fsys, name)
		for _, c := range [][2]int{{4, 4}, {5, 4}, {4, 1}, {3, 5}, {39, 1}, {1, 1}} {
			ds, err := f.Rows(c[0], c[1])
			if err != nil {
				t.Fatal(err)
			}
			var want [][]int64
			stream := slices.Concat(documents...)
			if strings.HasPrefix(name, "litdata") { // two chunks
				continue
			}
			for at := 0; at+c[0] <= len(stream); at += c[1] {
				want = append(want, stream[at:at+c[0]])
			}
			if ds.Len() != len(want) {
				t.Fatalf("%s, Rows%v: %d rows, want %d", name, c, ds.Len(), len(want))
			}
			for i, w := range want {
				if got := values(t, ds, i); !slices.Equal(got, w) {
					t.Errorf("%s, Rows%v, row %d: got %v, want %v", name, c, i, got, w)
				}
			}
		}
	}
	for name, want := range g.Rows {
		ds, err := open(t, fsys, name).Rows(4, 4)
		if err != nil || ds.Len() != len(want) {
			t.Fatalf("%s: %v, %d rows, want %d", name, err, ds.Len(), len(want))
		}
		for i, w := range want {
			if got := values(t, ds, i); !slices.Equal(got, w) {
				t.Errorf("%s, row %d: got %v, want %v", name, i, got, w)
			}
		}
	}
}

// A loader tells the dataset what it will read, and packed rows read parts of documents.
func TestFilesAreLoadedByManyWorkers(t *testing.T) {
	g, local := readGolden(t)
	for _, fsys := range []fs.FS{local, datatest.SeekOnly{FS: local}} {
		for name, documents := range g.Documents {
			f := open(t, fsys, name)
			lengths, err := f.Lengths(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows, err := tokens.Pack(f, lengths, 5, tokens.Wrap, tokens.Fields("input_ids"), tokens.Pad(-7))
			if err != nil {
				t.Fatal(err)
			}
			l, err := loader.New(rows, loader.BatchSize(3), loader.Workers(2), loader.Sampler(sampler.Sequential(rows.Len())))
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range loader.Values[int32](b, "input_ids") {
					if v != -7 {
						got = append(got, int64(v))
					}
				}
			}
			l.Close()
			if want := slices.Concat(documents...); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	}
}

func TestFilesArePlacedWithoutAllocation(t *testing.T) {
	_, fsys := readGolden(t)
	for _, name := range []string{"u2.idx", "i8.idx", "litdata/index.json", "nanogpt.bin"} {
		f := open(t, fsys, name)
		datatest.PlacesWithoutAllocation(t, f)
		datatest.RefusesOtherIndices(t, f)
		rows, err := f.Rows(4, 2)
		if err != nil {
			t.Fatal(err)
		}
		datatest.PlacesWithoutAllocation(t, rows)
		datatest.RefusesOtherIndices(t, rows)
	}
}

// megatronIndex is an .idx file.
func megatronIndex(code byte, lengths []int32, offsets, documents []int64) []byte {
	b := append([]byte("MMIDIDX\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"), code)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(lengths)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(documents)))
	for _, list := range []any{lengths, offsets, documents} {
		b, _ = binary.Append(b, binary.LittleEndian, list)
	}
	return b
}

// The requests for a far file are those for documents, and two for every 4,096 documents of the index.
func TestFarIndexesAreReadByThePage(t *testing.T) {
	const n = 10_000
	lengths, offsets := make([]int32, n), make([]int64, n)
	for i := range lengths {
		lengths[i], offsets[i] = 1, int64(2*i)
	}
	var reads atomic.Int64
	fsys := farFS{fstest.MapFS{"x.idx": {Data: megatronIndex(8, lengths, offsets, nil)}, "x.bin": {Data: make([]byte, 2*n)}}, &reads}
	f := open(t, fsys, "x.idx")
	r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
	for i := range n {
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
	}
	if want := int64(1 + 3*2 + n); reads.Load() != want {
		t.Errorf("%d requests for a header, %d documents and their index, want %d", reads.Load(), n, want)
	}
}

// A nearFS has local files, and counts the reads of an index.
type nearFS struct {
	fs.FS
	reads *int
}

type nearFile struct {
	fs.File
	reads *int
}

func (f nearFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if !strings.HasSuffix(name, ".idx") {
		return file, err
	}
	return &nearFile{file, f.reads}, err
}

func (f *nearFile) ReadAt(p []byte, offset int64) (int, error) {
	*f.reads++
	return f.File.(io.ReaderAt).ReadAt(p, offset)
}

// Of a local file pages of the index are kept, too, but not if there are more than four million documents.
func TestIndexesOfLocalFilesAreKeptUnlessTheyAreLarge(t *testing.T) {
	const page = 4096
	lengths, offsets := make([]int32, 2*page), make([]int64, 2*page)
	for i := range lengths {
		lengths[i], offsets[i] = 1, int64(2*i)
	}
	head := megatronIndex(8, nil, nil, nil)
	const many = 4<<20 + 1
	binary.LittleEndian.PutUint64(head[18:], many)
	for name, c := range map[string]struct {
		fsys fs.FS
		want int
	}{
		"some": {fstest.MapFS{"x.idx": {Data: megatronIndex(8, lengths, offsets, nil)}, "x.bin": {Data: make([]byte, 4*page)}}, 2 * 2},
		"many": {hugeFS{"x.idx": {head, 34 + 12*many}, "x.bin": {nil, 0}}, 100 * 2},
	} {
		reads := 0
		f := open(t, nearFS{c.fsys, &reads}, "x.idx")
		r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
		reads = 0
		for k := range 100 {
			if err := r.Place(t.Context(), k%2*page+k, slot); err != nil {
				t.Fatal(err)
			}
		}
		if reads != c.want {
			t.Errorf("%s: %d reads of the index for 100 documents, want %d", name, reads, c.want)
		}
	}
}

// A terabyte of ten billion documents would do, but a test has no such file: the file promises zeros where it was not written.
func TestHugeIndexesOpenWithoutReadingThem(t *testing.T) {
	const n = 100_000_000
	head := megatronIndex(8, nil, nil, nil)
	binary.LittleEndian.PutUint64(head[18:], n)
	fsys := hugeFS{"x.idx": {head, 34 + 12*n}, "x.bin": {nil, 0}}
	hostile.Bounded(t, 0, 0, func() {
		if f := open(t, fsys, "x.idx"); f.Len() != n {
			t.Errorf("%d documents", f.Len())
		}
	})
}

// What a size promises is no reason to take memory for it.
func TestIndexesThatNoDiskHoldsAreRefused(t *testing.T) {
	const n = 1 << 55
	head := megatronIndex(8, nil, nil, nil)
	binary.LittleEndian.PutUint64(head[18:], n)
	hostile.Bounded(t, 0, 0, func() {
		_, err := tokens.Open(hugeFS{"x.idx": {head, 34 + 12*n}, "x.bin": {nil, 0}}, "x.idx")
		if got, want := fmt.Sprint(err), "tokens: read x.idx: byte 18: 36028797018963968 sequences are more than "; !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestLengthsTakeNoMemoryThatAnIndexOnlyPromises(t *testing.T) {
	const n = 1 << 30
	head := megatronIndex(8, nil, nil, nil)
	binary.LittleEndian.PutUint64(head[18:], n)
	f := open(t, hugeFS{"x.idx": {head, 34 + 12*n}, "x.bin": {nil, 0}}, "x.idx")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hostile.Bounded(t, 0, 64<<20, func() {
		if _, err := f.Lengths(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestRowsAndDocumentsThatNoMemoryHolds(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		t.Skip("for 32 bits")
	}
	f := open(t, hugeFS{"x": {nil, 1 << 31}}, "x", tokens.Raw(dataset.Int64))
	_, document := dataset.At(t.Context(), f, 0)
	_, rows := f.Rows(1<<28, 1)
	for _, err := range []error{document, rows} {
		if err == nil || !strings.Contains(err.Error(), "more than memory can hold") {
			t.Error(err)
		}
	}
}

type hugeFS map[string]hugeFile

// A hugeFile is some bytes, and zeros up to a size.
type hugeFile struct {
	begin []byte
	size  int64
}

func (h hugeFS) Open(name string) (fs.File, error) {
	f, ok := h[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	empty, err := fstest.MapFS{name: {}}.Open(name)
	return openHuge{empty, f}, err
}

type openHuge struct {
	fs.File
	huge hugeFile
}

func (f openHuge) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return hugeInfo{info, f.huge.size}, err
}

type hugeInfo struct {
	fs.FileInfo
	size int64
}

func (i hugeInfo) Size() int64 { return i.size }

func (f openHuge) ReadAt(p []byte, offset int64) (int, error) {
	p = p[:max(min(int64(len(p)), f.huge.size-offset), 0)]
	clear(p)
	if offset < int64(len(f.huge.begin)) {
		copy(p, f.huge.begin[offset:])
	}
	if offset+int64(len(p)) == f.huge.size {
		return len(p), io.EOF
	}
	return len(p), nil
}

func TestOpenRefusesWhatContradictsItself(t *testing.T) {
	_, testdata := readGolden(t)
	idx, err := fs.ReadFile(testdata, "u2.idx")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, v byte) []byte {
		b := slices.Clone(idx)
		b[at] = v
		return b
	}
	bin := make([]byte, 78)
	llmc := make([]byte, 1024+4)
	binary.LittleEndian.PutUint32(llmc, 20240520)
	llmc[4], llmc[8] = 1, 2
	old := slices.Clone(llmc)
	old[4] = 2
	zeros, one := []int64{0, 4}, []int32{2, 2}
	index := func(format, chunks string) []byte {
		return []byte(`{"config":{"data_format":["` + format + `"],"compression":null},"chunks":[` + chunks + `]}`)
	}
	for _, c := range []struct {
		name string
		data []byte
		bin  []byte
		want string
	}{
		{"x.idx", nil, bin, "no header of Megatron's index, llm.c or numpy, and no index.json: want Raw"},
		{"x.dat", idx, bin, "want a name that ends in .idx"},
		{"x.idx", idx[:20], bin, "byte 20: header of 34 bytes: unexpected EOF"},
		{"x.idx", idx[:len(idx)-1], bin, "byte 18: 7 sequences and 8 ends of documents do not take the 147 bytes after the header"},
		{"x.idx", append(slices.Clone(idx), 0), bin, "do not take the 149 bytes"},
		{"x.idx", changed(9, 2), bin, "byte 9: version 2, want 1"},
		{"x.idx", changed(17, 7), bin, "byte 17: code 7 of a dtype, want 1 to 5 or 8"},
		{"x.idx", changed(25, 0x80), bin, "byte 18: 9223372036854775815 sequences and 8 ends of documents do not take the 148 bytes"},
		{"x.idx", idx, nil, "x.idx: document 0: byte 62: it begins at byte 0 of x.bin, and the next one at byte 6: want 0 to 0, not descending"},
		{"x.idx", idx, bin[:76], "x.idx: document 6: byte 58: 9 tokens, but the next document begins 8 tokens after it"},
		{"x.idx", idx, bin[:77], "want multiples of 2"},
		{"x.idx", changed(34, 4), bin, "x.idx: document 0: byte 34: 4 tokens, but the next document begins 3 tokens after it"},
		{"x.idx", megatronIndex(8, one, zeros, nil), make([]byte, 4), "x.idx: document 1: byte 38: 2 tokens, but the next document begins 0 tokens after it"},
		{"x.idx", megatronIndex(8, one, []int64{-2, 4}, nil), make([]byte, 8), "document 0: byte 42: it begins at byte -2 of x.bin"},
		{"x.idx", megatronIndex(8, one, []int64{0, math.MaxInt64}, nil), make([]byte, 8), "document 0: byte 42: it begins at byte 0 of x.bin, and the next one at byte 9223372036854775807"},
		{"x.idx", megatronIndex(8, one, []int64{2, 4}, nil), make([]byte, 8), "it has the bytes from 2 to 4 of x.bin: the tokens are those from 0 to 8"},
		{"x.idx", megatronIndex(8, nil, nil, []int64{0}), make([]byte, 8), "x.bin has 8 bytes of tokens, but the index has no document"},
		{"x.bin", old, nil, "byte 4: version 2, want 1"},
		{"x.bin", llmc[:len(llmc)-1], nil, "byte 8: 2 tokens are a file of 1028 bytes, but it has 1027"},
		{"x.npy", []byte("\x93NUMPY\x01\x00"), nil, "unexpected EOF"},
		{"x.json", []byte(`{"config":{}}`), nil, `data_format []: want one, such as "no_header_tensor:16"`},
		{"x.json", index("jpeg", ""), nil, `data_format "jpeg": want no_header_tensor or no_header_numpy of whole numbers`},
		{"x.json", index("no_header_tensor:0", ""), nil, `data_format "no_header_tensor:0"`},
		{"x.json", index("no_header_tensor:16", `{"filename":"../x.bin"}`), nil, `chunk 0, "../x.bin": `},
		{"x.json", index("no_header_tensor:16", `{"filename":"x.bin","chunk_size":2}`), []byte{1, 0, 0, 0}, "byte 0: 1 items, index.json says 2"},
		{"x.json", index("no_header_tensor:16", `{"filename":"x.bin","chunk_size":1,"dim":1}`), []byte{1, 0, 0, 0}, "file of 4 bytes, but index.json says 1 items and 1 tokens of 4 bytes"},
		{"x.json", index("no_header_tensor:16", `{"filename":"x.bin","chunk_size":1,"dim":4611686018427387904}`), []byte{1, 0, 0, 0}, "file of 4 bytes, but index.json says"},
		{"x.json", index("no_header_tensor:16", `{"filename":"x.bin","chunk_size":1,"dim":1}`), []byte{1, 0, 0, 0, 12, 0, 0, 0, 15, 0, 0, 0, 1, 2, 3, 4}, "document 0: byte 4: it begins at byte 12 of x.bin, and the next one at byte 15: want multiples of 4"},
	} {
		fsys := fstest.MapFS{c.name: {Data: c.data}}
		if c.name != "x.bin" {
			fsys["x.bin"] = &fstest.MapFile{Data: c.bin}
		}
		_, err := tokens.Open(fsys, c.name)
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "tokens: read "+c.name+": ") {
			t.Errorf("got error  %s\nwant       %s", got, c.want)
		}
	}
	_, err = tokens.Open(fstest.MapFS{"x.bin": {Data: make([]byte, 3)}}, "x.bin", tokens.Raw(dataset.Uint16))
	if got, want := fmt.Sprint(err), "tokens: read x.bin: 3 bytes of tokens, want a multiple of 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = tokens.Open(fstest.MapFS{"x.bin": {}}, "x.bin", tokens.Raw(dataset.Float32))
	if got, want := fmt.Sprint(err), "tokens: read x.bin: tokens of float32: want uint8 to uint32 or int8 to int64"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = tokens.Open(fstest.MapFS{}, "x.bin", tokens.As(dataset.Uint16))
	if got, want := fmt.Sprint(err), "tokens: As(uint16): want int32 or int64"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = tokens.Open(datatest.PipeFS{T: t}, "a")
	if got, want := fmt.Sprint(err), "tokens: read a: not a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = open(t, testdata, "u2.idx").Rows(0, 1)
	if got, want := fmt.Sprint(err), "tokens: Rows(0, 1): want a length of 1 to 2³⁰ and a stride of 1 or more"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What an index says of documents in the middle is checked when they are read, and by Lengths.
func TestAnIndexThatContradictsItselfNamesTheDocument(t *testing.T) {
	good := []int64{0, 4, 8, 12}
	for _, c := range []struct {
		lengths []int32
		offsets []int64
		want    string
	}{
		{[]int32{2, 2, 2, 2}, []int64{0, 4, 2, 12}, "x.idx: document 1: byte 58: it begins at byte 4 of x.bin, and the next one at byte 2: want 0 to 16, not descending"},
		{[]int32{2, 2, 2, 2}, []int64{0, 4, 20, 12}, "x.idx: document 1: byte 58: it begins at byte 4 of x.bin, and the next one at byte 20"},
		{[]int32{2, 2, 2, 2}, []int64{0, 4, 7, 12}, "want multiples of 2"},
		{[]int32{2, -1, 2, 2}, good, "x.idx: document 1: byte 38: -1 tokens, but the next document begins 2 tokens after it"},
		{[]int32{2, 3, 2, 2}, good, "3 tokens, but the next document begins 2 tokens after it"},
	} {
		f := open(t, fstest.MapFS{"x.idx": {Data: megatronIndex(8, c.lengths, c.offsets, nil)}, "x.bin": {Data: make([]byte, 16)}}, "x.idx")
		_, whole := f.Lengths(t.Context())
		_, one := dataset.At(t.Context(), f, 1)
		for _, err := range []error{whole, one} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error  %v\nwant       %s", err, c.want)
			}
		}
	}
}

func TestTokensThatDoNotFitNameTheirPlace(t *testing.T) {
	fsys := fstest.MapFS{
		"u4": {Data: []byte{1, 0, 0, 0, 0, 0, 0, 0x80}}, "i8": {Data: []byte{0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
	}
	for name, c := range map[string]struct {
		dt   dataset.Dtype
		want string
		all  []int64
	}{
		"u4": {dataset.Uint32, "u4: byte 4: a token of uint32 that is no int32", []int64{1, 1 << 31}},
		"i8": {dataset.Int64, "i8: byte 0: a token of int64 that is no int32", []int64{1 << 32, -1}},
	} {
		_, err := dataset.At(t.Context(), open(t, fsys, name, tokens.Raw(c.dt)), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %s", err, c.want)
		}
		if got := values(t, open(t, fsys, name, tokens.Raw(c.dt), tokens.As(dataset.Int64)), 0); !slices.Equal(got, c.all) {
			t.Errorf("as int64: got %v, want %v", got, c.all)
		}
	}
}

func TestAFileOfTokensThatShrinksIsAnError(t *testing.T) {
	bin := &fstest.MapFile{Data: make([]byte, 8)}
	f := open(t, fstest.MapFS{"x": bin}, "x", tokens.Raw(dataset.Uint16))
	bin.Data = bin.Data[:5]
	_, err := dataset.At(t.Context(), f, 0)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "x: file ended at byte 5, want 8") {
		t.Error(err)
	}
}

func FuzzFile(f *testing.F) {
	g, fsys := readGolden(f)
	for name := range g.Documents {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			f.Fatal(err)
		}
		beside := "litdata/chunk-0-0.bin"
		if stem, ok := strings.CutSuffix(name, ".idx"); ok {
			beside = stem + ".bin"
		}
		bin, err := fs.ReadFile(fsys, beside)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, bin)
	}
	f.Fuzz(func(t *testing.T, data, bin []byte) {
		files := fstest.MapFS{
			"x.idx": {Data: data}, "x.bin": {Data: bin}, "x.json": {Data: data}, "x.npy": {Data: data}, "chunk-0-0.bin": {Data: bin}, "chunk-0-1.bin": {Data: bin},
		}
		for _, name := range []string{"x.idx", "x.json", "x.npy", "x.bin"} {
			hostile.Bounded(t, len(data)+3*len(bin), 0, func() { readAll(t, files, name, len(data)+2*len(bin)) })
		}
	})
}

// readAll reads at most a thousand documents and rows of a file.
func readAll(t *testing.T, fsys fs.FS, name string, most int) {
	for _, options := range [][]tokens.FileOption{nil, {tokens.Raw(dataset.Uint16), tokens.As(dataset.Int64)}} {
		f, err := tokens.Open(fsys, name, options...)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tokens: read "+name+": ") {
				t.Errorf("error %q does not say whose it is", err)
			}
			continue
		}
		if f.Tokens() > int64(most) {
			t.Fatalf("%d tokens in %d bytes", f.Tokens(), most)
		}
		lengths, err := f.Lengths(t.Context())
		sum := int64(0)
		for _, n := range lengths {
			sum += int64(n)
		}
		if err == nil && sum != f.Tokens() {
			t.Fatalf("documents of %d tokens in a file of %d", sum, f.Tokens())
		}
		r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
		for i := range min(f.Len(), 1000) {
			one := r.Place(t.Context(), i, slot)
			if err == nil && one != nil && !strings.Contains(one.Error(), "a token of") {
				t.Fatalf("Lengths has no error, but document %d: %v", i, one)
			}
		}
		rows, err := f.Rows(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		r, slot = datatest.Open(t, rows), dataset.NewSlot(rows.Spec()...)
		for i := range min(rows.Len(), 1000) {
			if err := r.Place(t.Context(), i, slot); err != nil && !strings.Contains(err.Error(), "a token of") {
				t.Fatal(err)
			}
		}
	}
}
