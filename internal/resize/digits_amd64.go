//go:build amd64 && !purego

package resize

import (
	"encoding/binary"

	"github.com/penstock-go/penstock/internal/cpu"
)

// digits are Weights in the layout of the kernels with AVX-512 VNNI, made when they
// are first needed. These multiply bytes, so every weight is split into three signed
// digits: low + 2⁸·middle + 2¹⁶·high. The high digit is below 128, because a positive
// weight is at most 1.5·One: the weights add up to One, and their sizes to less than
// 2·One.
type digits struct {
	row       []uint8 // per four outputs and group of four taps: 16 low digits, 16 middle, 16 high, and where each output's taps begin
	at        []int32 // per four outputs: the first byte that they load
	groups    int
	reach     int     // how many bytes of a row may be loaded
	column    []uint8 // per output and group of four rows: 4 low digits, 4 middle, 4 high, 4 zeros
	first     []int32 // per output: the first row of its column, which may have weight zero
	hasRow    bool
	hasColumn bool
}

// loaded is how many bytes the horizontal kernel loads at once, and loadedPixels how
// many pixels that is.
const (
	loaded       = 64
	loadedPixels = loaded / 4
)

// split writes the digits of k to three bytes that are step bytes apart.
func split(to []uint8, step int, k int32) {
	low := int32(int8(k))
	k = (k - low) >> 8
	middle := int32(int8(k))
	to[0], to[step], to[2*step] = uint8(low), uint8(middle), uint8((k-middle)>>8)
}

// quad is the first of four neighbouring outputs. The last four may overlap the ones
// before.
func quad(q, n int) int { return min(4*q, n-4) }

// packRow reports whether the kernel can run: there are at least four outputs, and
// four neighbours' taps of one group are loaded at once.
func (t *digits) packRow(w *Weights) bool {
	if t.hasRow {
		return t.groups > 0
	}
	t.hasRow = true
	n := len(w.First)
	t.groups = (w.most() + 3) / 4
	quads := (n + 3) / 4
	if n < 4 {
		t.groups = 0
		return false
	}
	t.reach = 0
	t.row = zeros(t.row, loaded*t.groups*quads)
	t.at = grow(t.at, quads)
	for q := range quads {
		x := quad(q, n)
		lo := min(w.First[x], w.First[x+1], w.First[x+2], w.First[x+3])
		t.at[q] = 4 * lo
		t.reach = max(t.reach, 4*int(lo)+16*(t.groups-1)+loaded)
		group := t.row[loaded*t.groups*q:]
		for p := range 4 {
			off := w.First[x+p] - lo
			if off > loadedPixels-4 {
				t.groups = 0
				return false
			}
			for j, k := range w.K[(x+p)*w.Taps:][:w.Count[x+p]] {
				split(group[j/4*loaded+4*p+j%4:], 16, k)
			}
			for g := range t.groups {
				binary.LittleEndian.PutUint32(group[g*loaded+48+4*p:], uint32(4*off)*0x01010101)
			}
		}
	}
	return true
}

// horizontal computes as many rows as it can, from the first on.
func (t *digits) horizontal(dst []byte, dstStride int, src []byte, srcStride, rows int, w *Weights) (done int) {
	if !cpu.VNNI() || rows < 4 || !t.packRow(w) {
		return 0
	}
	n := len(w.First)
	// A load may go beyond the row, but not beyond src.
	if most := cap(src) - t.reach; most < (rows-1)*srcStride {
		rows = (most + srcStride) / srcStride
	}
	if rows < 4 {
		return 0
	}
	_ = dst[(rows-1)*dstStride+4*n-1]
	for y := 0; y < rows; y += 4 {
		y = min(y, rows-4) // the last four rows may overlap the ones before
		t.four(dst[y*dstStride:], dstStride, src[y*srcStride:], srcStride, 0, n/4)
		if n%4 > 0 {
			t.four(dst[y*dstStride+4*(n-4):], dstStride, src[y*srcStride:], srcStride, n/4, 1)
		}
	}
	return rows
}

// four computes a number of quads, from the q-th on, of four rows.
func (t *digits) four(dst []byte, dstStride int, src []byte, srcStride, q, quads int) {
	weights := &t.row[loaded*t.groups*q]
	if t.groups == 1 {
		horizontalDigits1(&dst[0], &src[0], dstStride, srcStride, &t.at[q], quads, weights, 1)
	} else {
		horizontalDigits(&dst[0], &src[0], dstStride, srcStride, &t.at[q], quads, weights, t.groups)
	}
}

// groupsOf is the number of groups of output i's column.
func (w *Weights) groupsOf(i int) int { return int(w.Count[i]+3) / 4 }

// packColumn reports whether the kernel can run: no column has more groups of rows than
// the source.
func (t *digits) packColumn(w *Weights) bool {
	if t.hasColumn {
		return len(t.first) > 0
	}
	t.hasColumn = true
	rows := w.Hi - w.Lo
	most := (w.most() + 3) / 4
	t.first = t.first[:0]
	if 4*most > rows {
		return false
	}
	t.first = grow(t.first, len(w.First))
	t.column = zeros(t.column, 16*most*len(w.First))
	for i, first := range w.First {
		// so that the last group does not reach beyond the last row
		early := max(0, int(first)+4*w.groupsOf(i)-rows)
		t.first[i] = first - int32(early)
		column := t.column[16*most*i:]
		for j, k := range w.K[i*w.Taps:][:w.Count[i]] {
			split(column[(j+early)/4*16+(j+early)%4:], 4, k)
		}
	}
	return true
}

// vertical computes a whole row if it can, and reports whether it did.
func (t *digits) vertical(dst, src []byte, stride int, w *Weights, i int) bool {
	const block = 64 // bytes
	if !cpu.VNNI() || len(dst) < block || !t.packColumn(w) {
		return false
	}
	first, groups := int(t.first[i])*stride, w.groupsOf(i)
	src = src[:cap(src)]
	_ = src[first+(4*groups-1)*stride+len(dst)-1]
	k := &t.column[len(t.column)/len(t.first)*i]
	columns := func(at, n int) {
		if groups == 1 {
			verticalDigits1(&dst[at], &src[first+at], stride, n, k, 1)
		} else {
			verticalDigits(&dst[at], &src[first+at], stride, n, k, groups)
		}
	}
	columns(0, len(dst)/block)
	if len(dst)%block > 0 {
		columns(len(dst)-block, 1)
	}
	return true
}
