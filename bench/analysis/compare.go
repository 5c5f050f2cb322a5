package analysis

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/bench/result"
)

// A Comparison is one configuration by several sides.
type Comparison struct {
	Subject // of the first side, without Side, Help, Prefetch and InFlight
	Model   string
	Setting
	Sides []Rate
}

// A Rate is what one side did.
type Rate struct {
	Variant    string              // see [Subject.Variant]
	PerSecond  Figure              // samples, as [Cell.Rate] has them
	FirstBatch Figure              // seconds, of no rounds where it was not measured
	Ratio      Figure              // the first variant's samples per second over this one's, round by round
	Verdict    Verdict             // whether PerSecond differs from that of the first variant
	times      map[round][]float64 // of a sample, in seconds
	first      map[round][]float64 // batch's wait, in seconds
}

// Compare puts beside each other what sides did with the same configuration. Base
// is the side that the others are compared with, "penstock"; its first variant,
// Help on before off, comes first. A configuration that one side alone has is
// there too.
func Compare(records []result.Record, base string) []Comparison {
	var list []Comparison
	index := map[place]int{}
	counted := newRounds(records)
	for _, r := range records {
		at, ok := counted.next(r)
		if !ok {
			continue
		}
		s := SubjectOf(r)
		variant := s.Variant()
		s.Side, s.Help, s.Prefetch, s.InFlight = "", "", 0, 0
		p := place{Subject: s, model: r.Config.Model, Setting: SettingOf(r)}
		i, ok := index[p]
		if !ok {
			i = len(list)
			index[p] = i
			list = append(list, Comparison{Subject: s, Model: p.model, Setting: p.Setting})
		}
		list[i].side(variant).add(at, r.Measured)
	}
	for _, c := range list {
		c.finish(base)
	}
	return list
}

func (c *Comparison) side(variant string) *Rate {
	for i := range c.Sides {
		if c.Sides[i].Variant == variant {
			return &c.Sides[i]
		}
	}
	c.Sides = append(c.Sides, Rate{Variant: variant, times: map[round][]float64{}, first: map[round][]float64{}})
	return &c.Sides[len(c.Sides)-1]
}

func (r *Rate) add(at round, m result.Measured) {
	r.times[at] = append(r.times[at], perSample(m))
	if m.FirstBatch > 0 {
		r.first[at] = append(r.first[at], m.FirstBatch)
	}
}

// finish computes what needs all rounds, and puts base first.
func (c *Comparison) finish(base string) {
	slices.SortStableFunc(c.Sides, func(a, b Rate) int { return order(a.Variant, base) - order(b.Variant, base) })
	for i := range c.Sides {
		s, first := &c.Sides[i], &c.Sides[0]
		var times, firsts, ratios []float64
		for at, values := range s.times {
			times = append(times, median(values))
			if f, ok := first.times[at]; ok {
				ratios = append(ratios, median(values)/median(f))
			}
		}
		for _, values := range s.first {
			firsts = append(firsts, median(values))
		}
		s.PerSecond, s.FirstBatch, s.Ratio = NewFigure(times...).Inverse(), NewFigure(firsts...), NewFigure(ratios...)
		s.Verdict = s.PerSecond.Verdict(first.PerSecond)
	}
}

// order is 0 for the variant that others are compared with, 1 and 2 for others of
// its side, 3 for other sides.
func order(variant, base string) int {
	switch {
	case variant == base || variant == base+", Help on":
		return 0
	case len(variant) > len(base) && variant[:len(base)+1] == base+",":
		if variant == base+", Help off" {
			return 2
		}
		return 1
	}
	return 3
}

// String says in words how the sides compare with the first.
func (c Comparison) String() string {
	if len(c.Sides) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %s samples/s by %s", c.Setting, c.Sides[0].PerSecond, c.Sides[0].Variant)
	for _, s := range c.Sides[1:] {
		text += "; " + s.words()
	}
	return text
}

func (r Rate) words() string {
	switch {
	case r.Ratio.Rounds == 0:
		return fmt.Sprintf("%s samples/s by %s, in other rounds", r.PerSecond, r.Variant)
	case r.Ratio.Rounds == 1:
		return fmt.Sprintf("%s times those of %s, in one round, spread unknown", digits(r.Ratio.Median), r.Variant)
	case r.Verdict == Differs:
		return fmt.Sprintf("%s times those of %s", r.Ratio, r.Variant)
	}
	return fmt.Sprintf("%s times those of %s, not called a difference: %v", r.Ratio, r.Variant, r.Verdict)
}
