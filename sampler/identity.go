package sampler

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// Identified is a [Sampler] or [BatchSampler] with an identity: a text that
// differs if the orders differ. A loader saves it with a position, and refuses to
// resume in another order. All samplers of this package have an identity, except
// those that wrap a sampler without one.
type Identified interface {
	// Identity names everything that the orders of all epochs depend on:
	// algorithm, numbers, seed, and a hash of long data, as in "Weighted(1000
	// weights 1ae1cf4a1be5ed34, draws 1000, seed 7)". Samplers whose global
	// orders differ have different identities, in all versions of the program.
	// Rank, world size and mode do not change it. It is empty if the sampler does
	// not know it, for example because it wraps a sampler that is not Identified.
	Identity() string
}

// identity is the identity of a Sampler or BatchSampler, or empty if it has none.
func identity(s any) string {
	if s, ok := s.(Identified); ok {
		return s.Identity()
	}
	return ""
}

// hash is the first 64 bits of SHA-256 over the numbers that item adds for every
// element of list, each a uint64 in little-endian order.
func hash[T any](list []T, item func(add func(uint64), x T)) string {
	sum := sha256.New()
	block := make([]byte, 0, 4096)
	add := func(n uint64) {
		block = binary.LittleEndian.AppendUint64(block, n)
		if len(block) == cap(block) {
			sum.Write(block)
			block = block[:0]
		}
	}
	for _, x := range list {
		item(add, x)
	}
	sum.Write(block)
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

func hashInts(list []int) string {
	return hash(list, func(add func(uint64), n int) { add(uint64(n)) })
}

func (s sequential) Identity() string { return fmt.Sprintf("Sequential(%d samples)", int(s)) }

func (s shuffled) Identity() string { return fmt.Sprintf("Shuffle(%d samples, seed %d)", s.n, s.seed) }

func (r random) Identity() string {
	return fmt.Sprintf("Random(%d samples, draws %d, seed %d)", r.n, r.draws, r.seed)
}

func (t *torch) Identity() string {
	name := "Torch"
	if t.global {
		name = "TorchManualSeed"
	}
	return fmt.Sprintf("%s(%d samples, seed %d)", name, t.n, t.seed)
}

func (w *weighted) Identity() string {
	table := hash(w.alias, func(add func(uint64), c category) { add(c.own); add(uint64(c.other)) })
	return fmt.Sprintf("Weighted(%d weights %s, draws %d, seed %d)", len(w.alias), table, w.draws, w.seed)
}

// Identity begins with WeightedDistinct. This text is a part of positions, which
// must stay the same.
func (w *withoutReplacement) Identity() string {
	weights := hash(w.weights, func(add func(uint64), weight float64) { add(math.Float64bits(weight)) })
	return fmt.Sprintf("WeightedDistinct(%d weights %s, draws %d, seed %d)", len(w.weights), weights, w.draws, w.seed)
}

func (g *grouped) Identity() string {
	lanes := ""
	if g.lanes > 1 {
		lanes = fmt.Sprintf(", lanes %d", g.lanes)
	}
	return fmt.Sprintf("Grouped(%d groups %s, together %d%s, seed %d)", len(g.starts)-1, hashInts(g.starts), g.together, lanes, g.seed)
}

// Identity is that of the global order.
func (s shard) Identity() string { return identity(s.of) }

// Identity is that of the order that is cut into batches, because it can continue
// in batches of another size.
func (f fixed) Identity() string { return identity(f.of) }

// Identity is that of the global sequence of batches.
func (s batchShard) Identity() string { return identity(s.of) }

func (l *byLength) Identity() string {
	drop := ""
	if l.dropLast {
		drop = ", the short one dropped"
	}
	return fmt.Sprintf("ByLength(%d samples by length %s, batches of %d%s, seed %d)", len(l.sorted), hashInts(l.sorted), l.size, drop, l.seed)
}

// Identity names a hash of the batches. See [Identified].
func (l List) Identity() string {
	return fmt.Sprintf("List(%d batches %s)", len(l), hash(l, func(add func(uint64), batch []int) {
		add(uint64(len(batch)))
		for _, n := range batch {
			add(uint64(n))
		}
	}))
}

// Global is the order of all ranks that is cut into batches. A loader hashes some
// places of it if there is no identity.
func (b *fixedBatches) Global() Order {
	if part, ok := b.whole.(Part); ok {
		return part.Global()
	}
	return b.whole
}

// Global gives the batches of all ranks.
func (b *sharedBatches) Global() Batches { return b.whole }

// Global gives the batches that are listed.
func (l listed) Global() Batches { return l.of }
