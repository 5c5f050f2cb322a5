package sampler

import (
	"fmt"
	"math"
)

// Repeat takes draws samples per epoch, from consecutive epochs of s. If an epoch
// of s has n samples, Repeat takes ⌊draws/n⌋ whole epochs of s, then the first
// draws mod n samples of one more. Epoch e begins with epoch e·⌈draws/n⌉ of s.
// Repeat over a [Shuffle] does what PyTorch's RandomSampler does with
// num_samples=draws.
//
// Repeat over [Torch], [TorchManualSeed] or [TorchGenerator] gives the exact
// orders of RandomSampler, which draws all permutations of an epoch from one
// generator.
//
// Put [Shard] around Repeat, not into it: orders of Repeat are no [Part].
//
// All epochs of s must be as long as its epoch 0. An order keeps ⌈draws/n⌉ orders
// of s. It is an error if s is empty and draws is not 0. A negative draws panics,
// and so does a nil s.
func Repeat(s Sampler, draws int) (Sampler, error) {
	mustSampler("Repeat", s)
	mustCount("Repeat", "draws", draws)
	own, ok := s.(repeater)
	var n int
	if ok {
		n = own.samples()
	} else {
		n = s.Epoch(0).Len()
	}
	if n == 0 && draws > 0 {
		return nil, fmt.Errorf("sampler: Repeat: %d draws from an empty order", draws)
	}
	if ok {
		return own.repeat(draws), nil
	}
	return repeated{s, n, draws}, nil
}

// A repeater has its own way to take another number of draws per epoch.
type repeater interface {
	samples() int // per epoch
	repeat(draws int) Sampler
}

type repeated struct {
	of       Sampler
	n, draws int
}

func (r repeated) Epoch(epoch int) Order {
	o := &repeatedOrder{n: r.n, draws: r.draws}
	if r.draws > 0 {
		count := (r.draws-1)/r.n + 1
		if epoch > math.MaxInt/count-1 {
			panic(fmt.Sprintf("sampler: Repeat: epoch %d of %d epochs each is too large", epoch, count))
		}
		o.orders = make([]Order, count)
		for i := range o.orders {
			o.orders[i] = r.of.Epoch(epoch*count + i)
		}
	}
	return o
}

type repeatedOrder struct {
	orders   []Order
	n, draws int
}

func (o *repeatedOrder) Len() int { return o.draws }

func (o *repeatedOrder) At(k int) int {
	mustPlace(k, o.draws)
	return o.orders[k/o.n].At(k % o.n)
}
