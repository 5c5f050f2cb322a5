package sampler

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/prng"
)

// Torch takes every sample from 0 to n-1 once per epoch, in PyTorch's order, so
// that an experiment can move to Go and keep its order. Epoch e has the order of
// torch.randperm(n, generator=g) after g.manual_seed(seed+e). Like PyTorch's
// generator it uses only the low 32 bits of seed+e.
//
// [Shard] over Torch gives the orders of DistributedSampler(dataset, seed=seed)
// with set_epoch(e). [Repeat] over Torch gives those of RandomSampler(dataset,
// num_samples=draws, generator=g) after g.manual_seed(seed+e).
//
// An order takes 8·n bytes, and making it takes time that grows with n. The
// sampler keeps the orders of the last two epochs. [Shuffle] needs neither this
// memory nor this time. A negative n panics.
func Torch(n int, seed uint64) Sampler {
	return newTorch("Torch", n, torchEpochs{seed})
}

// TorchManualSeed takes every sample from 0 to n-1 once per epoch, in the orders
// of PyTorch's DataLoader(dataset, shuffle=True) after torch.manual_seed(seed).
// In every epoch the DataLoader draws two seeds from PyTorch's global generator:
// the base seed of its workers, then the seed of its sampler. If the program
// draws other numbers from that generator, its orders differ from these.
//
// [Repeat] over TorchManualSeed gives the orders of DataLoader(dataset,
// sampler=RandomSampler(dataset, num_samples=draws)).
//
// Memory, time and panics are those of [Torch], also of a late epoch.
func TorchManualSeed(n int, seed uint64, options ...TorchOption) Sampler {
	return newTorch("TorchManualSeed", n, torchSeeds{seed, newTorchConfig(options)})
}

// TorchGenerator takes every sample from 0 to n-1 once per epoch, in the orders
// of PyTorch's DataLoader(dataset, shuffle=True, generator=g) after
// g.manual_seed(seed). All epochs draw from this one generator, so a PyTorch
// program has the same orders only if it reads every epoch to its end.
//
// [Repeat] over TorchGenerator gives the orders of DataLoader(dataset,
// generator=g, sampler=RandomSampler(dataset, num_samples=draws, generator=g)).
//
// Memory, time and panics are those of [Torch]: earlier epochs are not drawn.
func TorchGenerator(n int, seed uint64, options ...TorchOption) Sampler {
	return newTorch("TorchGenerator", n, &torchContinued{seed: seed, torchConfig: newTorchConfig(options)})
}

// torch draws permutations from a generator for every epoch.
type torch struct {
	n, draws int
	from     torchSource
	orders   recent[written]
}

func newTorch(name string, n int, from torchSource) *torch {
	mustCount(name, "n", n)
	return &torch{n: n, draws: n, from: from}
}

// samples and repeat make a torch a repeater, because RandomSampler draws all
// permutations of an epoch from one generator.
func (t *torch) samples() int { return t.n }

func (t *torch) repeat(draws int) Sampler { return &torch{n: t.n, draws: draws, from: t.from.fresh()} }

func (t *torch) Epoch(epoch int) Order { return t.orders.of(epoch, t.order) }

func (t *torch) order(epoch int) written {
	if t.n == 0 {
		return nil
	}
	// RandomSampler makes one permutation more than it needs if draws is a
	// multiple of n.
	passes := t.draws / t.n
	g := t.from.generator(epoch, t.n, passes+1)
	if t.draws == t.n {
		return g.Perm(t.n)
	}
	order := make(written, 0, t.draws)
	for range passes {
		order = append(order, g.Perm(t.n)...)
	}
	if rest := t.draws - len(order); rest > 0 {
		order = append(order, g.Perm(t.n)[:rest]...)
	}
	return order
}

// A TorchOption is an option of [TorchManualSeed] and [TorchGenerator].
type TorchOption struct{ set func(*torchConfig) }

type torchConfig struct{ persistent bool }

// PersistentWorkers sets whether the PyTorch DataLoader has
// persistent_workers=True. It then draws a base seed in its first epoch only. The
// default is false.
func PersistentWorkers(on bool) TorchOption {
	return TorchOption{func(c *torchConfig) { c.persistent = on }}
}

func newTorchConfig(options []TorchOption) torchConfig {
	var c torchConfig
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	return c
}

// baseSeeds is how many base seeds a DataLoader has drawn after that many epochs.
func (c torchConfig) baseSeeds(epochs uint64) uint64 {
	if c.persistent {
		return min(epochs, 1)
	}
	return epochs
}

// A torchSource gives every epoch the generator of its permutations.
type torchSource interface {
	// generator returns a generator in its state before the first permutation of
	// an epoch. Every epoch takes the given number of permutations of n numbers.
	generator(epoch, n, permutations int) *prng.Generator

	// fresh is the same source for another number of permutations.
	fresh() torchSource
}

// torchEpochs seeds a generator with seed+epoch.
type torchEpochs struct{ seed uint64 }

func (s torchEpochs) fresh() torchSource { return s }

func (s torchEpochs) generator(epoch, _, _ int) *prng.Generator {
	return prng.New(s.seed + uint64(epoch))
}

// torchSeeds draws the seed of every epoch from a global generator, which
// otherwise gives only base seeds.
type torchSeeds struct {
	seed uint64
	torchConfig
}

func (s torchSeeds) fresh() torchSource { return s }

func (s torchSeeds) generator(epoch, _, _ int) *prng.Generator {
	global, before := prng.New(s.seed), uint64(epoch)
	global.SkipSeeds(before + s.baseSeeds(before+1))
	return prng.New(global.Seed())
}

// torchContinued uses one generator for all epochs.
type torchContinued struct {
	seed uint64
	torchConfig
	last atomic.Pointer[begun] // the epoch that was asked for last; the next one is near
}

// begun is the generator before the first number of an epoch.
type begun struct {
	epoch     uint64
	generator prng.Generator
}

func (s *torchContinued) fresh() torchSource {
	return &torchContinued{seed: s.seed, torchConfig: s.torchConfig}
}

func (s *torchContinued) generator(epoch, n, permutations int) *prng.Generator {
	to, from := uint64(epoch), s.last.Load()
	if from == nil || from.epoch > to {
		from = &begun{0, *prng.New(s.seed)}
	}
	g := from.generator
	g.SkipPerms(to-from.epoch, permutations, n)
	g.SkipSeeds(s.baseSeeds(to) - s.baseSeeds(from.epoch))
	s.last.Store(&begun{to, g})
	g.SkipSeeds(s.baseSeeds(to+1) - s.baseSeeds(to))
	return &g
}
