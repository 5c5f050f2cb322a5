package analysis_test

import (
	"fmt"
	"slices"
	"strings"
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
		func(r *result.Record) { r.Config.Prefetch = 3 },
	} {
		b := a
		change(&b)
		list = append(list, b)
	}
	groups := analysis.Groups(list)
	if len(groups) != len(list) {
		t.Errorf("%d groups of %d subjects", len(groups), len(list))
	}
	for _, g := range groups {
		if got := g.Table.Time("", analysis.Setting{Batch: 32, Workers: 1}); got.Rounds != 1 || got.Median != 0.01 {
			t.Errorf("%v: got %v seconds per sample, want 0.01 once", g.Subject, got)
		}
	}
}

func TestAMachineIsKnownByItsProcessors(t *testing.T) {
	a, b := record("penstock", 1, 0, 0, 1), record("penstock", 1, 1, 0, 1)
	b.Machine = result.Machine{CPU: " A ", Processors: 2, MemoryBytes: 1, OS: "Linux", Kernel: "6", Arch: "x86_64", GPU: "B"}
	if groups := analysis.Groups([]result.Record{a, b}); len(groups) != 1 {
		t.Errorf("%d groups of one machine in other words", len(groups))
	}
	a.Config.Device, b.Config.Device = "cuda", "cuda"
	if groups := analysis.Groups([]result.Record{a, b}); len(groups) != 2 {
		t.Errorf("%d groups of two GPUs", len(groups))
	}
}

func TestTheStartOfWorkersCountsOnlyWhereNothingElseIs(t *testing.T) {
	list := []result.Record{
		record("penstock", 1, 0, 0, 9), record("penstock", 1, 0, 1, 2), record("penstock", 1, 0, 2, 3),
		record("penstock", 1, 1, 0, 8), // another round's, which has no other epoch
		record("penstock", 2, 0, 0, 7),
	}
	table := analysis.Groups(list)[0].Table
	for workers, want := range map[int]float64{1: 0.025, 2: 0.07} {
		if got := table.Time("", analysis.Setting{Batch: 32, Workers: workers}); !near(got.Median, want) || got.Rounds != 1 {
			t.Errorf("%d workers: got %+v, want %g of one round", workers, got, want)
		}
	}
}

