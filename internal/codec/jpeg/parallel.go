package jpeg

import (
	"fmt"
	"image"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// One goroutine, the caller's, reads the entropy code, because a code can be found only
// after the one before it. It fills bands of MCU rows with coefficients. The others
// compute the pixels of the bands. When all bands are full, the caller's does so too.
// The scans of a buffered image are read first. Then all of them only compute pixels.

// bandRows is how many MCU rows a band has. With fewer, goroutines wake each other too
// often; with more, they begin too late and end too early in a small image.
const bandRows = 8

// A band is some MCU rows in succession, from row from to row to-1.
type band struct {
	from, to int
	rows     [1 + bandRows]mcuRow // the first is the row above; nothing if the image is buffered
}

// An mcuRow holds the coefficients of an MCU row within the view, by component.
type mcuRow struct {
	blocks [4][]block
	last   [4][]uint8
}

// parallelPixels is how many pixels the image must have, from its beginning to the end
// of the view, for a second goroutine to pay. On two virtual processors it usually saves
// a third of the time from two million on, and 15 % with half a million. In some runs,
// both processors are slower when they work together, as if they shared a core. Then it
// saves a little from two million on, and loses 15 % with half a million.
const parallelPixels = 2_000_000

// Shares reports whether DecodeBands can use more than one goroutine for the window,
// which must be within the image.
func (d *Decoder) Shares(window image.Rectangle) bool {
	return d.ready && d.mostPainters(d.viewOf(window)) > 1
}

// mostPainters is how many goroutines the view has work for. Rows are read by one.
func (d *Decoder) mostPainters(v view) int {
	if d.rows != nil || d.eager == 0 && d.mcuWide*v.y1*64*d.hMax*d.vMax < parallelPixels {
		return 1
	}
	return ceil(v.y1-v.y0, d.perBand())
}

func (d *Decoder) perBand() int {
	if d.eager > 0 {
		return d.eager
	}
	return bandRows
}

// A crew is the goroutines that decode an image together.
type crew struct {
	members []*member // the first is for the caller's goroutine
	bands   []*band   // one more than members
	free    chan *band
	filled  chan *band // and a nil for each of the others, which ends it
	joined  sync.WaitGroup
	failure atomic.Pointer[failure]
	use     func(pix []byte, stride, from, to int)
}

// A member is one goroutine's part of the crew.
type member struct {
	painter
	crew *crew
	run  func() // the method work, so that starting it allocates nothing
}

// A failure is the first panic of a goroutine.
type failure struct {
	value any
	stack []byte
}

// decodeBands is decodeWindow with n goroutines, at least two.
func (d *Decoder) decodeBands(n int, use func(pix []byte, stride, from, to int)) error {
	c := d.gather(n)
	c.use = use
	defer c.disperse(n)
	for _, m := range c.members[:n] {
		m.open(d)
		m.openBand(d.perBand())
	}
	for _, m := range c.members[1:n] {
		c.joined.Add(1)
		go m.run()
	}
	v := d.view
	if d.coded() {
		for range v.y0 {
			if err := d.decodeRow(v.x0, v.x0); err != nil {
				return err
			}
		}
	}
	var above *band
	for from := v.y0; from < v.y1; from += d.perBand() {
		b := c.take()
		b.from, b.to = from, min(from+d.perBand(), v.y1)
		if !d.buffered {
			if err := d.fill(b, above); err != nil {
				return err
			}
		}
		above = b
		c.filled <- b
	}
	c.paintRest()
	return nil
}

// gather returns the crew with room for n goroutines, and all of its bands free.
func (d *Decoder) gather(n int) *crew {
	c := d.crew
	if c == nil || len(c.members) < n {
		c = &crew{free: make(chan *band, n+1), filled: make(chan *band, 2*n)}
		for range n + 1 {
			c.bands = append(c.bands, new(band))
		}
		for range n {
			m := &member{crew: c}
			m.run = m.work
			c.members = append(c.members, m)
		}
		d.crew = c
	}
	for len(c.free) > 0 {
		<-c.free
	}
	for _, b := range c.bands {
		c.free <- b
	}
	return c
}

// fill decodes the band's coefficients. Above is the band above, or nil if this is the
// first. It may be the same memory.
func (d *Decoder) fill(b, above *band) error {
	if above != nil && d.lag > 0 {
		b.rows[0].copyLast(&above.rows[d.perBand()], d)
	}
	for my := b.from; my < b.to; my++ {
		r := &b.rows[1+my-b.from]
		for i := range d.components {
			c := &d.components[i]
			c.row, c.last = r.blocks[i], r.last[i]
		}
		err := d.decodeRow(d.view.x0, d.view.x1)
		for i := range d.components {
			c := &d.components[i]
			r.blocks[i], r.last[i] = c.row, c.last
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyLast copies the last row of blocks of every component.
func (r *mcuRow) copyLast(from *mcuRow, d *Decoder) {
	for i := range d.components {
		n := len(from.blocks[i])
		last := n - n/d.components[i].v
		r.blocks[i], r.last[i] = grow(r.blocks[i], n), grow(r.last[i], n)
		copy(r.blocks[i][last:], from.blocks[i][last:])
		copy(r.last[i][last:], from.last[i][last:])
	}
}

// take returns a free band. While there is none, it paints those that are full.
func (c *crew) take() *band {
	for {
		select {
		case b := <-c.free:
			return b
		default:
		}
		select {
		case b := <-c.free:
			return b
		case b := <-c.filled:
			c.members[0].paint(b)
			c.free <- b
		}
	}
}

// paintRest paints bands until none is full.
func (c *crew) paintRest() {
	for {
		select {
		case b := <-c.filled:
			c.members[0].paint(b)
		default:
			return
		}
	}
}

// disperse ends the n goroutines, except the caller's. Bands that are still full are
// not painted, because there was an error. If a goroutine has panicked, it panics.
func (c *crew) disperse(n int) {
	for drained := false; !drained; {
		select {
		case <-c.filled:
		default:
			drained = true
		}
	}
	for range n - 1 {
		c.filled <- nil
	}
	c.joined.Wait()
	c.use = nil
	if f := c.failure.Swap(nil); f != nil {
		panic(fmt.Sprintf("%v\n\n%s", f.value, f.stack))
	}
}

// work paints bands until there is a nil.
func (m *member) work() {
	defer m.crew.joined.Done()
	for b := range m.crew.filled {
		if b == nil {
			return
		}
		m.contain(b)
	}
}

// contain is paint, but keeps a panic for the caller's goroutine. It frees the band.
func (m *member) contain(b *band) {
	defer func() {
		m.crew.free <- b
		if v := recover(); v != nil {
			m.crew.failure.CompareAndSwap(nil, &failure{v, debug.Stack()})
		}
	}()
	m.paint(b)
}

// paint computes the band's pixels and passes them on.
func (m *member) paint(b *band) {
	d := m.d
	if b.from > d.view.y0 && d.lag > 0 {
		m.inverse(b, b.from-1, true)
	}
	m.beginBand(b.from)
	for my := b.from; my < b.to; my++ {
		m.inverse(b, my, false)
		m.writeRows(my)
	}
	m.endBand(b.to-1, m.crew.use)
}

// inverse fills the strips with the samples of MCU row my of the band, or only with
// those of its last blocks.
func (m *member) inverse(b *band, my int, last bool) {
	r := &b.rows[1+my-b.from]
	for i := range m.d.components {
		y := 0
		if last {
			y = m.d.components[i].v - 1
		}
		m.inverseRow(i, my, y, r.blocks[i], r.last[i])
	}
}
