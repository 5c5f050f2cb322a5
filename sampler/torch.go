package sampler

import "github.com/penstock-go/penstock/internal/prng"

// Torch takes every sample from 0 to n-1 once per epoch, in PyTorch's order, so
// that an experiment can move to Go and keep its order. Epoch e has the order of
// torch.randperm(n, generator=g) after g.manual_seed(seed+e). Like PyTorch's
// generator it uses only the low 32 bits of seed+e.
//
// [Shard] over Torch gives the orders of DistributedSampler(dataset, seed=seed)
// with set_epoch(e).
//
// An order takes 8·n bytes, and making it takes time that grows with n. The
// sampler keeps the orders of the last two epochs. [Shuffle] needs neither this
// memory nor this time. A negative n panics.
func Torch(n int, seed uint64) Sampler {
	mustCount("Torch", "n", n)
	return &torch{n: n, seed: seed}
}

// TorchManualSeed takes every sample from 0 to n-1 once per epoch, in the orders
// of PyTorch's DataLoader(dataset, shuffle=True) after torch.manual_seed(seed).
// In every epoch the DataLoader draws two seeds from PyTorch's global generator:
// the base seed of its workers, then the seed of its sampler. If the program
// draws other numbers from that generator, its orders differ from these.
//
// Memory, time and panics are those of [Torch], also of a late epoch.
func TorchManualSeed(n int, seed uint64) Sampler {
	mustCount("TorchManualSeed", "n", n)
	return &torch{n: n, seed: seed, global: true}
}

// torch draws a permutation for every epoch.
type torch struct {
	n      int
	seed   uint64
	global bool // epochs have seeds from a global generator, otherwise seed+epoch
	orders recent[Order]
}

func (t *torch) Epoch(epoch int) Order { return t.orders.of(epoch, t.order) }

func (t *torch) order(epoch int) Order {
	g := prng.New(t.seed + uint64(epoch))
	if t.global {
		// Every epoch draws a base seed, then the seed of its sampler.
		all := prng.New(t.seed)
		all.SkipSeeds(2*uint64(epoch) + 1)
		g = prng.New(all.Seed())
	}
	return written(g.Perm(t.n))
}
