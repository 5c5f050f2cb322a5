package sampler

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/prng"
)

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
