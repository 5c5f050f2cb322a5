package arrow_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	arrowgo "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/arrow"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// oneFile is a Store of a.arrow, which lists the reads.
type oneFile struct {
	data  []byte
	reads []string // "offset length"
}

func (s *oneFile) Identity() string { return "" }

func (s *oneFile) List(context.Context, string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) { yield(s.object(), nil) }
}

func (s *oneFile) object() objects.Object {
	return objects.Object{Name: "a.arrow", Size: int64(len(s.data)), Version: "1"}
}

func (s *oneFile) Stat(context.Context, string) (objects.Object, error) { return s.object(), nil }

func (s *oneFile) ReadAt(_ context.Context, _ objects.Object, p []byte, off int64) error {
	s.reads = append(s.reads, fmt.Sprint(off, " ", len(p)))
	if off < 0 || off+int64(len(p)) > int64(len(s.data)) {
		return errors.New("read outside of the file")
	}
	copy(p, s.data[off:])
	return nil
}

// stream writes record batches as JSON has them.
func stream(t testing.TB, schema *arrowgo.Schema, options []ipc.Option, batches ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(options, ipc.WithSchema(schema))...)
	for _, text := range batches {
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(text))
		if err == nil {
			err = w.Write(record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func field(name string, t arrowgo.DataType) arrowgo.Field {
	return arrowgo.Field{Name: name, Type: t, Nullable: true}
}

// TestNullsAreMissing has nulls at every depth.
func TestNullsAreMissing(t *testing.T) {
	i32, item := arrowgo.PrimitiveTypes.Int32, arrowgo.StructOf(field("x", arrowgo.PrimitiveTypes.Int32), field("y", arrowgo.BinaryTypes.String))
	schema := arrowgo.NewSchema([]arrowgo.Field{
		field("n", i32), field("list", arrowgo.ListOf(i32)), field("pair", arrowgo.FixedSizeListOf(2, i32)),
		field("inner", item), field("items", arrowgo.LargeListOf(item)), field("lists", arrowgo.ListOf(arrowgo.FixedSizeListOf(2, arrowgo.FixedWidthTypes.Boolean))),
		field("code", &arrowgo.FixedSizeBinaryType{ByteWidth: 3}), field("none", arrowgo.Null),
	}, nil)
	s := &oneFile{data: stream(t, schema, nil,
		`[{"n": 1, "list": [1, 2], "pair": [1, 2], "inner": {"x": 1, "y": "é"}, "items": [{"x": 1}, {"x": 2}], "lists": [[true, false]], "code": "YWJj"},
		{"n": null, "list": null, "pair": null, "inner": null, "items": null, "lists": null, "code": null},
		{"n": 3, "list": [1, null], "pair": [null, 2], "inner": {"x": null, "y": null}, "items": [{"x": null}], "lists": [null]}]`, `[]`,
		`[{"n": 4, "list": [], "pair": [7, 8], "inner": {"x": 4, "y": ""}, "items": [], "lists": []}]`)}
	index := scan(t, s, arrow.Format(), 1, "a.arrow")
	for _, c := range []struct {
		field shards.Field
		want  [4]string // "" if it is missing
	}{
		{shards.Scalar[int32]("f", "n"), [4]string{"1", "", "3", "4"}},
		{shards.Ragged[int32]("f", nil, "list"), [4]string{"[1 2]", "", "", "[]"}},
		{shards.Array[int32]("f", []int{2}, "pair"), [4]string{"[1 2]", "", "", "[7 8]"}},
		{shards.Scalar[int32]("f", "inner.x"), [4]string{"1", "", "", "4"}},
		{shards.Bytes("f", "inner.y"), [4]string{"[195 169]", "", "", "[]"}},
		{shards.Ragged[int32]("f", nil, "items.x"), [4]string{"[1 2]", "", "", "[]"}},
		{shards.Ragged[bool]("f", []int{2}, "lists"), [4]string{"[true false]", "", "", "[]"}},
		{shards.Bytes("f", "code"), [4]string{"[97 98 99]", "", "", ""}},
	} {
		ds := open(t, s, index, c.field)
		if ds.Len() != len(c.want) {
			t.Fatalf("%d samples, want %d", ds.Len(), len(c.want))
		}
		for i, want := range c.want {
			if want == "" {
				if err := place(t, ds, i); err == nil || !strings.Contains(err.Error(), "the sample has no column") {
					t.Errorf("%v, sample %d: error %v, want that it has no column", c.field, i, err)
				}
			} else if got := fmt.Sprint(datatest.Sample(t, ds, i)["f"].Data()); got != want {
				t.Errorf("%v, sample %d: %s, want %s", c.field, i, got, want)
			}
		}
	}
}

// TestOnlyTheBlocksOfTheSamplesAreRead: what stands before batches is read once, and then whole batches.
func TestOnlyTheBlocksOfTheSamplesAreRead(t *testing.T) {
	schema := arrowgo.NewSchema([]arrowgo.Field{field("text", arrowgo.BinaryTypes.String)}, nil)
	var batches []string
	for k := range 5 {
		batches = append(batches, fmt.Sprintf(`[{"text": %q}, {"text": "b"}]`, strings.Repeat(fmt.Sprint(k), 10_000)))
	}
	s := &oneFile{data: stream(t, schema, nil, batches...)}
	index := scan(t, s, arrow.Format(), 1, "a.arrow")
	if got := fmt.Sprint(index.Ends()); got != "[2 4 6 8 10]" || len(s.reads) != 7 {
		t.Errorf("blocks end at %s after the reads %q, want 5 of 2 samples and 7 reads", got, s.reads)
	}
	for _, read := range s.reads {
		if !strings.HasSuffix(read, " 4096") && read != s.reads[6] {
			t.Errorf("the scan reads %s, want 4096 bytes", read)
		}
	}
	s.reads = nil
	ds := open(t, s, index, shards.Bytes("text", "text"))
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for _, i := range []int{6, 7, 0, 6} {
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		if got := slot.Cell(0).Bytes(); i%2 == 0 && string(got) != strings.Repeat(fmt.Sprint(i/2), 10_000) || i%2 == 1 && string(got) != "b" {
			t.Errorf("sample %d is %.20q", i, got)
		}
	}
	if len(s.reads) != 2 {
		t.Errorf("%q was read, want 2 batches", s.reads)
	}
}

func TestWhatIsNotSupportedSaysSo(t *testing.T) {
	i32 := arrowgo.PrimitiveTypes.Int32
	plain := arrowgo.NewSchema([]arrowgo.Field{field("n", i32)}, nil)
	one := `[{"n": 1}]`
	of := func(dt arrowgo.DataType, batches ...string) []byte {
		return stream(t, arrowgo.NewSchema([]arrowgo.Field{field("n", dt)}, nil), nil, batches...)
	}
	var file bytes.Buffer
	w, err := ipc.NewFileWriter(&file, ipc.WithSchema(plain))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	good := stream(t, plain, nil, one)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "it is empty"},
		{"another file", []byte("{\"text\": \"a\"}\n"), "byte 0: want an Arrow stream: no message begins here"},
		{"a file of IPC", file.Bytes(), "byte 0: want an Arrow stream: this is a file of Arrow IPC"},
		{"a dictionary", of(&arrowgo.DictionaryType{IndexType: i32, ValueType: arrowgo.BinaryTypes.String}), `byte 0: column "n": dictionaries are not supported`},
		{"a view", of(arrowgo.BinaryTypes.StringView), `byte 0: column "n": views are not supported`},
		{"a union", of(arrowgo.SparseUnionOf([]arrowgo.Field{field("a", i32)}, []arrowgo.UnionTypeCode{0})), `column "n": unions are not supported`},
		{"runs", of(arrowgo.RunEndEncodedOf(i32, i32)), `column "n": runs are not supported`},
		{"nothing but a map", of(arrowgo.MapOf(i32, i32)), "no column that can be read, only n"},
		{"compression", stream(t, plain, []ipc.Option{ipc.WithZstd()}, one), "compressed record batches are not supported"},
		{"two streams", append(good[:len(good)-8:len(good)-8], good...), "a second schema"},
		{"no schema", good[8+binary.LittleEndian.Uint32(good[4:]):], "byte 0: want an Arrow stream: it does not begin with a schema"},
	} {
		if _, err := shards.Scan(t.Context(), &oneFile{data: c.data}, arrow.Format(), []string{"a.arrow"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		} else if !strings.Contains(err.Error(), "a.arrow") {
			t.Errorf("%s: error %v does not name the file", c.name, err)
		}
	}
}

// files are the files of testdata, and some with other types.
func files(t testing.TB) (list [][]byte) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(names) != 3 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	i32 := arrowgo.PrimitiveTypes.Int32
	small := arrowgo.NewSchema([]arrowgo.Field{field("a", arrowgo.BinaryTypes.String), field("b", arrowgo.ListOf(i32)), field("c", arrowgo.StructOf(field("d", i32)))}, nil)
	return append(list, stream(t, small, nil, `[{"a": "x", "b": [1, 2], "c": {"d": 1}}, {"a": null, "b": null, "c": null}, {"a": "y", "b": [], "c": {"d": null}}]`, `[{"a": "z"}]`))
}

