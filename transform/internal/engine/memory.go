package engine

import (
	"context"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A memory is the bytes that all singles of a pool may have at a time. Half of them are shares: a single keeps its share
// from call to call. What a call needs beyond its share it takes from the other half, and gives back when it ends.
//
// No call waits for memory while it has some, or a single: one that cannot have more gives back all, waits for the whole,
// and begins anew. So no two calls wait for each other, and no small image waits for a large one's memory.
type memory struct {
	limit, share int64

	mu      sync.Mutex
	free    int64     // of the half that is not shares
	waiting []*waiter // the first one is served first
}

// A waiter is a call that waits for n bytes.
type waiter struct {
	n     int64
	ready chan struct{} // closed when it has them
}

// newMemory is the memory of n singles.
func newMemory(limit int64, n int) *memory {
	return &memory{limit: limit, share: limit / 2 / int64(n), free: limit / 2}
}

// try takes n bytes if they are free, and nobody waits.
func (m *memory) try(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.free || len(m.waiting) > 0 {
		return false
	}
	m.free -= n
	return true
}

// wait takes n bytes, at most half of the limit, as soon as they are free and those before it have theirs.
func (m *memory) wait(ctx context.Context, n int64) error {
	w := &waiter{n, make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, w)
	m.serve()
	m.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.Index(m.waiting, w); at >= 0 {
		m.waiting = slices.Delete(m.waiting, at, at+1)
	} else {
		m.free += n
	}
	m.serve()
	return ctx.Err()
}

// give gives n bytes back.
func (m *memory) give(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += n
	m.serve()
}

// serve gives those who wait what is free. The mutex is held.
func (m *memory) serve() {
	for len(m.waiting) > 0 && m.waiting[0].n <= m.free {
		m.free -= m.waiting[0].n
		close(m.waiting[0].ready)
		m.waiting = slices.Delete(m.waiting, 0, 1)
	}
}

// A need is how many bytes an image takes, by purpose.
type need struct {
	decoder int64 // what its decoder has beside the window
	window  int64 // the pixels that are decoded
	passes  int64 // between the two passes of a resize
	weights int64 // of resizes, beyond a few
	frames  int64 // the images between the steps
}

func (n need) all() int64 { return n.decoder + n.window + n.passes + n.weights + n.frames }

// over is the need of both, one after the other in the same memory.
func (n need) over(o need) need {
	return need{max(n.decoder, o.decoder), max(n.window, o.window), max(n.passes, o.passes), max(n.weights, o.weights), max(n.frames, o.frames)}
}

// A holding is what one single has of a memory. It belongs to the goroutine of the single.
type holding struct {
	*memory
	has   need  // of all images since the single was made: so large is its memory at most
	taken int64 // beyond the share
}

// A shortage is the error of a call that must give back what it has, and wait until so many bytes are free for it.
type shortage struct{ bytes int64 }

func (s *shortage) Error() string { return fmt.Sprintf("%d bytes are not free", s.bytes) }

// claim takes what an image needs, before it is allocated. A nil holding has no limit. After a shortage the single is not
// kept: its decoders count the image that it could not have.
func (h *holding) claim(n need) error {
	if h == nil {
		return nil
	}
	h.has = h.has.over(n)
	if more := h.has.all() - h.share - h.taken; more > 0 {
		if h.has.all() > h.limit/2 || !h.try(more) {
			return &shortage{h.has.all()}
		}
		h.taken += more
	}
	return nil
}

// end gives back what is beyond the share. It reports whether the single may be kept: otherwise its memory is larger.
func (h *holding) end() (keep bool) {
	if h == nil {
		return true
	}
	if h.taken > 0 {
		h.give(h.taken)
		h.taken = 0
	}
	return h.has.all() <= h.share
}

// grown is what memory for n bytes takes: see raster.Grow.
func grown(n int64) int64 { return n + n/4 + 64 }

// area is the number of pixels of a rectangle.
func area(r image.Rectangle) int64 { return int64(r.Dx()) * int64(r.Dy()) }

// pixels is the need of a window of the current image, which is only that of weights if the image is in the frame.
func (e *Engine) pixels(r image.Rectangle) need {
	n := e.weights()
	if e.held == nil || e.inside {
		return n
	}
	n.window = grown(4 * int64(e.Frame.cost()) * area(r))
	if d, ok := e.src.(source.Costly); ok {
		n.decoder = d.Memory(r)
	}
	return n
}

// fewWeights is how many bytes of weights a claim leaves out.
const fewWeights = 2 << 20

// needs is the window of the current image that the view's resampling reads. The weights, which it computes, grow with the
// sides, not with the pixels: those of an image of one row may be larger than the image.
func (e *Engine) needs() (window image.Rectangle, err error) {
	v := &e.View
	if v.Part.Empty() {
		return window, e.claim(need{})
	}
	ax, ay := v.axes()
	for _, a := range [...]resize.Axis{ax, ay} {
		if n := a.Memory(); n > max(4*int64(e.limit), 16*fewWeights) {
			return window, fmt.Errorf("transform: the weights of a resize of %d to %d pixels would take %d bytes, more than the largest image (see MaxPixels)", a.In, a.Out, n)
		}
	}
	if ax.Memory()+ay.Memory() > fewWeights {
		if err := e.claim(e.weights()); err != nil {
			return window, err
		}
	}
	return e.Frame.needs(v), nil
}

// weights is the need of the weights of the view's resampling, with those that are kept.
func (e *Engine) weights() (n need) {
	if e.held != nil {
		n.weights = max(0, e.Frame.weights(e.View.axes())-fewWeights)
	}
	return n
}

// Make checks that an image of w×h pixels may become the current one. The next claim, such as that of Render, takes the
// memory for it and for the spare one.
func (e *Engine) Make(w, h int) error { return e.makeOf(w, h, e.Frame.cost()) }

func (e *Engine) makeOf(w, h, cost int) error {
	if err := checkValues(w, h, cost, e.limit); err != nil {
		return err
	}
	e.makes = max(e.makes, 2*grown(4*int64(cost)*int64(w)*int64(h)))
	return nil
}

// claim takes memory before it is allocated, with that for the images between the steps: at once, because a call that
// claims twice may wait twice.
func (e *Engine) claim(n need) error {
	n.frames = e.makes
	return e.held.claim(n)
}
