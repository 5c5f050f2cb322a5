package sampler

import "github.com/penstock-go/penstock/internal/torchrand"

// Torch takes every sample from 0 to n-1 once per epoch, in PyTorch's order, so
// that an experiment can move without changing it. Epoch e is what
// torch.randperm(n, generator=g) gives after g.manual_seed(seed+e), as with
// DistributedSampler; [Shard] completes that one. Like PyTorch's generator it
// uses the low 32 bits of seed+e only.
//
// An order takes 8·n bytes and time that grows with n; the sampler keeps those
// of the last two epochs. [Shuffle] needs neither. A negative n panics.
func Torch(n int, seed uint64) Sampler {
	mustCount("Torch", n)
	return &torch{n: n, seed: seed}
}

type torch struct {
	n      int
	seed   uint64
	orders recent[written]
}

func (t *torch) Epoch(epoch int) Order {
	return t.orders.of(epoch, func(epoch int) written {
		return torchrand.Perm(t.n, t.seed+uint64(epoch))
	})
}