func TestASecondRunsRoundsAreFurtherRounds(t *testing.T) {
	list := []result.Record{record("penstock", 1, 0, 0, 1), record("penstock", 1, 1, 0, 2), record("penstock", 1, 0, 0, 3)}
	got := analysis.Groups(list)[0].Table.Time("", analysis.Setting{Batch: 32, Workers: 1})
	if want := (analysis.Figure{Median: 0.02, Least: 0.01, Most: 0.03, Rounds: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSidesAreComparedRoundByRound(t *testing.T) {
	var list []result.Record
	for number, drift := range []float64{1, 3, 2} { // the machine's speed changes, the ratio does not
		list = append(list, record("PyTorch, PIL", 1, number, 1, 4*drift), record("penstock", 1, number, 1, drift))
	}
	for number, seconds := range []float64{2, 2.1} {
		list = append(list, record("PyTorch, PIL", 2, number, 1, 2*seconds), record("penstock", 2, number, 1, seconds))
	}
	list = append(list, record("PyTorch, PIL", 4, 0, 1, 2), record("penstock", 4, 0, 1, 1))
	off := record("penstock", 4, 1, 1, 1)
	off.Config.Help = result.HelpOff
	list = append(list, off)
	var got []string
	for _, c := range analysis.Compare(list, "penstock") {
		got = append(got, c.String())
	}
	want := []string{
		"batch 32, 1 worker: 50.0 [33.3..100] samples/s by penstock, Help on; 4.00 times those of PyTorch, PIL, not called a difference: a range is wider than the medians lie apart",
		"batch 32, 2 workers: 48.8 [47.6..50.0] samples/s by penstock, Help on; 2.00 times those of PyTorch, PIL",
		"batch 32, 4 workers: 100 samples/s by penstock, Help on; 100 samples/s by penstock, Help off, in other rounds; " +
			"2.00 times those of PyTorch, PIL, in one round, spread unknown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sides := analysis.Compare(list, "penstock")[0].Sides
	if want := (analysis.Figure{Median: 4, Least: 4, Most: 4, Rounds: 3}); sides[1].Ratio != want {
		t.Errorf("ratio %+v, want %+v", sides[1].Ratio, want)
	}
}

// A sweep's table, a report's bars and its comparisons say the same of one run,
// with an even number of rounds and of epochs too.
func TestRatesAgreeWithTimesEverywhere(t *testing.T) {
	for _, c := range []struct {
		seconds [][]float64 // of 100 samples, by round and epoch
		want    analysis.Figure
	}{
		{[][]float64{{0.1}, {0.4}}, analysis.Figure{Median: 400, Least: 250, Most: 1000, Rounds: 2}}, // the median of rates would be 625
		{[][]float64{{0.1}, {0.2}, {0.8}, {0.4}}, analysis.Figure{Median: 1000.0 / 3, Least: 125, Most: 1000, Rounds: 4}},
		{[][]float64{{0.1, 0.3}, {0.5, 0.3}}, analysis.Figure{Median: 1000.0 / 3, Least: 250, Most: 500, Rounds: 2}},
		{[][]float64{{0.1}, {0.2}, {0.8}}, analysis.Figure{Median: 500, Least: 125, Most: 1000, Rounds: 3}},
	} {
		var list []result.Record
		for number, epochs := range c.seconds {
			for epoch, seconds := range epochs {
				list = append(list, record("penstock", 1, number, epoch+1, seconds))
			}
		}
		for name, got := range map[string]analysis.Figure{
			"table":      analysis.Groups(list)[0].Table.Time("", analysis.Setting{Batch: 32, Workers: 1}).Inverse(),
			"cell":       analysis.Cells(list)[0].Rate(),
			"comparison": analysis.Compare(list, "penstock")[0].Sides[0].PerSecond,
		} {
			if !near(got.Median, c.want.Median) || !near(got.Least, c.want.Least) || !near(got.Most, c.want.Most) || got.Rounds != c.want.Rounds {
				t.Errorf("%v, %s: got %+v, want %+v", c.seconds, name, got, c.want)
			}
		}
	}
	if got := (analysis.Figure{}).Inverse(); got != (analysis.Figure{}) {
		t.Errorf("got %+v of nothing", got)
	}
}

func TestARoundOfManyEpochsIsOneRound(t *testing.T) {
	var list []result.Record
	for epoch := range 3 {
		r := record("penstock", 1, 0, epoch+1, 1)
		r.Measured.FirstBatch = 0.1 * float64(epoch+1)
		list = append(list, r)
	}
	rate := analysis.Compare(list, "penstock")[0].Sides[0]
	if f := rate.FirstBatch; f.Rounds != 1 || !near(f.Median, 0.2) || rate.PerSecond.Rounds != 1 {
		t.Errorf("first batch %+v, samples/s %+v: want one round", f, rate.PerSecond)
	}
}

func TestRhythm(t *testing.T) {
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
		name        string
		waits       []float64
		workers     int
		peak, first bool
		want        string
	}{
		{"peaks", peaks, 4, true, false, "first batch 1000 ms, then median 10.0, 99th percentile 900, longest 900; a peak of 900 every 4 batches, 10.0 between"},
		{"peaks in another phase", drifted, 4, true, false, "a peak of 900 every 4 batches"},
		{"another period", peaks, 5, false, false, "no peaks every 5 batches"},
		{"even", even, 4, false, false, "no peaks every 4 batches"},
		{"one worker", even, 1, false, false, "first batch 200 ms, then median 210, 99th percentile 230, longest 230"},
		{"a slow first", append([]float64{1}, even...), 4, false, true, "first batch 1000 ms"},
		{"few", peaks[:9], 4, false, false, "too few batches to tell peaks"},
		{"one batch", []float64{1}, 2, false, false, "first batch 1000 ms"},
		{"none", nil, 2, false, false, "first batch 0.00 ms"},
	} {
		r := analysis.NewRhythm(c.waits, c.workers)
		if r.Peaks() != c.peak || r.SlowFirst() != c.first || !strings.Contains(r.String(), c.want) {
			t.Errorf("%s: got peaks %v, slow first %v, %q, want %v, %v, %q", c.name, r.Peaks(), r.SlowFirst(), r, c.peak, c.first, c.want)
		}
	}
}

func TestCSVGivesTheTablesOfItsRows(t *testing.T) {
	const text = "\ufeffbatch,workers,model,seconds,round,data\n" +
		"32,1,cnn,10,0,photos\n32,1,cnn,12,1,photos\n128,4,cnn,5.5,0,photos\n\n32,1,\"vit, small\",3,0,preprocessed\n"
	groups, err := analysis.ReadCSV(strings.NewReader(text), "a.csv")
	if err != nil || len(groups) != 2 || groups[0].Data != "photos" || groups[1].Data != "preprocessed" {
		t.Fatalf("%v, %v", groups, err)
	}
	if got, want := groups[0].Table.Time("cnn", analysis.Setting{Batch: 32, Workers: 1}), (analysis.Figure{Median: 11, Least: 10, Most: 12, Rounds: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := groups[1].Table.Models(); fmt.Sprint(got) != "[vit, small]" {
		t.Errorf("got models %q", got)
	}
}

func TestABadRowIsNamedAndCostsItselfAlone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "analysis: b.csv:1: EOF"},
		{"model,batch,workers\n", `analysis: b.csv:1: no column "seconds"`},
		{"model,batch,workers,seconds,seconds\n", `analysis: b.csv:1: column "seconds" twice`},
		{"model,batch,workers,secs\n", `analysis: b.csv:1: column "secs": want some of model, batch`},
	} {
		groups, err := analysis.ReadCSV(strings.NewReader(c.text), "b.csv")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || groups != nil {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
	const text = "model,batch,workers,seconds\n" +
		"cnn,0,1,1\ncnn,32,-1,1\ncnn,32,1,NaN\ncnn,32,1\ncnn,32,1,1e999\ncnn,3\"2,1,1\ncnn,32,1,5\n"
	groups, err := analysis.ReadCSV(strings.NewReader(text), "b.csv")
	if err == nil || len(groups) != 1 || len(groups[0].Table.Settings()) != 1 {
		t.Fatalf("got %v, %v: want the last row and errors", groups, err)
	}
	for i, want := range []string{
		`analysis: b.csv:2: batch: have "0", want a whole number, 1 or more`,
		`analysis: b.csv:3: workers: have "-1", want a whole number, 0 or more`,
		`analysis: b.csv:4: seconds: have "NaN", want a time above 0`,
		`analysis: b.csv:5: 3 fields, want 4`,
		`analysis: b.csv:6: seconds: have "1e999", want a time above 0`,
		`analysis: b.csv:7: bare " in non-quoted-field`,
	} {
		if got := strings.Split(err.Error(), "\n")[i]; got != want {
			t.Errorf("got %s, want %s", got, want)
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

func FuzzReadCSV(f *testing.F) {
	f.Add("model,batch,workers,seconds\ncnn,32,1,5\n\"a\nb\",1,1,\"1\"\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		groups, _ := analysis.ReadCSV(strings.NewReader(text), "fuzz")
		for _, g := range groups {
			if r, ok := g.Table.Recommend(); !ok || r.String() == "" {
				t.Errorf("no recommendation of %v", g.Table.Settings())
			}
		}
	})
}

func TestACellSumsUpItsRounds(t *testing.T) {
	var list []result.Record
	for i, seconds := range []float64{9, 1, 3, 5, 4} { // epochs 0, 1, 2 of round 0, then 1 and 2 of round 1
		r := record("penstock", 1, i/3, i%3+i/3, seconds)
		r.Measured.CPU = 2 * seconds
		if i == 4 {
			r.Measured.CPU = 0 // not measured
		}
		list = append(list, r)
	}
	cells := analysis.Cells(append(list, record("penstock", 2, 0, 0, 1)))
	if len(cells) != 2 || len(cells[0].Records) != 4 {
		t.Fatalf("got %v, want one cell of 4 records and another", cells)
	}
	if got, want := cells[0].Figure(func(m result.Measured) float64 { return m.Seconds }), (analysis.Figure{Median: 3.25, Least: 2, Most: 4.5, Rounds: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := cells[0].Figure(func(m result.Measured) float64 { return m.CPU }), (analysis.Figure{Median: 7, Least: 4, Most: 10, Rounds: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := cells[0].Typical(func(m result.Measured) float64 { return m.Seconds }).Measured.Seconds; got != 3 {
		t.Errorf("got the record of %g s, want that of 3 s", got)
	}
}
