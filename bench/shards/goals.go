package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// A judgement compares sides with what they must reach, and prints a line for each goal.
type judgement struct {
	by     map[string][]measurement // by side
	missed []error
}

// judge prints all goals. One that was missed is an error.
func judge(o options, all []measurement) error {
	j := judgement{by: map[string][]measurement{}}
	for _, m := range all {
		j.by[m.Side] = append(j.by[m.Side], m)
	}
	fmt.Println()
	j.speed()
	j.traffic()
	j.delays()
	j.hits()
	if o.python != "" {
		j.peers()
	}
	if len(j.missed) > 0 {
		return fmt.Errorf("%s", strings.TrimSpace(errors.Join(j.missed...).Error()))
	}
	return nil
}

// say prints whether a goal was met.
func (j *judgement) say(met bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if met {
		text += ": met"
	} else {
		j.missed = append(j.missed, errors.New("missed: "+text))
		text += ": missed"
	}
	fmt.Println("- " + text)
}

// of are the values of all epochs of a side.
func (j *judgement) of(side string, value func(*measurement) float64) []float64 {
	list := j.by[side]
	values := make([]float64, len(list))
	for k := range list {
		values[k] = value(&list[k])
	}
	return values
}

// sum is the sum of the values of all epochs of a side.
func (j *judgement) sum(side string, value func(*measurement) float64) (sum float64) {
	for _, v := range j.of(side, value) {
		sum += v
	}
	return sum
}

// loops are the sums of the epochs of each loop. There is one loop per round.
func (j *judgement) loops(side string) (list []measurement) {
	for _, m := range j.by[side] {
		if m.Epoch == 0 {
			list = append(list, measurement{})
		}
		all := &list[len(list)-1]
		all.Images, all.Seconds, all.CPU = all.Images+m.Images, all.Seconds+m.Seconds, all.CPU+m.CPU
	}
	return list
}

// ratio is the median of the ratios of the loops of two sides. They are taken within a round,
// because the speed of a machine drifts.
func (j *judgement) ratio(a, b string, value func(*measurement) float64) float64 {
	x, y := j.loops(a), j.loops(b)
	ratios := make([]float64, len(x))
	for k := range x {
		ratios[k] = value(&x[k]) / value(&y[k])
	}
	return median(ratios)
}

func requests(m *measurement) float64 { return float64(m.Requests) }
func opening(m *measurement) float64  { return float64(m.Opening) }
func hedged(m *measurement) float64   { return float64(m.Hedged) }
func sent(m *measurement) float64     { return float64(m.Sent) }

func (j *judgement) speed() {
	rate := j.ratio(tar+apart, local+apart, (*measurement).rate)
	j.say(rate >= 0.95, "images/s, the server on a processor of its own: %.1f %% of local files, want 95 %%", 100*rate)
	cpu := j.ratio(tar+apart, local+apart, (*measurement).each)
	j.say(cpu <= 1/0.95, "CPU per image, the server on a processor of its own: %.1f %% of local files, want %.1f %% at most", 100*cpu, 100/0.95)
	fmt.Printf("- with the server on the same %d processors: %.1f %% of the images/s, %.1f %% of the CPU per image (no goal)\n",
		runtime.NumCPU(), 100*j.ratio(tar, local, (*measurement).rate), 100*j.ratio(tar, local, (*measurement).each))
}

// traffic compares requests and bytes with the data. A loop requests the first blocks of an
// epoch before the end of the one before, so these are means over the epochs of a loop.
func (j *judgement) traffic() {
	count := func(sides ...string) (perEpoch, bytes, again float64) {
		for _, side := range sides {
			epochs := float64(len(j.by[side]))
			again += j.sum(side, hedged) / epochs
			perEpoch += (j.sum(side, requests) - j.sum(side, opening) - j.sum(side, hedged)) / epochs
			bytes += j.sum(side, sent) / epochs / float64(j.by[side][0].Bytes)
		}
		return perEpoch, bytes, again
	}
	blocks := j.by[tar+apart][0].Blocks
	for _, c := range []struct {
		who   string
		sides []string
	}{{"", []string{tar + apart}}, {" of two ranks", []string{tarRank0, tarRank1}}} {
		perEpoch, bytes, again := count(c.sides...)
		j.say(perEpoch <= float64(blocks+1), "requests per epoch%s: %.1f for %d blocks, want one more at most, without that for the index and those that were sent again because the first was slow", c.who, perEpoch, blocks)
		j.say(again <= 0.05*perEpoch, "sent again%s: %.1f %% of the requests, want 5 %% at most", c.who, 100*again/perEpoch)
		j.say(bytes <= 1.02, "bytes per epoch%s: %.4f times the data, want 1.02 at most", c.who, bytes)
	}
}

func (j *judgement) delays() {
	usual, late := p99(j.by[tar+apart]), p99(j.by[tarSlow])
	j.say(late <= 2*usual, "99th percentile of the waits for a batch: %.1f ms, and %.1f ms with %s, want twice as much at most", 1000*usual, 1000*late, slowly)
	more := j.sum(tarSlow, requests) / j.sum(tar+apart, requests)
	j.say(more <= 1.05, "requests with %s: %.3f times as many, want 1.05 at most", slowly, more)
}

// hits judges the cache. The first epoch of a loop finds nothing in it.
func (j *judgement) hits() {
	var found, asked float64
	for _, m := range j.by[tarHalf] {
		found += float64(m.Hits)
		if asked += float64(m.Hits + m.Misses); m.Epoch == 0 {
			asked -= float64(m.Blocks)
		}
	}
	share := j.by[tarHalf][0].Share
	j.say(found/asked >= share-0.01, "hit rate of the cache from the second epoch on: %.1f %%, with room for %.1f %% of the data, want one point less at least", 100*found/asked, 100*share)
}

func (j *judgement) peers() {
	for epoch := range 2 {
		of := func(side string) []float64 {
			var rates []float64
			for _, m := range j.by[side] {
				if m.Epoch == epoch {
					rates = append(rates, m.rate())
				}
			}
			return rates
		}
		for _, peer := range peers {
			if rates := of(peer); len(rates) > 0 {
				times := median(of(tar+" cached")) / median(rates)
				j.say(times > 1, "epoch %d: %.1f times as fast as %s, want more than 1", epoch+1, times, peer)
			}
		}
	}
}

// p99 is the 99th percentile of all waits for a batch, without those for the first one of a
// loop.
func p99(list []measurement) float64 {
	var waits []float64
	for _, m := range list {
		if m.Epoch == 0 {
			m.Waits = m.Waits[1:]
		}
		waits = append(waits, m.Waits...)
	}
	slices.Sort(waits)
	return waits[len(waits)*99/100]
}
