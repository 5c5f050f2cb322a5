package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// WebDataset is the format of tar files in which consecutive files of one key are a
// sample, see https://github.com/webdataset/webdataset.
//
// The key is a file's path up to the first dot of its base name, and the column is what
// follows that dot, in lower case: "n0123.seg.png" is the column "seg.png" of the sample
// "n0123". As in webdataset's __key__, the path is as it stands there: "./n0123.png" has the
// key "./n0123". A second file of one column in a sample is an error. Files without a dot, files
// that begin with a dot, and those in a top folder, or with a path, like "__meta__" are
// left out, and so is everything that is not a regular file.
//
// The archives are of the formats ustar, pax and GNU, with long names. Sparse files are
// errors, and so is an archive that is cut short within a file. If it ends after a whole
// file, without the zeros at its end, it is read, as WebDataset and GNU tar do: it may be
// cut short all the same. One that is compressed as a whole, by gzip or zstd, is one block.
func WebDataset(options ...FormatOption) Format { return &webDataset{formatOf(options)} }

type webDataset struct{ formatConfig }

func (*webDataset) String() string { return "webdataset" }

func (w *webDataset) Layout([]byte) (shardfmt.Layout, error) { return tarLayout{}, w.check() }

func (w *webDataset) Split(ctx context.Context, s objects.Store, name string, size int64, emit func(shardfmt.Shard) error) error {
	if err := w.check(); err != nil {
		return err
	}
	shard, err := split(ctx, s, name, size, w.blockLimit(), compressedBy, walkTar)
	if err != nil {
		return err
	}
	return emit(shard)
}

// tarLayout finds the samples of an archive.
type tarLayout struct{}

// columnMemory is how many bytes a column takes beside those of its name.
const columnMemory = 64

// walkTar goes through an archive.
func walkTar(c *cutter) error {
	t := files.Tar{Take: c.take}
	keys := sampleKeys{}
	columns := map[string]bool{}
	names := budget.For(c.packed) // of a sample's columns: a long name takes little when it is compressed
	for {
		c.mark()
		m, err := t.Next()
		switch {
		case err == files.ErrTarEnd:
			return nil
		case err == io.EOF && c.at == 0:
			return errors.New("the archive is empty: it may be cut short")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if key, column, ok := part(&m); ok {
			if keys.begins(key) {
				c.sample()
				columns, names = map[string]bool{}, budget.For(c.packed)
			}
			if err := names.Memory(int64(len(column)) + columnMemory); err != nil {
				return fmt.Errorf("names of columns: %w", err)
			}
			lower := strings.ToLower(string(column))
			if columns[lower] {
				return fmt.Errorf("%.200q: the sample has a second %.100q", m.Name, lower)
			}
			columns[lower] = true
		}
		if err := c.skip(m.Padded()); err != nil {
			return err
		}
	}
}

// sampleKeys knows the key of the current sample.
type sampleKeys struct {
	last  []byte
	begun bool
}

// begins reports whether a file of that key begins a sample.
func (k *sampleKeys) begins(key []byte) bool {
	if k.begun && bytes.Equal(k.last, key) {
		return false
	}
	k.last, k.begun = append(k.last[:0], key...), true
	return true
}

func (tarLayout) Rows(block []byte, _ int64, dst []shardfmt.Row) ([]shardfmt.Row, error) {
	memory := &memoryTaker{data: block}
	t := files.Tar{Take: memory.take}
	keys := sampleKeys{}
	first := len(dst)
	for {
		begin := memory.at
		m, err := t.Next()
		if err == io.EOF || err == files.ErrTarEnd {
			if len(dst) > first {
				dst[len(dst)-1].Len = begin - dst[len(dst)-1].Off
			}
			return dst, nil
		}
		if err != nil {
			return dst, fmt.Errorf("byte %d: %w", memory.at, err)
		}
		if key, _, ok := part(&m); ok && keys.begins(key) {
			if len(dst) > first {
				dst[len(dst)-1].Len = begin - dst[len(dst)-1].Off
			}
			dst = append(dst, shardfmt.Row{Off: begin})
		}
		if err := memory.skip(m.Padded()); err != nil {
			return dst, fmt.Errorf("byte %d: %w", memory.at, err)
		}
	}
}

func (tarLayout) Key(sample []byte) string {
	memory := &memoryTaker{data: sample}
	t := files.Tar{Take: memory.take}
	for {
		m, err := t.Next()
		if err != nil {
			return ""
		}
		if key, _, ok := part(&m); ok {
			return string(key)
		}
		if memory.skip(m.Padded()) != nil {
			return ""
		}
	}
}

func (tarLayout) Decoder(columns []string) (shardfmt.Decoder, error) {
	d := &tarDecoder{}
	for _, c := range columns {
		d.columns = append(d.columns, []byte(strings.ToLower(strings.TrimPrefix(c, "."))))
	}
	d.reader.Take = d.memory.take
	return d, nil
}

type tarDecoder struct {
	columns [][]byte
	memory  memoryTaker
	reader  files.Tar
}

func (d *tarDecoder) Decode(sample []byte, dst []shardfmt.Value) error {
	clear(dst)
	d.memory = memoryTaker{data: sample}
	for {
		m, err := d.reader.Next()
		if err == io.EOF || err == files.ErrTarEnd {
			return nil
		}
		if err != nil {
			return err
		}
		data := sample[d.memory.at:]
		if err := d.memory.skip(m.Padded()); err != nil {
			return err
		}
		_, column, ok := part(&m)
		if !ok {
			continue
		}
		for k, c := range d.columns {
			if bytes.EqualFold(c, column) {
				dst[k] = bytesValue(data[:m.Size])
			}
		}
	}
}

// A memoryTaker gives the bytes of a block in memory.
type memoryTaker struct {
	data []byte
	at   int
}

func (m *memoryTaker) take(n int) ([]byte, error) {
	rest := m.data[m.at:]
	if len(rest) < n {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		return nil, io.ErrUnexpectedEOF
	}
	m.at += n
	return rest[:n:n], nil
}

func (m *memoryTaker) skip(n int64) error {
	if n > int64(len(m.data)-m.at) {
		return io.ErrUnexpectedEOF
	}
	m.at += int(n)
	return nil
}

// part is the key of the sample that the file belongs to, and its column. ok is false
// if it belongs to none.
func part(m *files.Member) (key, column []byte, ok bool) {
	if !m.Regular || isMeta(m.Name) {
		return nil, nil, false
	}
	base := bytes.LastIndexByte(m.Name, '/') + 1
	dot := bytes.IndexByte(m.Name[base:], '.')
	if dot < 1 {
		return nil, nil, false
	}
	return m.Name[:base+dot], m.Name[base+dot+1:], true
}

// isMeta reports whether the first folder of a path, or all of it, is like "__meta__".
func isMeta(name []byte) bool {
	top, _, _ := bytes.Cut(name, []byte("/"))
	return len(top) >= 4 && bytes.HasPrefix(top, []byte("__")) && bytes.HasSuffix(top, []byte("__"))
}
