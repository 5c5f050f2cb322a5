package packed_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

func openBytes(data []byte) (*packed.File, error) {
	return packed.Open(fstest.MapFS{"f": {Data: data}}, "f")
}

func TestDamagedSampleIsNoticedWhenFirstRead(t *testing.T) {
	whole := packedWhole(t)
	for at := range 4 * 6 {
		data := bytes.Clone(whole)
		data[at] ^= 4
		ds, err := openBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		for i := range 4 {
			for range 2 {
				err := r.Place(t.Context(), i, slot)
				if i != at/6 {
					if err != nil {
						t.Errorf("byte %d damaged: sample %d: %v", at, i, err)
					}
					continue
				}
				want := fmt.Sprintf("packed: the sample at byte %d is damaged: its CRC-32C is ", 6*i)
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("byte %d damaged: error %v, want %s…", at, err, want)
				}
			}
		}
	}
	// A sample that was once read without damage is not checked again.
	data := bytes.Clone(whole)
	ds, err := openBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Sample(t, ds, 1)
	data[6]++
	datatest.Sample(t, ds, 1)
}

func TestDamagedTrailerIsNoticed(t *testing.T) {
	whole := packedWhole(t, packed.Classes("left", "right"))
	for at := 24; at < len(whole); at++ {
		data := bytes.Clone(whole)
		data[at] ^= 4
		if _, err := openBytes(data); err == nil {
			t.Errorf("byte %d of %d damaged: no error", at, len(whole))
		}
	}
	for n := range whole {
		if _, err := openBytes(whole[:n]); err == nil {
			t.Errorf("file cut to %d bytes: no error", n)
		}
	}
}

// withTrailer is samples with a trailer after them.
func withTrailer(samples []byte, sums int, description string, described, count uint64, version byte) []byte {
	return withTables(samples, uint64(len(samples)), make([]byte, 4*sums), description, described, count, version)
}

// withTables is samples, which the trailer says to have that many bytes, with tables
// and the rest of a trailer after them.
func withTables(samples []byte, records uint64, tables []byte, description string, described, count uint64, version byte) []byte {
	end := append(bytes.Clone(tables), description...)
	end = binary.LittleEndian.AppendUint64(end, records)
	end = binary.LittleEndian.AppendUint64(end, described)
	end = binary.LittleEndian.AppendUint64(end, count)
	end = binary.LittleEndian.AppendUint32(end, crc32.Checksum(end, crc32.MakeTable(crc32.Castagnoli)))
	end = append(end, "\x89penstock\r\n"...)
	return append(bytes.Clone(samples), append(end, version)...)
}

func TestHostileTrailersAreErrors(t *testing.T) {
	six := make([]byte, 6)
	text := func(fields string) string { return `{"fields":[` + fields + `],"byte_order":"little"}` }
	described := func(description string) []byte {
		return withTrailer(six, 1, description, uint64(len(description)), 1, 2)
	}
	tables := func(description string, tables ...byte) []byte {
		return withTables(six, 6, tables, description, uint64(len(description)), uint64(1), 2)
	}
	ragged := text(`{"name":"x","dtype":"int16","ragged":true}`)
	named := text(`{"name":"x","dtype":"int16","shape":[3]}`)
	named = named[:len(named)-1] + `,"named":true}`
	good := text(`{"name":"x","dtype":"int16","shape":[3]}`)
	if _, err := openBytes(described(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{withTrailer(six, 1, good, uint64(len(good)), 1, 1), "byte 124: version 1 of the layout: want 2"},
		{withTables(six, 1<<63, nil, good, uint64(len(good)), 1, 2), "byte 81: samples of 9223372036854775808 bytes before the last 40 of 121"},
		{withTrailer(six, 1, good, 1<<63, 1, 2), "byte 93: description of 9223372036854775808 bytes before the last 40 of 125"},
		{withTrailer(six, 1, good, uint64(len(good)), 1<<62, 2), "byte 101: 4611686018427387904 samples in 4 bytes"},
		{withTrailer(six, 1, good, uint64(len(good)), 0, 2), "byte 6: 0 samples of 6 bytes each and 0 of ragged fields, but there are 6 bytes before the checksums"},
		{withTrailer(make([]byte, 7), 1, good, uint64(len(good)), 1, 2), "byte 11: 1 samples of 6 bytes each and 0 of ragged fields, but there are 7 bytes before the checksums"},
		{tables(good, 1, 2, 3, 4, 5), "byte 10: 1 bytes before the description"},
		{tables(ragged, 0, 0, 0, 0), "byte 10: the ends of 1 ragged fields of 1 samples in 0 bytes"},
		{tables(ragged, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0), "ragged field 0 of sample 0 ends at 7, after 0 of 6 bytes"},
		{tables(ragged, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0), "ragged field 0 of sample 0 has 5 bytes, want a multiple of 2"},
		{tables(ragged, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0), "1 samples of 0 bytes each and 4 of ragged fields, but there are 6 bytes"},
		{tables(named, 0, 0, 0, 0, 2, 'x'), "the name of sample 0 exceeds the names"},
		{tables(named, 0, 0, 0, 0, 255), "the name of sample 0 exceeds the names"},
		{described(good + " "), "description at byte 10: 1 bytes after it"},
		{described(`{"fields":[],"byte_order":"little"}`), "description at byte 10: dataset: spec: no fields"},
		{described(`{"fields":[],"byte_order":"odd"}`), `description at byte 10: byte order "odd": this machine reads "little"`},
		{described(text(`{"name":"x","dtype":"string"}`)), `description at byte 10: field "x": dataset: unknown dtype "string"`},
		{described(text(`{"name":"x","dtype":"int16","kind":"hologram"}`)), `dataset: no kind of field is named "hologram"`},
		{described(text(`{"name":"x","dtype":"int16","shape":[3],"of":"y"}`)), `field "x": of "y", which is not a field`},
		{described(text(`{"name":"x","dtype":"int16","shape":[-3]}`)), `field "x": shape (-3) has a dimension below 1`},
		{described(text(`{"name":"x","dtype":"int16","shape":[4294967296,4294967296]}`)), datatest.OfInt(`is larger than 1 TiB`, `cannot unmarshal number 4294967296`)},
		{described(text(`{"name":"x","dtype":"int16","torn":true}`)), `unknown field "torn"`},
		{described("{"), "description at byte 10: unexpected EOF"},
		{described(text(strings.Repeat(`{},`, 1000) + `{}`)), "1001 fields: want at most 1000"},
		{six[:5], "file of 5 bytes is not a packed file, or is cut short; OpenRaw reads raw records"},
	} {
		_, err := openBytes(c.data)
		if err == nil || !strings.HasPrefix(err.Error(), "packed: read f: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error  %v\nwant       %s", err, c.want)
		}
	}
	want := "packed: read f: it is a packed file: want Open"
	if _, err := packed.OpenRaw(fstest.MapFS{"f": {Data: described(good)}}, "f", datatest.Pairs(t).Spec()); err == nil || err.Error() != want {
		t.Errorf("read as raw records: got %v, want %s", err, want)
	}
}

