package photo_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/photo"
)

// An index is what docs/packed-photos.md says of a record's rows.
type index struct {
	header     int // bytes
	components int
	rows       int // of MCUs
	high       int // a row of MCUs, in pixels
}

func indexOf(record []byte) index {
	x := index{components: 1, high: 8}
	if record[10] > 0 {
		x.components = 3
	}
	for i := range x.components {
		x.high = max(x.high, 8*int(record[18+2*i]&15))
	}
	x.rows = (int(binary.LittleEndian.Uint16(record[14:])) + x.high - 1) / x.high
	x.header = 24 + 128*int(record[16]) + x.rows*4*(x.components+1) + 4
	return x
}

func headerSize(record []byte) int { return indexOf(record).header }

// sealRows computes the checksums of a record's rows anew, up to one that exceeds it, and
// then that of the header.
func sealRows(record []byte) {
	x := indexOf(record)
	if x.header > len(record) {
		return
	}
	at := x.header
	for entry := record[at-4-x.rows*4*(x.components+1) : at-4]; len(entry) > 0; entry = entry[4*(x.components+1):] {
		from := at
		for i := range x.components {
			at += int(min(binary.LittleEndian.Uint32(entry[4*i:]), 1<<28)) // beyond any record
		}
		if at > len(record) {
			break
		}
		binary.LittleEndian.PutUint32(entry[4*x.components:], crc32.Checksum(record[from:at], crc32.MakeTable(crc32.Castagnoli)))
	}
	seal(record)
}

// seal computes the checksum of a record's header anew.
func seal(record []byte) {
	end := headerSize(record)
	if end > len(record) {
		return
	}
	sum := crc32.Checksum(record[:end-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(record[end-4:], sum)
}

func TestDamagedRecordIsAnErrorOrHasItsPixels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	images := testImages(t)
	rounds := 20000
	if testing.Short() {
		rounds = 1000
	}
	d, packer := newDecoder(), new(photo.Packer)
	d.JPEG.MaxPixels = 1 << 20
	type packed struct{ record, pixels []byte }
	var records []packed
	for i, p := range images {
		record, err := packer.Pack(nil, p.data, levels[[]string{"fast", "small"}[i%2]])
		if err != nil {
			continue
		}
		_, pixels, err := whole(d, record)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, packed{record, pixels})
	}
	refused, sealed := 0, 0
	for range rounds {
		from, other := records[r.IntN(len(records))], records[r.IntN(len(records))]
		data := bytes.Clone(from.record)
		resealed := false
		switch r.IntN(8) {
		case 0: // flips bits
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
		case 1: // cuts the end
			data = data[:r.IntN(len(data))]
		case 2: // takes the rows of another photo
			at, at2 := headerSize(data), headerSize(other.record)
			copy(data[at:], other.record[at2:])
		case 3: // goes on as another record
			data = append(data[:r.IntN(len(data))], other.record[r.IntN(len(other.record)):]...)
		case 4: // exchanges parts of itself
			a, b, n := r.IntN(len(data)), r.IntN(len(data)), r.IntN(50)
			part := bytes.Clone(data[a:min(a+n, len(data))])
			copy(data[a:min(a+n, len(data))], data[b:])
			copy(data[b:], part)
		case 5: // says something else in the header, with its right checksum
			size := headerSize(data)
			for range 1 + r.IntN(2) {
				data[8+r.IntN(size-8)] = []byte{0, 1, 2, 3, 17, 18, 33, 34, 65, 128, 255, byte(r.Uint32())}[r.IntN(12)]
			}
			seal(data)
			resealed = true
		default: // has other codes, with their right checksums
			at := headerSize(data)
			for range 1 + r.IntN(3) {
				data[at+r.IntN(len(data)-at)] ^= 1 << r.IntN(8)
			}
			sealRows(data)
			resealed = true
		}
		if bytes.Equal(data, other.record) { // it goes on after bytes that both have
			from = other
		}
		_, pixels, err := whole(d, data)
		switch {
		case err != nil:
			refused++
			if !strings.HasPrefix(err.Error(), "photo: ") {
				t.Fatalf("error %q does not say whose it is", err)
			}
		case resealed:
			sealed++
		case !bytes.Equal(pixels, from.pixels):
			t.Fatal("a damaged record has other pixels")
		}
	}
	if refused < rounds/3 || sealed == 0 {
		t.Errorf("%d of %d records are errors, %d have other headers", refused, rounds, sealed)
	}
}

func TestHostileHeaderTakesNoMemory(t *testing.T) {
	record := pack(t, find(t, testImages(t), "sample.jpg"), blockcode.Fast)
	binary.LittleEndian.PutUint16(record[12:], 65500) // the width; the rows stay
	seal(record)
	d := newDecoder()
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Header(record); err == nil || !strings.Contains(err.Error(), "blocks in") {
				t.Fatalf("error %v, want one about a row's length", err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<16 {
		t.Errorf("%d bytes for the header of a record of %d", allocated, len(record))
	}
}
