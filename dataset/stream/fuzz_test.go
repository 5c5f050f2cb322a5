package stream_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader"
)

// However the bytes arrive, they are cut into the same records.
func FuzzReading(f *testing.F) {
	f.Add([]byte("one\r\n\ntwo"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole []string
		var wholeErr error
		hostile.Bounded(t, len(data), 0, func() { whole, wholeErr = texts(t, stream.Lines(bytes.NewReader(data), "x")) })
		bytewise, bytewiseErr := texts(t, stream.Lines(iotest.OneByteReader(bytes.NewReader(data)), "x"))
		if !slices.Equal(whole, bytewise) || wholeErr != nil || bytewiseErr != nil {
			t.Errorf("got %q, %v at once and %q, %v byte by byte", whole, wholeErr, bytewise, bytewiseErr)
		}
	})
}

// signed gives a block the right checksum, if its numbers say where the table is.
func signed(data []byte) []byte {
	const trailer = 24
	if len(data) < trailer {
		return data
	}
	number := func(k int) int64 { return int64(binary.LittleEndian.Uint32(data[len(data)-trailer+8+4*k:])) }
	tail := trailer + 8*number(0) + number(2)
	if tail > int64(len(data)) {
		return data
	}
	data = slices.Clone(data)
	sum := crc32.Checksum(data[int64(len(data))-tail:len(data)-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(data[len(data)-4:], sum)
	return data
}

// A hostile file in a spool gives an error or records, and never a panic.
func FuzzSpool(f *testing.F) {
	dir := f.TempDir()
	ds, err := stream.New(&numbers{n: 5}, dir, stream.Window(2))
	if err != nil {
		f.Fatal(err)
	}
	if _, _, err := ds.Await(f.Context(), 6, nil); err != nil {
		f.Fatal(err)
	}
	if err := ds.Close(); err != nil {
		f.Fatal(err)
	}
	names := []string{"00000000000000000000.block", "spool.json", "end.json"}
	for k, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(k))
		f.Add(data, uint8(k+129))
	}
	good := map[string][]byte{}
	for _, name := range names {
		if good[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		dir := t.TempDir()
		for k, name := range names {
			text := good[name]
			if k == int(which)%len(names) {
				text = data
				if k == 0 && which >= 128 {
					text = signed(data)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		hostile.Bounded(t, len(data), 0, func() { readSpool(t, dir) })
	})
}

// readSpool reads up to a thousand records of a spool.
func readSpool(t *testing.T, dir string) {
	ds, err := stream.New(&numbers{n: 9, at: 5}, dir, stream.Window(2))
	if err != nil {
		return
	}
	defer ds.Close()
	l, err := loader.New(ds, loader.BatchSize(3), loader.Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			break
		}
		if n += b.Len(); n > 1000 {
			break
		}
	}
}
