package tokens

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/npy"
)

// stores are the dtypes of stored tokens.
var stores = []dataset.Dtype{dataset.Uint8, dataset.Int8, dataset.Uint16, dataset.Int16, dataset.Uint32, dataset.Int32, dataset.Int64}

// store sets the dtype of the stored tokens. what names it in an error.
func (f *File) store(e encoding.Encoding, what string) error {
	if !slices.Contains(stores, e.Dtype) || e.Size != e.Dtype.Size() {
		return fmt.Errorf("tokens of %s: want uint8 to uint32 or int8 to int64", what)
	}
	f.stored = e
	return nil
}

// head is how many bytes of a file Open reads to tell its format: the header of a .bin file of llm.c.
const head = 1024

// describe finds the parts of a file.
func (f *File) describe(name string, raw dataset.Dtype) error {
	file, at, size, err := files.OpenAt(f.fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	if raw != 0 {
		return f.alone(name, 0, size, encoding.Of(raw, false), raw.String())
	}
	begin := make([]byte, min(size, head))
	if err := files.ReadFull(at, begin, 0); err != nil {
		return files.Cause(err)
	}
	switch {
	case bytes.HasPrefix(begin, []byte(megatronMagic)):
		return f.megatron(name, begin, size)
	case bytes.HasPrefix(begin, []byte("\x93NUMPY")):
		return f.npy(name, size)
	case len(begin) >= 12 && llmc[binary.LittleEndian.Uint32(begin)] != nil:
		return f.llmc(name, begin, size)
	case path.Ext(name) == ".json":
		return f.litdata(name, at, size)
	}
	return errors.New("no header of Megatron's index, llm.c or numpy, and no index.json: want Raw for a file of tokens alone")
}

// alone makes the only part of a file of one document, from byte from on.
func (f *File) alone(name string, from, size int64, e encoding.Encoding, what string) error {
	if err := f.store(e, what); err != nil {
		return err
	}
	if rest := (size - from) % int64(e.Size); rest != 0 {
		return fmt.Errorf("%d bytes of tokens, want a multiple of %d", size-from, e.Size)
	}
	f.parts = []part{{name: name, from: from, to: size, n: 1}}
	return nil
}

const (
	megatronMagic  = "MMIDIDX\x00\x00"
	megatronHeader = 34
)

// megatronDtypes are the dtypes of megatron/core/datasets/indexed_dataset.py, by their codes. The others are float64 and float32.
var megatronDtypes = map[byte]dataset.Dtype{
	1: dataset.Uint8, 2: dataset.Int8, 3: dataset.Int16, 4: dataset.Int32, 5: dataset.Int64, 8: dataset.Uint16,
}

// megatron reads an .idx file: the header, the lengths and offsets of all sequences, the numbers of the sequences where documents
// begin, which are not used here, and a byte per sequence if it is multimodal.
func (f *File) megatron(name string, begin []byte, size int64) error {
	stem, ok := strings.CutSuffix(name, ".idx")
	switch {
	case !ok:
		return errors.New("index of Megatron: want a name that ends in .idx, beside a .bin file")
	case len(begin) < megatronHeader:
		return fmt.Errorf("byte %d: header of %d bytes: %w", len(begin), megatronHeader, io.ErrUnexpectedEOF)
	}
	version := binary.LittleEndian.Uint64(begin[9:])
	sequences, documents := binary.LittleEndian.Uint64(begin[18:]), binary.LittleEndian.Uint64(begin[26:])
	rest := uint64(size - megatronHeader)
	switch {
	case version != 1:
		return fmt.Errorf("byte 9: version %d, want 1", version)
	case megatronDtypes[begin[17]] == 0:
		return fmt.Errorf("byte 17: code %d of a dtype, want 1 to 5 or 8", begin[17])
	case sequences > rest/12 || documents > rest/8 || rest != 12*sequences+8*documents && rest != 13*sequences+8*documents:
		return fmt.Errorf("byte 18: %d sequences and %d ends of documents do not take the %d bytes after the header", sequences, documents, rest)
	case sequences > mostSequences:
		return fmt.Errorf("byte 18: %d sequences are more than %d", sequences, mostSequences)
	}
	dt := megatronDtypes[begin[17]]
	if err := f.store(encoding.Of(dt, false), dt.String()); err != nil {
		return err
	}
	bin, length, err := files.Open(f.fsys, stem+".bin")
	if err != nil {
		return fmt.Errorf("%s.bin: %w", stem, err)
	}
	bin.Close()
	n := int(sequences)
	f.parts = []part{{name: stem + ".bin", to: length, n: n}}
	f.parts[0].index = index{name: name, starts: megatronHeader + 4*int64(n), width: 8, lengths: megatronHeader, pages: pages(n)}
	return f.checkEnds(0)
}

// mostSequences is what an index of nearly a terabyte has. The places of its pages take 128 MiB.
const mostSequences = min(1<<36, math.MaxInt)

func pages(n int) []atomic.Pointer[page] {
	return make([]atomic.Pointer[page], n/pageDocuments+1)
}

// checkEnds checks the first and the last document of a part.
func (f *File) checkEnds(k int) error {
	h, err := f.open(k)
	if err != nil {
		return err
	}
	return errors.Join(h.ends(), h.Close())
}

// llmc are the formats of llm.c by their magic numbers, from dev/data/data_common.py.
var llmc = map[uint32]*struct {
	version uint32
	dtype   dataset.Dtype
}{20240520: {1, dataset.Uint16}, 20240801: {7, dataset.Uint32}}

func (f *File) llmc(name string, begin []byte, size int64) error {
	format := llmc[binary.LittleEndian.Uint32(begin)]
	version, n := binary.LittleEndian.Uint32(begin[4:]), binary.LittleEndian.Uint32(begin[8:])
	switch want := head + int64(n)*int64(format.dtype.Size()); {
	case version != format.version:
		return fmt.Errorf("byte 4: version %d, want %d", version, format.version)
	case size != want:
		return fmt.Errorf("byte 8: %d tokens are a file of %d bytes, but it has %d", n, want, size)
	}
	return f.alone(name, head, size, encoding.Of(format.dtype, false), format.dtype.String())
}

func (f *File) npy(name string, size int64) error {
	in, err := files.OpenInput(f.fsys, name)
	if err != nil {
		return err
	}
	defer in.Close()
	h, err := npy.ReadHeader(in)
	switch {
	case err != nil:
		return err
	case len(h.Shape) != 1:
		return fmt.Errorf("an array of shape %v: want one dimension", h.Shape)
	}
	if err := in.Holds(int64(h.Shape[0]) * int64(h.Encoding.Size)); err != nil {
		return err
	}
	return f.alone(name, in.Offset(), size, h.Encoding, h.Encoding.Dtype.String())
}

// A litdataIndex is an index.json.
type litdataIndex struct {
	Config struct {
		Compression *string  `json:"compression"`
		Encryption  any      `json:"encryption"`
		Format      []string `json:"data_format"`
	} `json:"config"`
	Chunks litdataChunks `json:"chunks"`
}

type litdataChunks []litdataChunk

type litdataChunk struct {
	Name  string `json:"filename"`
	Items int64  `json:"chunk_size"`
	Dim   int64  `json:"dim"` // tokens
}

// chunkMemory is how many bytes of memory a chunk takes beside its name. Its text has about a hundred.
const chunkMemory = 512

func (list *litdataChunks) UnmarshalJSON(text []byte) error {
	b := budget.For(int64(len(text)))
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("chunks: want a list")
	}
	*list = nil
	for d.More() {
		if err := b.Memory(chunkMemory); err != nil {
			return fmt.Errorf("chunks: %w", err)
		}
		var c litdataChunk
		if err := d.Decode(&c); err != nil {
			return err
		}
		*list = append(*list, c)
	}
	return nil
}

