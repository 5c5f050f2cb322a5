package main

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
)

// A candidate is a recipe with the deviations that lead to it.
type candidate struct {
	recipe     recipe
	deviations []deviation
	rms        float64
	leftover   leftover
}

// An answer is what the search found.
type answer struct {
	best   candidate
	others []candidate // as exact as best, with as many deviations: this image cannot tell them apart
}

// A search collects what comes near.
type search struct {
	*comparison
	variants []candidate       // of the values alone
	best     map[int]candidate // by the number of deviations
	exact    []candidate
	fits     []candidate // with any scale and mean
	seen     map[geometry]bool
	shown    map[[32]byte]int // by a picture's key: how many deviations make it
}

// A trial is a geometry that is looked at.
type trial struct {
	geometry   geometry
	deviations []deviation
	ok         bool // it makes as many values as theirs has
	key        [32]byte
	sums       [3]sums // by layout
	nearest    float64 // of all variants
}

// explain searches for the deviations that lead to theirs: all single ones, then pairs and further combinations of those
// geometries that come nearest. Values are cheap, so for each geometry up to two deviations of them are tried as well.
// It finds nothing if no deviation makes as many values as theirs has.
func (c *comparison) explain() (answer, bool) {
	const depth, beam = 3, 10
	s := search{
		comparison: c, variants: c.variants(), best: map[int]candidate{},
		seen: map[geometry]bool{c.base.geometry: true}, shown: map[[32]byte]int{},
	}
	level, before := []trial{{geometry: c.base.geometry}}, math.Inf(1)
	for d := 0; d <= depth && len(level) > 0 && len(s.exact) == 0; d++ {
		inParallel(len(level), func(k int) { c.measure(&level[k]) })
		for k := range level {
			t := &level[k]
			t.nearest = math.Inf(1)
			if fewer, ok := s.shown[t.key]; !t.ok || ok && fewer < d {
				continue // fewer deviations make the same picture
			}
			s.shown[t.key] = d
			s.try(t)
		}
		slices.SortStableFunc(level, func(a, b trial) int { return cmp.Compare(a.nearest, b.nearest) })
		if d >= 2 && level[0].nearest > 0.9*before {
			break // pairs are no better than single ones: three at once would take long and find nothing
		}
		before = min(before, level[0].nearest)
		level = s.deeper(level[:min(len(level), beam)])
	}
	return s.choose()
}

// measure builds a geometry's picture and keeps what the search needs of it.
func (c *comparison) measure(t *trial) {
	p, ok := c.build(t.geometry)
	if t.ok = ok && len(p.pix) == len(c.theirs.values); !t.ok {
		return
	}
	t.key = p.key()
	for l := range t.sums {
		t.sums[l] = p.sums(layout(l), c.theirs.values)
	}
}

// deeper adds one deviation more to every geometry.
func (s *search) deeper(level []trial) (next []trial) {
	for _, t := range level {
		for _, d := range s.deviations {
			if d.pixels == nil || slices.ContainsFunc(t.deviations, func(e deviation) bool { return e.axis == d.axis }) {
				continue
			}
			g := t.geometry
			if d.pixels(&g); !s.seen[g] {
				s.seen[g] = true
				next = append(next, trial{geometry: g, deviations: append(slices.Clone(t.deviations), d)})
			}
		}
	}
	return next
}

// variants are values with up to two deviations, without those that make the same tensors as earlier ones.
func (c *comparison) variants() []candidate {
	all := []candidate{{recipe: c.base}}
	known := map[values]bool{c.base.values.canonical(): true}
	add := func(list ...deviation) {
		next := candidate{recipe: c.base, deviations: list}
		for _, d := range list {
			d.values(&next.recipe.values)
		}
		if key := next.recipe.values.canonical(); !known[key] {
			known[key] = true
			all = append(all, next)
		}
	}
	var list []deviation
	for _, d := range c.deviations {
		if d.values != nil {
			list = append(list, d)
			add(d)
		}
	}
	for k, one := range list {
		for _, two := range list[k+1:] {
			if one.axis != two.axis {
				add(one, two)
			}
		}
	}
	return all
}

