package files

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Bundle is several files in one record, such as the frames of a clip, which are one field of a sample. The zero value has none.
//
// A record is the [BundleSignature], the number of files as 8 bytes with the lowest first, the offset and the length of each in the record,
// 8 bytes each, and their contents. Two files may be the same bytes.
type Bundle struct{ data []byte }

// BundleSignature is the beginning of every record.
const BundleSignature = "\x89clip\r\n\x00"

// MaxBundle bounds the memory of a record that a dataset makes. Slots have room for a quarter more.
const MaxBundle = min(4<<30, math.MaxInt/2)

const (
	bundleHeader = len(BundleSignature) + 8
	bundleEntry  = 16
)

// ParseBundle checks the table of a record. The Bundle keeps data.
func ParseBundle(data []byte) (Bundle, error) {
	if len(data) < bundleHeader {
		return Bundle{}, fmt.Errorf("clip: header: %w", io.ErrUnexpectedEOF)
	}
	if string(data[:len(BundleSignature)]) != BundleSignature {
		return Bundle{}, fmt.Errorf("clip: header: it begins with %q, want %q", data[:len(BundleSignature)], BundleSignature)
	}
	n := binary.LittleEndian.Uint64(data[len(BundleSignature):])
	if n < 1 || n > uint64((len(data)-bundleHeader)/bundleEntry) {
		return Bundle{}, fmt.Errorf("clip: header: %d frames in %d bytes", n, len(data))
	}
	table := bundleHeader + int(n)*bundleEntry
	for k := range int(n) {
		at := binary.LittleEndian.Uint64(data[bundleHeader+k*bundleEntry:])
		length := binary.LittleEndian.Uint64(data[bundleHeader+k*bundleEntry+8:])
		if at < uint64(table) || at > uint64(len(data)) || length > uint64(len(data))-at {
			return Bundle{}, fmt.Errorf("clip: frame %d: %d bytes from byte %d on, of a record of %d", k, length, at, len(data))
		}
	}
	return Bundle{data}, nil
}

// Len is the number of files.
func (b Bundle) Len() int {
	if b.data == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint64(b.data[len(BundleSignature):]))
}

// File is the content of file k.
func (b Bundle) File(k int) []byte {
	e := b.data[bundleHeader+k*bundleEntry:]
	at, n := binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
	return b.data[at : at+n : at+n]
}

// A Distinct is the files of a [Bundle] that is being written, each once: a clip may show a frame several times.
type Distinct struct {
	Numbers []int   // of the files, sorted
	Of      []int   // for every file of the Bundle, which of Numbers it is
	ends    []int64 // of the contents of Numbers, one after the other
}

// Set begins with the numbers of a Bundle's files, which may repeat.
func (d *Distinct) Set(numbers []int) {
	d.Numbers = append(d.Numbers[:0], numbers...)
	slices.Sort(d.Numbers)
	d.Numbers = slices.Compact(d.Numbers)
	d.Of, d.ends = d.Of[:0], d.ends[:0]
	for _, n := range numbers {
		k, _ := slices.BinarySearch(d.Numbers, n)
		d.Of = append(d.Of, k)
	}
}

// Add says that the next of Numbers has n bytes.
func (d *Distinct) Add(n int64) {
	if k := len(d.ends); k > 0 {
		n += d.ends[k-1]
	}
	d.ends = append(d.ends, n)
}

// Begin writes the beginning of the record, when all of Numbers have been added, to what grow makes for all of it. It returns where the contents of
// Numbers go, one after the other.
func (d *Distinct) Begin(grow func(n int) []byte) (contents []byte, err error) {
	table := bundleHeader + len(d.Of)*bundleEntry
	size := int64(table) + d.ends[len(d.ends)-1]
	if size > MaxBundle {
		return nil, fmt.Errorf("the %d frames of a clip have %d bytes, more than %d: want fewer", len(d.Numbers), size, int64(MaxBundle))
	}
	dst := grow(int(size))
	copy(dst, BundleSignature)
	binary.LittleEndian.PutUint64(dst[len(BundleSignature):], uint64(len(d.Of)))
	for k, i := range d.Of {
		at := int64(0)
		if i > 0 {
			at = d.ends[i-1]
		}
		binary.LittleEndian.PutUint64(dst[bundleHeader+k*bundleEntry:], uint64(table)+uint64(at))
		binary.LittleEndian.PutUint64(dst[bundleHeader+k*bundleEntry+8:], uint64(d.ends[i]-at))
	}
	return dst[table:], nil
}