// litdataDtypes are the dtypes of data_format, by their numbers in litdata/constants.py of litdata 0.2.
var litdataDtypes = map[string]map[int]dataset.Dtype{
	"no_header_tensor": {
		11: dataset.Uint8, 12: dataset.Int8, 13: dataset.Int16, 14: dataset.Int16, 15: dataset.Int32, 16: dataset.Int32,
		17: dataset.Int64, 18: dataset.Int64, 20: dataset.Uint16,
	},
	"no_header_numpy": {
		0: dataset.Int8, 1: dataset.Int16, 2: dataset.Int32, 3: dataset.Int64, 4: dataset.Uint8, 5: dataset.Uint16, 6: dataset.Uint32,
	},
}

// maxIndex is how many bytes an index.json may have: those of half a million chunks.
const maxIndex = 64 << 20

// litdata reads an index.json and the beginning and the end of the table of every chunk. A chunk is the number n of items, n+1
// offsets in the file, all of 4 bytes, and the items.
func (f *File) litdata(name string, at io.ReaderAt, size int64) error {
	if size > maxIndex {
		return fmt.Errorf("file of %d bytes, want at most %d", size, maxIndex)
	}
	text := make([]byte, size)
	if err := files.ReadFull(at, text, 0); err != nil {
		return files.Cause(err)
	}
	var x litdataIndex
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	c := &x.Config
	switch {
	case len(c.Format) != 1:
		return fmt.Errorf("data_format %.100q: want one, such as \"no_header_tensor:16\"", c.Format)
	case c.Compression != nil && *c.Compression != "":
		return fmt.Errorf("compression %.40q: want none", *c.Compression)
	case c.Encryption != nil:
		return errors.New("encrypted chunks: want none")
	}
	kind, number, _ := strings.Cut(c.Format[0], ":")
	code, err := strconv.Atoi(number)
	if err != nil {
		code = -1
	}
	dt := litdataDtypes[kind][code]
	if dt == 0 {
		return fmt.Errorf("data_format %.40q: want no_header_tensor or no_header_numpy of whole numbers, as for TokensLoader", c.Format[0])
	}
	if err := f.store(encoding.Of(dt, false), dt.String()); err != nil {
		return err
	}
	f.parts = make([]part, len(x.Chunks))
	return files.Scan(len(x.Chunks), files.Scanners, func(k int) error {
		chunk, err := files.Below(path.Dir(name), x.Chunks[k].Name)
		if err == nil {
			err = f.chunk(k, chunk, &x.Chunks[k])
		}
		if err != nil {
			return fmt.Errorf("chunk %d, %.100q: %w", k, x.Chunks[k].Name, err)
		}
		return nil
	})
}

// chunk describes a chunk, and compares its size with what index.json says.
func (f *File) chunk(k int, name string, c *litdataChunk) error {
	file, at, size, err := files.OpenAt(f.fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	var begin [4]byte
	if err := files.ReadFull(at, begin[:], 0); err != nil {
		return files.Cause(err)
	}
	n, width := int64(binary.LittleEndian.Uint32(begin[:])), int64(f.stored.Size)
	from := 4 * (n + 2)
	switch {
	case n != c.Items:
		return fmt.Errorf("byte 0: %d items, index.json says %d", n, c.Items)
	case c.Dim < 0 || c.Dim > (math.MaxInt64-from)/width || from+c.Dim*width != size:
		return fmt.Errorf("file of %d bytes, but index.json says %d items and %d tokens of %d bytes", size, n, c.Dim, width)
	case n > math.MaxInt:
		return fmt.Errorf("byte 0: %d items are more than %d", n, math.MaxInt)
	}
	f.parts[k] = part{name: name, from: from, to: size, n: int(n)}
	f.parts[k].index = index{name: name, starts: 4, width: 4, ends: true, pages: pages(int(n))}
	return f.checkEnds(k)
}
