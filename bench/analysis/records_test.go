package analysis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

func record(side string, workers, number, epoch int, seconds float64) result.Record {
	help := ""
	if side == "penstock" {
		help = result.HelpOn
	}
	return result.Record{
		Study: result.Loading, Side: side, Date: time.Unix(1e9, 0), Round: number, Epoch: epoch,
		Config:   result.Config{Batch: 32, Workers: workers, Data: "photos", Help: help},
		Machine:  result.Machine{CPU: "A", Processors: 2},
		Measured: result.Measured{Samples: 100, Seconds: seconds, FirstBatch: 0.1, Waits: []float64{seconds}},
	}
}

func seconds(m result.Measured) float64 { return m.Seconds }

// want checks median and range.
func want(t *testing.T, what string, got analysis.Figure, median, low, high float64, rounds int) {
	t.Helper()
	if !near(got.Median, median) || !near(got.Low, low) || !near(got.High, high) || got.Rounds != rounds {
		t.Errorf("%s: got %v of %d rounds, want %g [%g..%g] of %d", what, got, got.Rounds, median, low, high, rounds)
	}
}

func TestOnlyLikeIsComparedWithLike(t *testing.T) {
	a := record("penstock", 1, 0, 0, 1)
	list := []result.Record{a}
	for _, change := range []func(*result.Record){
		func(r *result.Record) { r.Side = "other" },
		func(r *result.Record) { r.Study = result.Volumes },
		func(r *result.Record) { r.Machine.Processors = 64 },
		func(r *result.Record) { r.Config.Data = "preprocessed" },
		func(r *result.Record) { r.Config.Help = result.HelpOff },
		func(r *result.Record) { r.Config.Simulated = "throttled" },
		func(r *result.Record) { r.Config.ConsumerSeconds = 2 },
	} {
		b := a
		change(&b)
		list = append(list, b)
	}
	groups := analysis.Groups(analysis.Cells(list))
	if len(groups) != len(list) {
		t.Errorf("%d groups of %d subjects", len(groups), len(list))
	}
	for _, g := range groups {
		want(t, g.Variant(), g.Table.Time("", analysis.Setting{Batch: 32, Workers: 1}), 0.01, 0.01, 0.01, 1)
	}
}

func TestAMachineIsKnownByItsProcessors(t *testing.T) {
	a, b := record("penstock", 1, 0, 0, 1), record("penstock", 1, 1, 0, 1)
	b.Machine = result.Machine{CPU: " A ", Processors: 2, MemoryBytes: 1, OS: "Linux", Kernel: "6", Arch: "x86_64", GPU: "B"}
	if cells := analysis.Cells([]result.Record{a, b}); len(cells) != 1 {
		t.Errorf("%d cells of one machine in other words", len(cells))
	}
	a.Config.Device, b.Config.Device = "cuda", "cuda"
	if cells := analysis.Cells([]result.Record{a, b}); len(cells) != 2 {
		t.Errorf("%d cells of two GPUs", len(cells))
	}
}

func TestTheStartOfWorkersCountsOnlyWhereNothingElseIs(t *testing.T) {
	cells := analysis.Cells([]result.Record{
		record("penstock", 1, 0, 0, 9), record("penstock", 1, 0, 1, 2), record("penstock", 1, 0, 2, 3),
		record("penstock", 1, 1, 0, 8), // another round's, which has no other epoch
		record("penstock", 2, 0, 0, 7),
	})
	want(t, "1 worker", cells[0].Figure(seconds), 2.5, 2.5, 2.5, 1)
	want(t, "2 workers", cells[1].Figure(seconds), 7, 7, 7, 1)
}

func TestACellSumsUpItsRounds(t *testing.T) {
	var list []result.Record
	for i, took := range []float64{9, 1, 3, 5, 4} { // epochs 0, 1, 2 of round 0, then 1 and 2 of round 1
		r := record("penstock", 1, i/3, i%3+i/3, took)
		r.Measured.CPU = 2 * took
		if i == 4 {
			r.Measured.CPU = 0 // not measured
		}
		list = append(list, r)
	}
	list = append(list, record("penstock", 1, 0, 1, 2)) // a second run's round 0 is a third round
	c := analysis.Cells(list)[0]
	want(t, "seconds", c.Figure(seconds), 2, 2, 4.5, 3)
	want(t, "CPU", c.Figure(func(m result.Measured) float64 { return m.CPU }), 7, 4, 10, 2)
	if got := c.Typical().Measured.Seconds; got != 3 {
		t.Errorf("got the record of %g s, want that of 3 s", got)
	}
}

