package prefetch

import (
	"context"

	"github.com/penstock-go/penstock/dataset/objects"
)

// Exchange is ReadAt without a copy: it returns n bytes of o from byte off on in the memory
// into which they were fetched, if no other read of them is expected. The memory of dst, which
// may be nil, is used for a later block. The checksum is known if the block was foreseen by a
// dataset that compares it (see [objects.Blocks]).
func (p *Prefetcher) Exchange(ctx context.Context, o objects.Object, dst []byte, off, n int64) ([]byte, objects.Sum, error) {
	b := p.take(objects.Block{Object: o, Off: off, Len: n})
	if b == nil {
		dst = sized(dst, n)
		return dst, objects.Sum{}, p.store.ReadAt(ctx, o, dst, off)
	}
	given := false
	defer func() {
		if !given {
			p.giveBack(b)
		}
	}()
	if err := p.await(ctx, b); err != nil {
		return nil, objects.Sum{}, err
	}
	if b.err != nil {
		p.count.direct.Add(1)
		dst = sized(dst, n)
		return dst, objects.Sum{}, p.store.ReadAt(ctx, o, dst, off)
	}
	var data []byte
	if data, given = p.giveAway(b, dst); given {
		return data, b.sum, nil
	}
	dst = sized(dst, n)
	copy(dst, b.data)
	return dst, b.sum, nil
}

// sized is memory of n bytes: that of p if it has room.
func sized(p []byte, n int64) []byte {
	if int64(cap(p)) >= n {
		return p[:n]
	}
	return make([]byte, n, rounded(n))
}

// giveAway ends the last expected read of a block, and returns its memory in exchange for
// that of dst. It reports false if the block is still needed.
func (p *Prefetcher) giveAway(b *block, dst []byte) (data []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.readers > 1 || len(b.claims) > 1 || len(b.claims) == 1 && b.claims[0].reads > 1 {
		return nil, false
	}
	data, b.data = b.data, nil
	b.readers--
	b.read = true
	p.consume(b)
	if size := int64(cap(dst)); size > 0 && rounded(size) == cap(dst) {
		p.keep(dst)
	}
	return data, true
}
