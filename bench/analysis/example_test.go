package analysis_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// A sweep's times in, the setting to use out.
func Example() {
	var table analysis.Table
	for _, t := range []struct {
		model          string
		batch, workers int
		seconds        []float64 // of each round
	}{
		{"cnn", 32, 2, []float64{10.2, 10.0, 10.1}}, {"cnn", 128, 2, []float64{8.0, 8.1, 8.2}}, {"cnn", 128, 8, []float64{8.0, 8.2, 8.1}},
		{"vit", 32, 2, []float64{20.0, 20.2, 20.1}}, {"vit", 128, 2, []float64{20.5, 20.6, 20.5}}, {"vit", 128, 8, []float64{22.0, 22.1, 22.0}},
	} {
		for round, seconds := range t.seconds {
			table.Add(t.model, analysis.Setting{Batch: t.batch, Workers: t.workers}, round, seconds)
		}
	}
	if advice, ok := table.Recommend(); ok {
		fmt.Println(advice)
	}
	fmt.Print(table.RegretSheet(10).Markdown())
	fmt.Print(table.TopSheet(2).Markdown())
	// Output:
	// Set loader.BatchSize(128) and loader.Workers(2): average regret 1.0 % [1.0..1.2] over 2 models, at most 2.0 % [2.0..2.5] (vit). All others differ beyond the spread of 3 rounds.
	// | batch | workers | average regret      | models | greatest regret     | of  |
	// | ----- | ------- | ------------------- | ------ | ------------------- | --- |
	// | 128   | 2       | 1.0 % [1.0..1.2]    | 2 of 2 | 2.0 % [2.0..2.5]    | vit |
	// | 128   | 8       | 4.7 % [4.1..5.6]    | 2 of 2 | 9.5 % [9.4..10.0]   | vit |
	// | 32    | 2       | 12.3 % [11.6..13.7] | 2 of 2 | 24.7 % [23.2..27.5] | cnn |
	// | batch | workers | among the best 2 of | models   |
	// | ----- | ------- | ------------------- | -------- |
	// | 128   | 2       | 2 of 2              | cnn, vit |
	// | 32    | 2       | 1 of 2              | vit      |
	// | 128   | 8       | 1 of 2              | cnn      |
}

// Results of all sides, beside each other.
func ExampleCompare() {
	records, err := result.ReadFile("results.jsonl")
	if err != nil {
		log.Print(err) // names file and line; what could be read is there
	}
	for _, c := range analysis.Compare(records, "penstock") {
		fmt.Println(c.Data, c)
		for _, rate := range c.Sides {
			fmt.Println(rate.Variant, rate.PerSecond, rate.FirstBatch.Times(1000), "ms")
		}
	}
	for _, c := range analysis.Cells(records) {
		cpu := c.Figure(func(m result.Measured) float64 { return m.CPU })
		fmt.Println(c.Subject, c.Setting, c.Rate(), "samples/s,", cpu, "s of CPU")
	}
	for _, g := range analysis.Groups(records) {
		fmt.Println(g.Subject)
		for _, a := range g.Table.Regrets() {
			fmt.Println(a.Setting, analysis.Percent(a.Regret))
		}
	}
}

// Times of another program come as CSV.
func ExampleReadCSV() {
	groups, err := analysis.ReadCSV(strings.NewReader("model,batch,workers,seconds\ncnn,32,1,5\ncnn,32,2,3\n"), "standard input")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for _, c := range groups[0].Table.Top(1) {
		fmt.Println(c.Setting, c.Models)
	}
	// Output: batch 32, 2 workers [cnn]
}

// With three workers and no help, three batches arrive at once.
func ExampleNewRhythm() {
	waits := []float64{0.9, 0, 0, 0.8, 0, 0, 0.9, 0, 0, 0.8, 0, 0, 0.9, 0}
	r := analysis.NewRhythm(waits, 3)
	fmt.Println(r.Peaks(), r.SlowFirst())
	fmt.Println(r)
	// Output:
	// true false
	// first batch 900 ms, then median 0.00, 99th percentile 900, longest 900; a peak of 850 every 3 batches, 0.00 between
}
