package sampler

// Torch takes every sample from 0 to n-1 once per epoch, in PyTorch's order, so
// that an experiment can move without changing it. Epoch e is what
// torch.randperm(n, generator=g) gives after g.manual_seed(seed+e), as with
// DistributedSampler; [Shard] completes that one. Like PyTorch's generator it
// uses the low 32 bits of seed+e only. [Repeat] gives the order of
// RandomSampler(num_samples=draws, generator=g) after the same g.manual_seed.
//
// An order takes 8·n bytes and time that grows with n; the sampler keeps those
// of the last two epochs. [Shuffle] needs neither. A negative n panics.
func Torch(n int, seed uint64) Sampler {
	return newTorch("Torch", n, torchEpochs{seed})
}

// TorchManualSeed takes every sample once per epoch, in the orders of PyTorch's
// DataLoader(dataset, shuffle=True) after torch.manual_seed(seed), as long as
// nothing else draws from PyTorch's global generator: every epoch draws a base
// seed for its workers first, then the sampler's own. [Repeat] gives the orders of
// DataLoader(dataset, sampler=RandomSampler(dataset, num_samples=draws)).
//
// Memory, time and panics are those of [Torch].
func TorchManualSeed(n int, seed uint64, options ...TorchOption) Sampler {
	return newTorch("TorchManualSeed", n, torchSeeds{seed, newTorchConfig(options)})
}

// TorchGenerator takes every sample once per epoch, in the orders of PyTorch's
// DataLoader(dataset, shuffle=True, generator=g) after g.manual_seed(seed). All
// epochs go on with the one generator, through every epoch to its end. [Repeat]
// gives the orders of DataLoader(dataset, generator=g,
// sampler=RandomSampler(dataset, num_samples=draws, generator=g)).
//
// Memory and panics are those of [Torch]. An epoch that does not follow the last
// one asked for takes the time of finding its place: some nanoseconds for every
// sample of the epochs before it.
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
	mustCount(name, n)
	return &torch{n: n, draws: n, from: from}
}

// samples and repeat are what [Repeat] needs, because RandomSampler goes on with
// one generator.
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
