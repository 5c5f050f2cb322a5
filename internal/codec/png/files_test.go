package png_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/codec/png"
)

// A file is how a generated file looks.
type file struct {
	w, h, depth, colour int
	laced, transparent  bool
	seed                uint64
}

func (f file) String() string {
	return fmt.Sprintf("%d×%d with %d bits of colour type %d, interlaced %v, transparent %v", f.w, f.h, f.depth, f.colour, f.laced, f.transparent)
}

// all are files of all colour types and depths, interlaced or not, in several sizes.
func all() (files []file) {
	for _, c := range []struct {
		colour int
		depths []int
	}{{0, []int{1, 2, 4, 8, 16}}, {2, []int{8, 16}}, {3, []int{1, 2, 4, 8}}, {4, []int{8, 16}}, {6, []int{8, 16}}} {
		for _, depth := range c.depths {
			for _, laced := range []bool{false, true} {
				for _, transparent := range []bool{false, true} {
					if transparent && c.colour > 3 {
						continue // they have alpha
					}
					for i, size := range []image.Point{{1, 1}, {2, 5}, {3, 2}, {21, 13}, {64, 40}} {
						files = append(files, file{size.X, size.Y, depth, c.colour, laced, transparent, uint64(i)})
					}
				}
			}
		}
	}
	return files
}

func chunk(name string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// bytes is a file with random filters, palette and pixels. Half of the pixels are those above,
// so that all filters see equal values. The stream is in several chunks.
func (f file) bytes() []byte {
	r := rand.New(rand.NewPCG(f.seed, uint64(100*f.colour+f.depth)))
	channels := []int{1, 0, 3, 1, 2, 0, 4}[f.colour]
	bits := channels * f.depth
	laced := byte(0)
	passes := [][4]int{{0, 0, 1, 1}}
	if f.laced {
		laced = 1
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var raw []byte
	for _, p := range passes {
		w, h := (f.w-p[0]+p[2]-1)/p[2], (f.h-p[1]+p[3]-1)/p[3]
		if w == 0 || h == 0 {
			continue
		}
		for range h {
			raw = append(raw, byte(r.IntN(5)))
			for range (w*bits + 7) / 8 {
				v := byte(r.IntN(256))
				if r.IntN(2) == 0 {
					v = 0
				}
				raw = append(raw, v)
			}
		}
	}
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	z.Write(raw)
	z.Close()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(f.w)), uint32(f.h))
	out := append([]byte(png.Signature), chunk("IHDR", append(head, byte(f.depth), byte(f.colour), 0, 0, laced))...)
	out = append(out, chunk("tEXt", []byte("a\x00b"))...)
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return b
	}
	if f.colour == 3 || f.colour == 2 && f.seed == 1 { // in colours a palette means nothing
		n := 1 + r.IntN(min(1<<f.depth, 256))
		out = append(out, chunk("PLTE", random(3*n))...)
	}
	if f.transparent {
		n := map[int]int{0: 2, 2: 6, 3: 1}[f.colour]
		out = append(out, chunk("tRNS", random(n))...)
	}
	data := stream.Bytes()
	cut := r.IntN(len(data))
	out = append(out, chunk("IDAT", data[:cut])...)
	out = append(out, chunk("IDAT", nil)...)
	out = append(out, chunk("IDAT", data[cut:])...)
	out = append(out, chunk("tIME", random(7))...)
	return append(out, chunk("IEND", nil)...)
}
