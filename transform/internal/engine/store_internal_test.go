package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestBytesAreStoredAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for w := range 70 {
		row := make([]byte, 4*w)
		for i := range row {
			row[i] = byte(r.Uint32())
		}
		for _, o := range []Output{
			{Axes: HWC, Channels: 3, from: [3]int{0, 1, 2}}, {Axes: HWC, Channels: 3, from: [3]int{2, 1, 0}}, {Axes: HWC, Channels: 1},
			{Axes: CHW, Channels: 3, from: [3]int{0, 1, 2}}, {Axes: CHW, Channels: 3, from: [3]int{2, 1, 0}}, {Axes: CHW, Channels: 1},
		} {
			const h, y = 3, 1
			o.W, o.H = w, h
			got, want := bytes.Repeat([]byte{77}, w*h*o.Channels), bytes.Repeat([]byte{77}, w*h*o.Channels)
			o.storeBytes(got, row, y)
			for x := range w {
				for c := range o.Channels {
					want[o.index(c, y, x)] = row[4*x+o.from[c]]
				}
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d pixels, %v of the colours %v: got %v, want %v", w, o.Axes, o.from[:o.Channels], got, want)
			}
		}
	}
}