// readAll reads the samples of a file up to an error, in fields of the columns that the small files have. Nulls are no errors, and
// neither are lists without lists, whose lengths nothing says.
func readAll(t testing.TB, data []byte, limit int64) error {
	s := &oneFile{data: data}
	index, err := shards.Scan(t.Context(), s, arrow.Format(arrow.MaxBlockBytes(limit)), []string{"a.arrow"}, shards.BlockSize(1))
	if err != nil {
		return err
	}
	var last error
	for _, f := range []shards.Field{
		shards.Bytes("f", "image", "text", "a"), shards.Ragged[int32]("f", nil, "tokens", "b"), shards.Scalar[int64]("f", "label", "inner.class", "c.d"),
		shards.Ragged[int64]("f", []int{2}, "nested"), shards.Array[float32]("f", []int{2, 3}, "matrix"), shards.Ragged[bool]("f", nil, "flags"),
		shards.Ragged[float32]("f", []int{2}, "objects.box"), shards.Bytes("f", "long"),
	} {
		ds, err := shards.Open(s, index, []shards.Field{f})
		if err != nil {
			continue // another file has this column
		}
		r, slot := datatest.Open(t, ds), newSlot(ds)
		for i := range min(ds.Len(), 5000) {
			if err := r.Place(t.Context(), i, slot); err != nil && !strings.Contains(err.Error(), "has no column") && !strings.Contains(err.Error(), "want n × [2]") {
				last = err
				break
			}
		}
	}
	return last
}

