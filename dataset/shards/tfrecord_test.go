package shards_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// record frames data as TensorFlow does.
func record(data []byte) []byte {
	masked := func(b []byte) uint32 {
		sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (sum>>15 | sum<<17) + 0xa282ead8
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

// message is a field of a protocol buffer with a length.
func message(number int, parts ...[]byte) []byte {
	data := slices.Concat(parts...)
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// feature is an entry of the map of features.
func feature(key string, value ...[]byte) []byte {
	return message(1, message(1, []byte(key)), message(2, value...))
}

func example(features ...[]byte) []byte { return message(1, features...) }

func float(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }

// readRecord reads fields of sample i of a TFRecord file.
func readRecord(t testing.TB, file []byte, i int, fields ...shards.Field) (dataset.Dataset, dataset.Slot, error) {
	t.Helper()
	s := &memoryStore{objects: map[string][]byte{"a": file}}
	x, err := shards.Scan(t.Context(), s, shards.TFRecord(shards.MaxBlockBytes(fuzzLimit)), []string{"a"})
	if err != nil {
		return nil, dataset.Slot{}, err
	}
	ds, err := shards.Open(s, x, fields)
	if err != nil {
		return nil, dataset.Slot{}, err
	}
	slot := newSlot(ds)
	return ds, slot, datatest.Open(t, ds).Place(t.Context(), i, slot)
}

// text is what readRecord reads.
func text(t testing.TB, file []byte, i int, fields ...shards.Field) (string, error) {
	t.Helper()
	ds, slot, err := readRecord(t, file, i, fields...)
	if err != nil {
		return "", err
	}
	sample := datatest.Sample(t, ds, i)
	var parts []string
	for k, f := range ds.Spec() {
		if len(slot.Cell(k).Bytes()) == 0 {
			parts = append(parts, "[]")
			continue
		}
		parts = append(parts, fmt.Sprint(sample[f.Name].Data()))
	}
	return strings.Join(parts, " "), nil
}

// TestExamplesAreReadInEveryEncoding has lists that are packed, one by one, or in parts.
func TestExamplesAreReadInEveryEncoding(t *testing.T) {
	ints := shards.Ragged[int64]("n", nil, "n")
	floats := shards.Ragged[float32]("x", nil, "x")
	tag := func(number, kind int) []byte { return binary.AppendUvarint(nil, uint64(number)<<3|uint64(kind)) }
	minus := binary.AppendUvarint(nil, math.MaxUint64)
	for what, c := range map[string]struct {
		example []byte
		field   shards.Field
		want    string
	}{
		"packed integers":      {example(feature("n", message(3, message(1, []byte{1, 0x80, 1}, minus)))), ints, "[1 128 -1]"},
		"integers one by one":  {example(feature("n", message(3, tag(1, 0), []byte{5}, tag(1, 0), minus))), ints, "[5 -1]"},
		"integers in parts":    {example(feature("n", message(3, message(1, []byte{1, 2}), tag(1, 0), []byte{3}))), ints, "[1 2 3]"},
		"no integers":          {example(feature("n", message(3))), ints, "[]"},
		"packed floats":        {example(feature("x", message(2, message(1, float(1.5), float(-2))))), floats, "[1.5 -2]"},
		"floats one by one":    {example(feature("x", message(2, tag(1, 5), float(1.5), tag(1, 5), float(-2)))), floats, "[1.5 -2]"},
		"the last of a key":    {example(feature("n", message(3, message(1, []byte{1}))), feature("n", message(3, message(1, []byte{2})))), ints, "[2]"},
		"two features":         {slices.Concat(example(feature("x")), example(feature("n", message(3, message(1, []byte{7}))))), ints, "[7]"},
		"unknown fields":       {slices.Concat(tag(9, 0), []byte{1}, tag(10, 1), make([]byte, 8), tag(11, 5), make([]byte, 4), message(12, []byte("x")), example(feature("n", message(3, message(1, []byte{7}))))), ints, "[7]"},
		"value before the key": {example(message(1, message(2, message(3, message(1, []byte{4}))), message(1, []byte("n")))), ints, "[4]"},
		"bytes":                {example(feature("s", message(1, message(1, []byte("hi"))))), shards.Bytes("s", "s"), "[104 105]"},
		"a scalar":             {example(feature("n", message(3, message(1, []byte{9})))), shards.Scalar[uint8]("n", "n"), "9"},
		"raw values":           {example(feature("s", message(1, message(1, float(1), float(2))))), shards.Array[float32]("s", []int{2, 1}, "s"), "[1 2]"},
		"float as float64":     {example(feature("x", message(2, message(1, float(0.5))))), shards.Scalar[float64]("x", "x"), "0.5"},
	} {
		got, err := text(t, record(c.example), 0, c.field)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", what, got, err, c.want)
		}
	}
}

func TestWrongExamplesAreErrors(t *testing.T) {
	ints := shards.Ragged[int64]("n", nil, "n")
	list := func(values ...byte) []byte { return example(feature("n", message(3, message(1, values)))) }
	for what, c := range map[string]struct {
		example []byte
		field   shards.Field
		want    string
	}{
		"no feature":           {example(feature("m")), ints, `shards: a, byte 0: field "n": the sample has no column n`},
		"a feature of nothing": {example(feature("n")), ints, `the sample has no column n`},
		"another type":         {example(feature("n", message(2, message(1, float(1))))), ints, `field "n": values of float32, want int64`},
		"too large":            {list(0x80, 2), shards.Scalar[uint8]("n", "n"), `field "n": uint8 cannot hold 256`},
		"negative":             {list(binary.AppendUvarint(nil, math.MaxUint64)...), shards.Scalar[uint16]("n", "n"), `field "n": uint16 cannot hold -1`},
		"several values":       {list(1, 2), shards.Scalar[int64]("n", "n"), `field "n": 2 values, want []`},
		"another length":       {list(1, 2), shards.Array[int64]("n", []int{3}, "n"), `field "n": 2 values, want [3]`},
		"no multiple":          {list(1, 2, 3), shards.Ragged[int64]("n", []int{2}, "n"), `field "n": 3 values, want n × [2]`},
		"several texts":        {example(feature("n", message(1, message(1), message(1)))), shards.Bytes("n", "n"), `feature "n": a list of 2 byte strings, want 1`},
		"text for a number":    {example(feature("n", message(1, message(1, []byte("x1"))))), shards.Scalar[int64]("n", "n"), `field "n": "x1" is not a number that int64 can hold`},
		"no protocol buffer":   {[]byte{0xff, 0xff}, ints, "the record is not a tf.Example"},
		"a promise":            {[]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f}, ints, "unexpected EOF"},
		"half a float":         {example(feature("n", message(2, message(1, []byte{1})))), ints, "a part of one"},
		"half an integer":      {list(0x80), ints, "the record is not a tf.Example"},
	} {
		if got, err := text(t, record(c.example), 0, c.field); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v, want %s", what, got, err, c.want)
		}
	}
}