func FuzzPacked(f *testing.F) {
	whole := packedWhole(f, packed.Classes("left"))
	f.Add(whole)
	f.Add(whole[:24])
	f.Add(withTrailer(make([]byte, 6), 1, `{"fields":[{"name":"x","dtype":"int16","shape":[3]}],"byte_order":"little"}`, 75, 1, 2))
	f.Add(withTrailer(nil, 0, `{"fields":[{"name":"x","dtype":"bool"}],"byte_order":"little"}`, 61, 0, 2))
	f.Add(words(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		hostile.Bounded(t, len(data), 0, func() { openAll(t, data) })
	})
}

// openAll reads all samples of a file.
func openAll(t *testing.T, data []byte) {
	fsys := fstest.MapFS{"f": {Data: data}}
	for _, open := range []func() (*packed.File, error){
		func() (*packed.File, error) { return packed.Open(fsys, "f") },
		func() (*packed.File, error) { return packed.OpenRaw(fsys, "f", datatest.Pairs(t).Spec()) },
	} {
		ds, err := open()
		if err != nil {
			if !strings.HasPrefix(err.Error(), "packed: ") {
				t.Errorf("error %q does not say whose it is", err)
			}
			continue
		}
		size := 0
		for _, field := range ds.Spec() {
			if !field.Ragged {
				size += field.Bytes()
			}
		}
		if size*ds.Len() > len(data) {
			t.Fatalf("%d samples of %d bytes in a file of %d", ds.Len(), size, len(data))
		}
		if ds.Len() == 0 { // its samples may be of any size
			continue
		}
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		for i := range ds.Len() {
			err := r.Place(t.Context(), i, slot)
			if err != nil && !strings.Contains(err.Error(), "is damaged") {
				t.Errorf("sample %d: %v", i, err)
			}
			read := 0
			for k := range slot.Len() {
				read += len(slot.Cell(k).Bytes())
			}
			if read > len(data) {
				t.Fatalf("sample %d has %d bytes, in a file of %d", i, read, len(data))
			}
		}
	}
}

func TestPipesAreNotOpened(t *testing.T) {
	_, err := packed.Open(datatest.PipeFS{T: t}, "a")
	if got, want := fmt.Sprint(err), "packed: read a: not a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ds, err := packed.Items(datatest.PipeFS{MapFS: fstest.MapFS{"a": {}}, T: t}, "a", datatest.Pairs(t).Spec())
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.At(t.Context(), ds, 0)
	if got, want := fmt.Sprint(err), "dataset: sample 0 (a): packed: not a file"; got != want {
		t.Errorf("Items: got %s, want %s", got, want)
	}
}
