package audio_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// A chunk is a name and what follows it.
func chunk(name string, content ...byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))
	b = append(b, content...)
	return append(b, make([]byte, len(content)%2)...)
}

// format is the content of a chunk fmt.
func format(tag, channels, rate, bits int) []byte {
	frame := channels * ((bits + 7) / 8)
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*frame))
	b = binary.LittleEndian.AppendUint16(b, uint16(frame))
	return binary.LittleEndian.AppendUint16(b, uint16(bits))
}

// riff is a WAV file of these chunks.
func riff(chunks ...[]byte) []byte {
	b := []byte("WAVE")
	for _, c := range chunks {
		b = append(b, c...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(b))), b...)
}

// wave is a WAV file of 16 bits.
func wave(rate, channels int, values ...int16) []byte {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	return riff(chunk("fmt ", format(1, channels, rate, 16)...), chunk("data", data...))
}

// ramp is a WAV file of one channel, whose frame i is (first+i)/32768.
func ramp(rate, first, frames int) []byte {
	values := make([]int16, frames)
	for i := range values {
		values[i] = int16(first + i)
	}
	return wave(rate, 1, values...)
}

// A flacFile makes a FLAC file of one channel, 16 bits and 16 kHz, whose values are not compressed.
type flacFile struct {
	block   int                                                    // frames
	total   int                                                    // frames, as the header says, or -1 for those that there are
	table   func(block int, offset int64) (from uint64, at uint64) // of a seek table's points, one per block; nil for none
	varying bool
}

func (f flacFile) of(values []int16) []byte {
	var blocks []byte
	var points []byte
	for at, k := 0, 0; at < len(values); k++ {
		part := values[at:min(at+f.block, len(values))]
		if f.table != nil {
			from, offset := f.table(k, int64(len(blocks)))
			points = binary.BigEndian.AppendUint64(points, from)
			points = binary.BigEndian.AppendUint64(points, offset)
			points = binary.BigEndian.AppendUint16(points, uint16(len(part)))
		}
		number, strategy := k, byte(0)
		if f.varying {
			number, strategy = at, 1
		}
		b := append([]byte{0xff, 0xf8 | strategy, 0x70, 0x08}, coded(number)...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(part)-1))
		b = append(b, byte(crc(b, 0x07, 8)), 1<<1)
		for _, v := range part {
			b = binary.BigEndian.AppendUint16(b, uint16(v))
		}
		blocks = append(blocks, binary.BigEndian.AppendUint16(b, uint16(crc(b, 0x8005, 16)))...)
		at += len(part)
	}
	total := f.total
	if total < 0 {
		total = len(values)
	}
	out := append([]byte("fLaC"), 0, 0, 0, 34)
	if points == nil {
		out[4] = 0x80
	}
	out = binary.BigEndian.AppendUint16(out, uint16(f.block))
	out = binary.BigEndian.AppendUint16(out, uint16(f.block))
	out = append(out, 0, 0, 0, 0, 0, 0)
	out = binary.BigEndian.AppendUint64(out, 16000<<44|15<<36|uint64(total))
	out = append(out, make([]byte, 16)...)
	if points != nil {
		out = append(out, 0x83, byte(len(points)>>16), byte(len(points)>>8), byte(len(points)))
		out = append(out, points...)
	}
	return append(out, blocks...)
}

func coded(n int) []byte {
	switch {
	case n < 0x80:
		return []byte{byte(n)}
	case n < 0x800:
		return []byte{0xc0 | byte(n>>6), 0x80 | byte(n&0x3f)}
	case n < 0x10000:
		return []byte{0xe0 | byte(n>>12), 0x80 | byte(n>>6&0x3f), 0x80 | byte(n&0x3f)}
	}
	return []byte{0xf0 | byte(n>>18), 0x80 | byte(n>>12&0x3f), 0x80 | byte(n>>6&0x3f), 0x80 | byte(n&0x3f)}
}

// crc is a checksum by its definition, bit by bit.
func crc(data []byte, polynomial uint32, width int) (sum uint32) {
	for _, b := range data {
		sum ^= uint32(b) << (width - 8)
		for range 8 {
			sum <<= 1
			if sum>>width != 0 {
				sum ^= 1<<width | polynomial
			}
		}
	}
	return sum
}

// noise is values in which the header of a block may well be, by chance.
func noise(n int) []int16 {
	random := rand.New(rand.NewPCG(3, 4))
	values := make([]int16, n)
	for i := range values {
		if values[i] = int16(random.Uint32()); random.IntN(50) == 0 {
			values[i] = -8 // 0xfff8
		}
	}
	return values
}

// floats are the values that a decoder gives.
func floats(values []int16) []float32 {
	all := make([]float32, len(values))
	for i, v := range values {
		all[i] = float32(v) / -math.MinInt16
	}
	return all
}
