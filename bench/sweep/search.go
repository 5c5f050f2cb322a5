package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/bench/analysis"
)

// A candidate is a setting with its time in seconds per sample, for every round until it was stopped.
type candidate struct {
	analysis.Setting
	times   []float64
	stopped bool
}

// A race is the search for the fastest setting. All candidates are measured in turns, once in every
// round. After a round, the candidates that cannot win are stopped.
//
// The leader is the candidate with the least median. A candidate cannot win if it was slower than
// the leader in every round so far, each time by more than the margin. The margin is that of the
// race, or the spread over rounds of either of the two if that is more. After the first round, when
// the spread is not known, it is 100 %.
//
// If all times are within a share e of the true times, the true winner is never stopped as long as
// (1+e)/(1-e) is at most 1+margin: with a margin of 5 %, up to 2.4 % of noise.
type race struct {
	rounds  int
	margin  float64 // as a share of the leader's time
	measure func(ctx context.Context, s analysis.Setting, round int) (seconds float64, err error)
}

// margin is the share by which a setting must be slower than the best in every round to be stopped.
const margin = 0.05

// run returns the candidates in the order of settings. If it returns an error, such as that of a
// context that is done, they have the times that were measured before it.
func (r race) run(ctx context.Context, settings []analysis.Setting) ([]candidate, error) {
	all := make([]candidate, len(settings))
	for i, s := range settings {
		all[i].Setting = s
	}
	for round := range r.rounds {
		running := alive(all)
		if round%2 == 1 {
			slices.Reverse(running)
		}
		for _, c := range running {
			if err := ctx.Err(); err != nil {
				return all, err
			}
			seconds, err := r.measure(ctx, c.Setting, round)
			if err != nil {
				return all, fmt.Errorf("%v, round %d: %w", c.Setting, round, err)
			}
			c.times = append(c.times, seconds)
		}
		r.stop(running)
		if len(alive(all)) == 1 && round > 0 {
			break
		}
	}
	return all, nil
}

func alive(all []candidate) (running []*candidate) {
	for i := range all {
		if !all[i].stopped {
			running = append(running, &all[i])
		}
	}
	return running
}

// stop stops the running candidates that cannot win.
func (r race) stop(running []*candidate) {
	if len(running) == 0 {
		return
	}
	leader := slices.MinFunc(running, func(a, b *candidate) int {
		x, y := analysis.NewFigure(a.times...).Median, analysis.NewFigure(b.times...).Median
		return cmp.Or(cmp.Compare(x, y), a.Compare(b.Setting))
	})
	for _, c := range running {
		margin := 1.0
		if len(c.times) > 1 {
			margin = max(r.margin, spread(leader), spread(c))
		}
		slower := true
		for i, t := range c.times {
			slower = slower && t > (1+margin)*leader.times[i]
		}
		c.stopped = slower
	}
}

// spread is the difference between a candidate's greatest and least round, as a share of their
// median.
func spread(c *candidate) float64 {
	return (slices.Max(c.times) - slices.Min(c.times)) / analysis.NewFigure(c.times...).Median
}