// TestDamagedFilesAreErrors flips bytes, cuts files short and writes large numbers. Nothing may panic.
func TestDamagedFilesAreErrors(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const limit = 1 << 20
	found := map[bool]int{}
	for k, whole := range files(t) {
		if err := readAll(t, whole, limit); err != nil {
			t.Errorf("file %d: %v", k, err)
		}
		for trial := range 300 {
			data := bytes.Clone(whole)
			switch at := random.IntN(len(data) - 8); trial % 4 {
			case 0:
				data = data[:at]
			case 1:
				data[at] ^= 1 << random.IntN(8)
			case 2:
				binary.LittleEndian.PutUint64(data[at&^7:], []uint64{1 << 62, 1<<63 - 1, 1 << 31, 1<<64 - 1, 0xffff}[random.IntN(5)])
			case 3:
				binary.LittleEndian.PutUint32(data[at&^3:], random.Uint32())
			}
			hostile.Bounded(t, len(data), 16*limit, func() {
				err := readAll(t, data, limit)
				found[err == nil]++
				if err != nil && !strings.Contains(err.Error(), "a.arrow") {
					t.Errorf("file %d: error %v does not name the file", k, err)
				}
			})
		}
	}
	if found[false] < 300 {
		t.Errorf("%d damaged files are errors, want 300 or more", found[false])
	}
}

// FuzzArrow reads files that may be damaged. Nothing may panic, and a block may take its limit.
func FuzzArrow(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		hostile.Bounded(t, len(data), 16*limit, func() { _ = readAll(t, data, limit) })
	})
}

// TestOffsetsThatDecreaseAreErrors has a text that ends before it begins, and one that ends outside of the batch.
func TestOffsetsThatDecreaseAreErrors(t *testing.T) {
	schema := arrowgo.NewSchema([]arrowgo.Field{field("text", arrowgo.BinaryTypes.String)}, nil)
	whole := stream(t, schema, nil, `[{"text": "abc"}, {"text": "defg"}]`)
	at := bytes.Index(whole, []byte{0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0})
	if at < 0 {
		t.Fatal("no offsets")
	}
	for _, c := range []struct {
		place int
		value int32
		want  string
	}{{4, 9, "offset 2 is 7, after 9"}, {0, -1, "offset 0 is -1, after 0"}, {8, 1 << 30, "out of bounds"}} {
		data := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(data[at+c.place:], uint32(c.value))
		s := &oneFile{data: data}
		ds := open(t, s, scan(t, s, arrow.Format(), 1, "a.arrow"), shards.Bytes("text", "text"))
		for i := range 2 {
			if err := place(t, ds, i); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `a.arrow, block at byte `) {
				t.Errorf("sample %d: error %v, want %q", i, err, c.want)
			}
		}
	}
}

