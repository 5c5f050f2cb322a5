package nrrd_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

// A volume like a CT's: 192×192×64 samples of int16, smooth with noise in the lowest bits.
func volume() (*array.Header, []byte) {
	h := &array.Header{Dtype: dataset.Int16, Sizes: []int{192, 192, 64}, Axes: make([]array.Axis, 3)}
	data := make([]byte, 2*192*192*64)
	state := uint32(1)
	for i := 0; i < len(data); i += 2 {
		state = state*1664525 + 1013904223
		v := i>>9&1023 + int(state>>29)
		data[i], data[i+1] = byte(v), byte(v>>8)
	}
	return h, data
}

// BenchmarkRead reads volumes. For comparison it also decompresses the same gzip file into existing memory, with the
// gzip library alone.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	h, data := volume()
	for name, compress := range map[string]bool{"raw": false, "gzip": true} {
		var file bytes.Buffer
		if err := nrrd.Write(&file, h, data, compress); err != nil {
			b.Fatal(err)
		}
		save(b, dir, name, file.Bytes())
	}
	text := []byte("NRRD0001\ntype: short\ndimension: 3\nsizes: 192 192 64\nencoding: ascii\n\n")
	for i := 0; i < len(data); i += 2 {
		text = append(strconv.AppendInt(text, int64(data[i])|int64(data[i+1])<<8, 10), ' ')
	}
	save(b, dir, "ascii", text)
	fsys := os.DirFS(dir)
	for _, name := range []string{"raw", "gzip", "ascii"} {
		b.Run("file="+name+"/Read", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, _, err := read(fsys, name, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("file=gzip/library", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		dst := make([]byte, len(data))
		for b.Loop() {
			inflate(b, filepath.Join(dir, "gzip"), dst)
		}
	})
}

// inflate decompresses the data after a file's header with the gzip library alone.
func inflate(b *testing.B, path string, dst []byte) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var begin [256]byte
	if _, err := f.Read(begin[:]); err != nil {
		b.Fatal(err)
	}
	if _, err := f.Seek(int64(bytes.Index(begin[:], []byte("\n\n"))+2), io.SeekStart); err != nil {
		b.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(z, dst); err != nil {
		b.Fatal(err)
	}
}

func save(b *testing.B, dir, name string, content []byte) {
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		b.Fatal(err)
	}
}
