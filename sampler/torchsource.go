package sampler

import (
	"sync"

	"github.com/penstock-go/penstock/internal/torchrand"
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

// drawBaseSeed takes a DataLoader's base seed from g at the beginning of an epoch.
func (c torchConfig) drawBaseSeed(g *torchrand.Generator, epoch int) {
	if !c.persistent || epoch == 0 {
		g.Seed()
	}
}

// A torchSource gives every epoch the generator of its permutations.
type torchSource interface {
	// generator returns a generator in its state before the first permutation of
	// an epoch. Every epoch takes the given number of permutations of n numbers.
	generator(epoch, n, permutations int) *torchrand.Generator

	// fresh is the same source for another number of permutations.
	fresh() torchSource
}

// torchEpochs seeds a generator with seed+epoch.
type torchEpochs struct{ seed uint64 }

func (s torchEpochs) fresh() torchSource { return s }

func (s torchEpochs) generator(epoch, _, _ int) *torchrand.Generator {
	return torchrand.New(s.seed + uint64(epoch))
}

// torchSeeds draws the seed of every epoch from a global generator, which
// otherwise gives only base seeds.
type torchSeeds struct {
	seed uint64
	torchConfig
}

func (s torchSeeds) fresh() torchSource { return s }

func (s torchSeeds) generator(epoch, _, _ int) *torchrand.Generator {
	global := torchrand.New(s.seed)
	for e := range epoch {
		s.drawBaseSeed(global, e)
		global.Seed()
	}
	s.drawBaseSeed(global, epoch)
	return torchrand.New(global.Seed())
}

// torchContinued uses one generator for all epochs.
type torchContinued struct {
	seed uint64
	torchConfig

	mu    sync.Mutex
	epoch int                  // the epoch that next is for
	next  *torchrand.Generator // in its state before that epoch; nil at first
}

func (s *torchContinued) fresh() torchSource {
	return &torchContinued{seed: s.seed, torchConfig: s.torchConfig}
}

func (s *torchContinued) generator(epoch, n, permutations int) *torchrand.Generator {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil || s.epoch > epoch {
		s.epoch, s.next = 0, torchrand.New(s.seed)
	}
	for {
		s.drawBaseSeed(s.next, s.epoch)
		requested := *s.next
		for range permutations {
			s.next.SkipPerm(n)
		}
		s.epoch++
		if s.epoch > epoch {
			return &requested
		}
	}
}