// TestBatchesThatAreCutShortAreErrors has a batch with more bytes than its file or its block.
func TestBatchesThatAreCutShortAreErrors(t *testing.T) {
	schema := arrowgo.NewSchema([]arrowgo.Field{field("text", arrowgo.BinaryTypes.String)}, nil)
	small := stream(t, schema, nil, `[{"text": "a"}]`)
	large := stream(t, schema, nil, fmt.Sprintf(`[{"text": %q}]`, strings.Repeat("a", 1000)))
	if _, err := shards.Scan(t.Context(), &oneFile{data: large[:len(small)]}, arrow.Format(), []string{"a.arrow"}); err == nil || !strings.Contains(err.Error(), "bytes are left") {
		t.Errorf("a file that is cut short: error %v", err)
	}
	s := &oneFile{data: small}
	ds := open(t, s, scan(t, s, arrow.Format(), 1, "a.arrow"), shards.Bytes("text", "text"))
	s.data = large
	if err := place(t, ds, 0); err == nil || !strings.Contains(err.Error(), "bytes are left") {
		t.Errorf("a block of another file: error %v", err)
	}
}

// message is a message without a body, whose header is written by write.
func message(kind byte, write func(*flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(0)
	header := write(b)
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.Finish(b.EndObject())
	data := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(b.FinishedBytes())))
	return append(data, b.FinishedBytes()...)
}

func vector(b *flatbuffers.Builder, places ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(places), 4)
	for _, p := range slices.Backward(places) {
		b.PrependUOffsetT(p)
	}
	return b.EndVector(len(places))
}

// fieldOf is a field of the type null, or a structure if it has children, with metadata.
func fieldOf(b *flatbuffers.Builder, name, children, metadata flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartObject(0)
	kind, dt := byte(1), b.EndObject()
	if children != 0 {
		kind = 13
	}
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, dt, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependUOffsetTSlot(6, metadata, 0)
	return b.EndObject()
}

func schemaOf(b *flatbuffers.Builder, fields ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	list := vector(b, fields...)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, list, 0)
	return b.EndObject()
}

// TestSmallSchemasTakeLittle has schemas whose parts are shared, so that they describe very much.
func TestSmallSchemasTakeLittle(t *testing.T) {
	long := strings.Repeat("n", 60_000)
	for _, c := range []struct {
		what, want string
		write      func(*flatbuffers.Builder) flatbuffers.UOffsetT
	}{
		{"fields that share their children", "more memory", func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			name := b.CreateString("a")
			f := fieldOf(b, name, 0, 0)
			for range 50 {
				f = fieldOf(b, name, vector(b, f, f), 0)
			}
			return schemaOf(b, f)
		}},
		{"deep structures", "nested more than", func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			name := b.CreateString("a")
			f := fieldOf(b, name, 0, 0)
			for range 1000 {
				f = fieldOf(b, name, vector(b, f), 0)
			}
			return schemaOf(b, f)
		}},
		{"fields that share a long name", "more memory", func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			f := fieldOf(b, b.CreateString(long), 0, 0)
			return schemaOf(b, slices.Repeat([]flatbuffers.UOffsetT{f}, 7000)...)
		}},
		{"fields below a long name", "more memory", func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			f := fieldOf(b, b.CreateString("a"), 0, 0)
			return schemaOf(b, fieldOf(b, b.CreateString(long), vector(b, slices.Repeat([]flatbuffers.UOffsetT{f}, 7000)...), 0))
		}},
		{"metadata that is shared", "more memory", func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			text := b.CreateString(long)
			b.StartObject(2)
			b.PrependUOffsetTSlot(0, text, 0)
			b.PrependUOffsetTSlot(1, text, 0)
			pairs := vector(b, slices.Repeat([]flatbuffers.UOffsetT{b.EndObject()}, 7000)...)
			return schemaOf(b, fieldOf(b, b.CreateString("a"), 0, pairs))
		}},
	} {
		data := message(1, c.write)
		hostile.Bounded(t, len(data), 0, func() {
			_, err := shards.Scan(t.Context(), &oneFile{data: data}, arrow.Format(), []string{"a.arrow"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.what, err, c.want)
			}
		})
	}
}