func TestSidesAreComparedRoundByRound(t *testing.T) {
	var list []result.Record
	for number, drift := range []float64{1, 3, 2, 4} { // the machine's speed changes, the ratio does not
		list = append(list, record("PyTorch, PIL", 1, number, 1, 5*drift), record("penstock", 1, number, 1, drift))
		off := record("penstock", 1, number, 1, 2*drift)
		off.Config.Help = result.HelpOff
		list = append(list, off)
	}
	list = append(list, record("PyTorch, PIL", 2, 0, 1, 1))
	all := analysis.Compare(analysis.Cells(list), "penstock")
	if len(all) != 1 || len(all[0].Sides) != 3 || all[0].Sides[0].Variant() != "penstock" {
		t.Fatalf("got %v, want one comparison of three sides, penstock first", all)
	}
	c := all[0]
	for i, s := range c.Sides {
		switch s.Variant() {
		case "PyTorch, PIL":
			want(t, "PyTorch", c.Ratio(i), 5, 5, 5, 4)
			if !c.Differs(i) {
				t.Error("four rounds that lie apart: no difference")
			}
		case "penstock without Help":
			want(t, "Help off", c.Ratio(i), 2, 2, 2, 4)
			if c.Differs(i) {
				t.Error("rounds that overlap: a difference")
			}
		}
	}
}

// A sweep's table and a report's bars say the same of one run, with an even number
// of rounds and of epochs too.
func TestRatesAgreeWithTimes(t *testing.T) {
	for _, c := range []struct {
		seconds           [][]float64 // of 100 samples, by round and epoch
		median, low, high float64
	}{
		{[][]float64{{0.1}, {0.4}}, 400, 250, 1000}, // the median of rates would be 625
		{[][]float64{{0.1}, {0.2}, {0.8}, {0.4}}, 1000.0 / 3, 125, 1000},
		{[][]float64{{0.1, 0.3}, {0.5, 0.3}}, 1000.0 / 3, 250, 500},
	} {
		var list []result.Record
		for number, epochs := range c.seconds {
			for epoch, seconds := range epochs {
				list = append(list, record("penstock", 1, number, epoch+1, seconds))
			}
		}
		cells := analysis.Cells(list)
		table := analysis.Groups(cells)[0].Table
		want(t, "table", table.Time("", analysis.Setting{Batch: 32, Workers: 1}).Inverse(), c.median, c.low, c.high, len(c.seconds))
		want(t, "cell", cells[0].Rate(), c.median, c.low, c.high, len(c.seconds))
	}
}

func TestPeaksAreSeenInAnyPhase(t *testing.T) {
	peaks := []float64{1} // Help off: the first batch, the others at once, then a peak every 4
	for k := 1; k < 20; k++ {
		peaks = append(peaks, 0.01)
		if k%4 == 0 {
			peaks[k] = 0.9
		}
	}
	drifted := slices.Clone(peaks)
	for k := 1; k < 20; k++ {
		drifted[k] = peaks[(k+2)%20]
	}
	drifted[18] = 0.9
	even := slices.Repeat([]float64{0.2, 0.21, 0.22, 0.19, 0.23}, 4)
	for _, c := range []struct {
		name                 string
		waits                []float64
		workers              int
		want                 bool
		first, middle, p, p2 float64 // first, median, 99th percentile, longest
	}{
		{"peaks", peaks, 4, true, 1, 0.01, 0.9, 0.9},
		{"peaks in another phase", drifted, 4, true, 1, 0.01, 0.9, 0.9},
		{"another period", peaks, 5, false, 1, 0.01, 0.9, 0.9},
		{"even", even, 4, false, 0.2, 0.21, 0.23, 0.23},
		{"one worker", even, 1, false, 0.2, 0.21, 0.23, 0.23},
		{"few", peaks[:9], 4, false, 1, 0.01, 0.9, 0.9},
		{"one batch", []float64{1}, 2, false, 1, 0, 0, 0},
		{"none", nil, 2, false, 0, 0, 0, 0},
	} {
		r := analysis.NewRhythm(c.waits, c.workers)
		if r.Peaks() != c.want || r.First != c.first || r.Median != c.middle || r.P99 != c.p || r.Longest != c.p2 {
			t.Errorf("%s: got peaks %v in %+v, want %v", c.name, r.Peaks(), r, c.want)
		}
	}
}

func TestMarkdownKeepsCellsInTheirPlace(t *testing.T) {
	got := analysis.Sheet{Head: []string{"a", "longer"}, Rows: [][]string{{"x|y\nz", "ü"}, {"1"}}}.Markdown()
	want := "| a     | longer |\n| ----- | ------ |\n| x/y z | ü      |\n| 1     |        |\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