// canonical is the same for values that make the same tensors.
func (v values) canonical() values {
	k := values{layout: v.layout}
	for c := range 3 {
		p, a, b := v.channel(c)
		k.mean[c], k.std[c] = math.Round(b*1e9), math.Round(a*1e12)
		k.swapped = k.swapped || p != c
	}
	return k
}

// try compares a geometry's picture with theirs for all values.
func (s *search) try(t *trial) {
	for _, v := range s.variants {
		values := v.recipe.values
		next := candidate{recipe: recipe{t.geometry, values}, deviations: slices.Concat(t.deviations, v.deviations)}
		next.rms = t.sums[values.layout].rms(&values)
		t.nearest = min(t.nearest, next.rms)
		if old, ok := s.best[len(next.deviations)]; !ok || next.rms < old.rms {
			s.best[len(next.deviations)] = next
		}
		if next.rms < s.theirs.tolerance(s.theirs.most, &values) {
			if next.leftover = s.leaves(next.recipe); next.leftover.exact {
				s.exact = append(s.exact, next)
			}
		}
	}
	for l := range t.sums {
		for _, swapped := range []bool{false, true} {
			from := s.base.values
			from.layout, from.swapped = layout(l), from.swapped != swapped
			if v, ok := t.sums[l].fit(from); ok {
				next := candidate{recipe: recipe{t.geometry, v}, deviations: slices.Concat(t.deviations, s.named(from))}
				next.deviations = append(next.deviations, deviation{axis: averages, says: fmt.Sprintf(
					"scale, mean and std are others: (pixel × %.6g − %.4g) / %.4g", v.scale, v.mean, v.std)})
				next.rms = t.sums[l].rms(&v)
				s.fits = append(s.fits, next)
			}
		}
	}
}

// named are the deviations that lead to a layout and an order of channels.
func (s *search) named(v values) (list []deviation) {
	for _, d := range s.deviations {
		from := s.base.values
		switch d.axis {
		case ordering:
			if d.values(&from); v.layout != s.base.values.layout && from.layout == v.layout {
				list = append(list, d)
			}
		case swapping:
			if v.swapped != from.swapped {
				list = append(list, d)
			}
		}
	}
	return list
}

// leaves compares a recipe's tensor with theirs.
func (c *comparison) leaves(r recipe) leftover {
	p, ok := c.build(r.geometry)
	if !ok {
		return leftover{most: math.Inf(1)}
	}
	return p.leftover(r.values, c.theirs)
}

// choose takes the exact candidate with the fewest deviations. If there is none, more deviations than the best ones
// have must halve what is left. A scale and a mean of their own must leave a quarter.
func (s *search) choose() (a answer, ok bool) {
	fewest := func(a, b candidate) int { return cmp.Compare(len(a.deviations), len(b.deviations)) }
	if slices.SortStableFunc(s.exact, fewest); len(s.exact) > 0 {
		a.best = s.exact[0]
		for _, e := range s.exact[1:] {
			if len(e.deviations) == len(a.best.deviations) {
				a.others = append(a.others, e)
			}
		}
		return a, true
	}
	for n := range 6 {
		if next, there := s.best[n]; there && (!ok || next.rms < 0.5*a.best.rms) {
			a.best, ok = next, true
		}
	}
	if len(s.fits) > 0 {
		nearest := slices.MinFunc(s.fits, func(a, b candidate) int { return cmp.Compare(a.rms, b.rms) })
		for _, f := range s.fits { // nearly as near, with fewer deviations
			if f.rms < 1.05*nearest.rms && fewest(f, nearest) < 0 {
				nearest = f
			}
		}
		if !ok || nearest.rms < 0.25*a.best.rms {
			a.best, ok = nearest, true
		}
	}
	if ok {
		a.best.leftover = s.leaves(a.best.recipe)
	}
	return a, ok
}

// inParallel calls f with the numbers below n, as many at a time as there are processors.
func inParallel(n int, f func(k int)) {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range n {
		free <- struct{}{}
		group.Go(func() {
			f(k)
			<-free
		})
	}
}