// TestADamagedRecordIsAnErrorOfItsSample damages the data of one record before the scan.
func TestADamagedRecordIsAnErrorOfItsSample(t *testing.T) {
	file, err := os.ReadFile("testdata/tfrecord/train.tfrecord")
	if err != nil {
		t.Fatal(err)
	}
	file[3000] ^= 1
	image := shards.Bytes("image", "image")
	for i := range 3 {
		_, err := text(t, file, i, image)
		want := "shards: a, byte 2314: the record is damaged: its checksum is"
		if i == 1 && (err == nil || !strings.Contains(err.Error(), want)) || i != 1 && err != nil {
			t.Errorf("sample %d: %v", i, err)
		}
	}
}

func TestHostileTFRecordsAreErrors(t *testing.T) {
	good := record(example(feature("n")))
	huge := binary.LittleEndian.AppendUint64(nil, 1<<60)
	sum := binary.LittleEndian.Uint32(record(huge)[12+8:]) // that of the data is made in the same way
	huge = binary.LittleEndian.AppendUint32(huge, sum)
	large := binary.LittleEndian.AppendUint64(nil, 1<<40)
	large = binary.LittleEndian.AppendUint32(large, binary.LittleEndian.Uint32(record(large)[12+8:]))
	for what, c := range map[string]struct {
		file []byte
		want string
	}{
		"cut within a head":   {append(slices.Clone(good), good[:5]...), fmt.Sprintf("byte %d: %v", len(good)+5, io.ErrUnexpectedEOF)},
		"cut within the data": {good[:15], "byte 12: unexpected EOF"},
		"no record":           {bytes.Repeat([]byte("no"), 20), "byte 12: want a TFRecord: the checksum of its length"},
		"a huge promise":      {huge, "a record of 1152921504606846976 bytes"},
		"a promise":           {large, "byte 12: unexpected EOF"},
	} {
		if _, err := text(t, c.file, 0, shards.Bytes("n", "n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// TestALengthLikeGzipIsNoGzip has a first record whose length begins like a gzip file.
func TestALengthLikeGzipIsNoGzip(t *testing.T) {
	data := example(feature("n", message(3, message(1, []byte{3}))))
	data = append(data, message(9, make([]byte, 0x88b1f-len(data)-4))...)
	file := record(data)
	if !bytes.HasPrefix(file, []byte("\x1f\x8b\x08\x00")) {
		t.Fatalf("the file begins with % x", file[:4])
	}
	if _, err := text(t, file, 0, shards.Scalar[int64]("n", "n")); err != nil {
		t.Error(err)
	}
}

func FuzzTFRecord(f *testing.F) {
	file, err := os.ReadFile("testdata/tfrecord/train.tfrecord")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(gzipped(bytes.Repeat(record(nil), 1<<16)))
	f.Add(zstded(f, record(make([]byte, 2<<20))))
	f.Fuzz(func(t *testing.T, file []byte) {
		field := shards.Bytes("image", "image", "x")
		hostile.Bounded(t, len(file), unpacked(t, file), func() { readRecord(t, file, 0, field) })
		got, err := text(t, file, 0, field)
		if err == nil && len(got) > 5*len(file) {
			t.Errorf("%d bytes of text from %d", len(got), len(file))
		}
	})
}

// FuzzExample reads messages with a right checksum.
func FuzzExample(f *testing.F) {
	store := objects.Folder("testdata/tfrecord")
	o, err := store.Stat(f.Context(), "train.tfrecord")
	if err != nil {
		f.Fatal(err)
	}
	first := make([]byte, 2314)
	if err := store.ReadAt(f.Context(), o, first, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(first[12 : len(first)-4])
	f.Add(example(feature("n", message(3, message(1, []byte{1, 2})))))
	f.Add(example(feature("n", message(2, message(1, float(1))))))
	f.Add(example(feature("n", message(3, message(1, bytes.Repeat([]byte{1}, 50000)))))) // eight bytes of each
	f.Add(bytes.Repeat(example(feature("n", message(3))), 5000))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, field := range []shards.Field{shards.Bytes("f", "image", "n"), shards.Ragged[int64]("f", nil, "n", "tokens"), shards.Ragged[float32]("f", []int{2}, "n", "box")} {
			file := record(data)
			hostile.Bounded(t, len(file), 0, func() { readRecord(t, file, 0, field) })
		}
	})
}
