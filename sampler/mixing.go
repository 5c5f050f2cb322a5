package sampler

import (
	"fmt"
	"math"
)

// DesignEffect says how well the order mixes the samples. It is the variance of a
// batch's mean, divided by the same variance under a shuffle of all samples. At 1
// the order is as good as the shuffle. At 2 a batch tells as much as a batch of
// half its size from the shuffle.
//
// The argument batch is the number of samples in a step, of all ranks together.
// The mean is that of a value which every sample has, such as its label. The
// argument icc is the value's intraclass correlation: see [GroupSampler.ICC].
//
// The design effect is 1 + (batch-1)·icc·(1/w - 1/g), where g is the number of
// groups, and w is [Together] times [Lanes], the number of groups that are mixed
// at a time. It assumes groups of similar size. Source: Kish, "Survey Sampling",
// 1965, with the correction for a finite number of groups.
func (g *GroupSampler) DesignEffect(batch int, icc float64) float64 {
	groups := g.groups()
	if groups == 0 || batch < 1 {
		return 1
	}
	mixed := math.Min(float64(g.together)*float64(g.lanes), groups)
	return 1 + float64(batch-1)*icc*(1/mixed-1/groups)
}

// TogetherFor is the smallest n for which Together(n), with the lanes of g, gives a
// [GroupSampler.DesignEffect] of at most effect, such as 1.05. If there is none, it
// is the number of groups in a lane.
func (g *GroupSampler) TogetherFor(batch int, icc, effect float64) int {
	groups := g.groups()
	most := max(1, math.Ceil(groups/float64(g.lanes)))
	excess := float64(batch-1) * icc
	if !(excess > 0) {
		return 1
	}
	mixed := excess / (math.Max(effect-1, 0) + excess/groups)
	together := math.Ceil(mixed/float64(g.lanes) - 1e-9)
	return int(math.Min(math.Max(together, 1), most))
}

// groups is the number of groups that have samples.
func (g *GroupSampler) groups() float64 {
	n := 0
	for i, start := range g.starts[1:] {
		if start > g.starts[i] {
			n++
		}
	}
	return float64(n)
}

// ICC is the intraclass correlation of values in the groups. It is 1 if values
// differ only between groups. If groups are random sets of samples, it is about 0
// and may be a little below. If all values are equal, it is 0.
//
// The argument values has one number per sample, such as its label, or 1 if the
// sample is in a certain class and 0 if not.
//
// It is an error if the numbers of values and samples differ, if there are fewer
// than two groups, or if no group has two samples. Source: the estimator of the
// analysis of variance in Donner, "A review of inference procedures for the
// intraclass correlation coefficient in the one-way random effects model", 1986.
func (g *GroupSampler) ICC(values []float64) (float64, error) {
	n := g.starts[len(g.starts)-1]
	if len(values) != n {
		return 0, fmt.Errorf("sampler: ICC: %d values for %d samples", len(values), n)
	}
	groups := g.groups()
	if groups < 2 || groups == float64(n) {
		return 0, fmt.Errorf("sampler: ICC: %d samples in %v groups: want two groups or more, and two samples or more in one of them", n, groups)
	}
	mean := meanOf(values)
	between, within, squares := 0.0, 0.0, 0.0
	for i, end := range g.starts[1:] {
		group := values[g.starts[i]:end]
		if len(group) == 0 {
			continue
		}
		own := meanOf(group)
		between += float64(len(group)) * (own - mean) * (own - mean)
		for _, v := range group {
			within += (v - own) * (v - own)
		}
		squares += float64(len(group)) * float64(len(group))
	}
	between /= groups - 1
	within /= float64(n) - groups
	size := (float64(n) - squares/float64(n)) / (groups - 1)
	total := between + (size-1)*within
	if total == 0 { // all values are equal
		return 0, nil
	}
	return (between - within) / total, nil
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
