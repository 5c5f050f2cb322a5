package sampler

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
