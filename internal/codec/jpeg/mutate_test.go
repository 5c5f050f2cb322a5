package jpeg_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A mutator makes damaged files from valid ones. Its i-th file is the same in every
// run, as long as the valid ones are.
type mutator struct {
	files  [][]byte
	parts  [][][]byte // by file: its segments
	photos int        // number of the last files
}

// newMutator takes the synthetic images, and every fourth shared photo if there are
// any.
func newMutator(tb testing.TB) *mutator {
	m := &mutator{}
	for _, p := range testImages(tb) {
		m.files = append(m.files, p.data)
	}
	photos, err := filepath.Glob(filepath.Join(shared, "photos", "*", "*"))
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(photos); i += 4 {
		data, err := os.ReadFile(photos[i])
		if err != nil {
			tb.Fatal(err)
		}
		m.files = append(m.files, data)
		m.photos++
	}
	for _, data := range m.files {
		m.parts = append(m.parts, split(data))
	}
	return m
}

// split cuts a file before every marker, except restart markers.
func split(data []byte) [][]byte {
	var parts [][]byte
	begin := 0
	for at := 1; at+1 < len(data); at++ {
		next := data[at+1]
		if data[at] != 0xff || next == 0 || next == 0xff || next >= 0xd0 && next <= 0xd7 {
			continue
		}
		parts = append(parts, data[begin:at])
		begin = at
		if next != 0xda && next != 0xd9 && at+3 < len(data) {
			at += int(data[at+2])<<8 | int(data[at+3]) // what looks like a marker in a segment is none
		}
	}
	return append(parts, data[begin:])
}

// file is the i-th mutation.
func (m *mutator) file(i int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 17))
	which := r.IntN(len(m.files) - m.photos)
	if m.photos > 0 && r.IntN(4) == 0 {
		which = len(m.files) - 1 - r.IntN(m.photos)
	}
	data := slices.Clone(m.files[which])
	switch r.IntN(8) {
	case 0: // flips bits
		for range 1 + r.IntN(8) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	case 1: // replaces bytes, mostly in the headers
		for range 1 + r.IntN(3) {
			data[r.IntN(min(len(data), 1+r.IntN(2000)))] = byte(r.Uint32())
		}
	case 2: // cuts the end
		data = data[:r.IntN(len(data))]
	case 3: // adds or takes some bytes
		at := r.IntN(len(data))
		n := min(1+r.IntN(4), len(data)-at)
		if r.IntN(2) == 0 {
			data = slices.Delete(data, at, at+n)
		} else {
			data = slices.Insert(data, at, slices.Clone(data[at:at+n])...)
		}
	case 4: // goes on as another file
		other := m.files[r.IntN(len(m.files))]
		at := r.IntN(len(data))
		data = append(data[:at], other[r.IntN(len(other)):]...)
	case 5: // changes what a header says
		for range 1 + r.IntN(2) {
			edit(r, data)
		}
	default: // moves segments
		data = m.splice(r, which)
	}
	return data[:len(data):len(data)]
}

// edit changes a byte of a header that tells how the image is coded.
func edit(r *rand.Rand, data []byte) {
	markers := []byte{0xc0, 0xc1, 0xc2, 0xc4, 0xda, 0xda, 0xdb, 0xdd, 0xee}
	marker := markers[r.IntN(len(markers))]
	at := 0
	for range 1 + r.IntN(6) { // the last of some
		i := bytes.Index(data[at+1:], []byte{0xff, marker})
		if i < 0 {
			break
		}
		at += 1 + i
	}
	n := min(22, len(data)-at)
	if at == 0 || n < 3 {
		return
	}
	values := []byte{0, 1, 2, 3, 4, 5, 8, 16, 17, 18, 33, 34, 63, 64, 127, 128, 255, byte(r.Uint32())}
	data[at+2+r.IntN(n-2)] = values[r.IntN(len(values))]
}

// splice drops, repeats or exchanges segments of a file, or takes them from another.
func (m *mutator) splice(r *rand.Rand, which int) []byte {
	parts := slices.Clone(m.parts[which])
	for range 1 + r.IntN(3) {
		other := m.parts[r.IntN(len(m.parts))]
		alien := other[r.IntN(len(other))]
		i, j := r.IntN(len(parts)), r.IntN(len(parts))
		switch r.IntN(5) {
		case 0:
			parts[i] = nil
		case 1:
			parts = slices.Insert(parts, i, parts[j])
		case 2:
			parts[i], parts[j] = parts[j], parts[i]
		case 3:
			parts = slices.Insert(parts, i, alien)
		case 4:
			parts[i] = alien
		}
	}
	return bytes.Join(parts, nil)
}
