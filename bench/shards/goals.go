package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// judge compares the sides of penstock with what they must reach, and prints a line for each.
// A goal that was missed is an error.
func judge(all []measurement) error {
	var missed []error
	say := func(ok bool, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if !ok {
			missed = append(missed, errors.New("missed: "+text))
			text += " (missed)"
		}
		fmt.Println("- " + text)
	}
	fmt.Println()
	by := map[string][]measurement{}
	for _, m := range all {
		by[m.Side] = append(by[m.Side], m)
	}
	local, tar, slow, half := by["penstock local"], by["penstock tar"], by["penstock tar, "+slowly], by["penstock tar half cached"]
	of := func(list []measurement, value func(*measurement) float64) []float64 {
		values := make([]float64, len(list))
		for k := range list {
			values[k] = value(&list[k])
		}
		return values
	}
	// Ratios are taken within a round and an epoch, because the speed of a machine drifts.
	ratio := func(a, b []measurement, value func(*measurement) float64) float64 {
		x, y := of(a, value), of(b, value)
		for k := range x {
			x[k] /= y[k]
		}
		return median(x)
	}
	rate := ratio(tar, local, (*measurement).rate)
	say(rate >= 0.95, "images/s: %.1f %% of local files, want 95 %%", 100*rate)
	cpu := ratio(tar, local, (*measurement).each)
	say(cpu <= 1/0.95, "CPU per image: %.1f %% of local files, want %.1f %% at most", 100*cpu, 100/0.95)

	requests := slices.Max(of(tar, func(m *measurement) float64 { return float64(m.Requests - m.Hedged) }))
	say(int(requests) <= tar[0].Blocks+1, "requests per epoch: %.0f at most for %d blocks, without those that were sent again because the first was slow", requests, tar[0].Blocks)
	hedged := median(of(tar, func(m *measurement) float64 { return float64(m.Hedged) })) / float64(tar[0].Blocks)
	say(hedged <= 0.05, "sent again: %.1f %% of the requests, want 5 %% at most", 100*hedged)
	bytes := slices.Max(of(tar, func(m *measurement) float64 { return float64(m.Sent) })) / float64(tar[0].Bytes)
	say(bytes <= 1.02, "bytes per epoch: %.4f times the data at most, want 1.02", bytes)

	usual, late := p99(tar), p99(slow)
	say(late <= 2*usual, "99th percentile of the waits for a batch: %.1f ms, and %.1f ms with %s, want twice as much at most", 1000*usual, 1000*late, slowly)
	more := median(of(slow, func(m *measurement) float64 { return float64(m.Requests) })) / median(of(tar, func(m *measurement) float64 { return float64(m.Requests) }))
	say(more <= 1.05, "requests with %s: %.3f times as many, want 1.05 at most", slowly, more)

	second := half[:0:0]
	for _, m := range half {
		if m.Epoch > 0 {
			second = append(second, m)
		}
	}
	hits, share := slices.Min(of(second, func(m *measurement) float64 { return m.Hits })), second[0].Share
	say(hits >= share-0.01, "hit rate of the cache from the second epoch on: %.1f %% at least, with room for %.1f %% of the data", 100*hits, 100*share)
	if len(missed) > 0 {
		return fmt.Errorf("%s", strings.TrimSpace(errors.Join(missed...).Error()))
	}
	return nil
}

// p99 is the 99th percentile of all waits for a batch, without those for the first one of an
// epoch.
func p99(list []measurement) float64 {
	var waits []float64
	for _, m := range list {
		waits = append(waits, m.Waits[1:]...)
	}
	slices.Sort(waits)
	return waits[len(waits)*99/100]
}
