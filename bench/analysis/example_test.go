package analysis_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// From the times of a sweep to the setting to use.
func Example() {
	var table analysis.Table
	for _, t := range []struct {
		model          string
		batch, workers int
		seconds        []float64 // of each round
	}{
		{"cnn", 32, 2, []float64{10.2, 10.0, 10.1, 10.1}}, {"cnn", 128, 2, []float64{8.0, 8.1, 8.2, 8.1}}, {"cnn", 128, 8, []float64{8.0, 8.2, 8.1, 8.1}},
		{"vit", 32, 2, []float64{20.0, 20.2, 20.1, 20.1}}, {"vit", 128, 2, []float64{20.5, 20.6, 20.5, 20.5}}, {"vit", 128, 8, []float64{22.0, 22.1, 22.0, 22.1}},
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
	// Use batch 128, 2 workers. Over 2 of 2 models that costs 1.0 % [1.0..1.2] more time than each model's own best setting, at most 2.0 % [2.0..2.5] (vit). Every other setting is slower.
	// | batch | workers | average regret      | models | greatest regret     | of  |
	// | ----- | ------- | ------------------- | ------ | ------------------- | --- |
	// | 128   | 2       | 1.0 % [1.0..1.2]    | 2 of 2 | 2.0 % [2.0..2.5]    | vit |
	// | 128   | 8       | 5.0 % [4.1..5.3]    | 2 of 2 | 9.7 % [9.4..10.0]   | vit |
	// | 32    | 2       | 12.0 % [11.6..13.7] | 2 of 2 | 24.1 % [23.2..27.5] | cnn |
	// | batch | workers | among the best 2 of | models   |
	// | ----- | ------- | ------------------- | -------- |
	// | 128   | 2       | 2 of 2              | cnn, vit |
	// | 32    | 2       | 1 of 2              | vit      |
	// | 128   | 8       | 1 of 2              | cnn      |
}

// Compares all sides with penstock, configuration by configuration.
func ExampleCompare() {
	records, err := result.ReadFile("results.jsonl")
	if err != nil {
		log.Print(err) // names file and line; what could be read is there
	}
	cells := analysis.Cells(records)
	for _, c := range analysis.Compare(cells, "penstock") {
		for i, side := range c.Sides {
			fmt.Println(side.Data, side.Setting, side.Variant(), side.Rate(), "samples/s; ratio", c.Ratio(i), c.Differs(i))
		}
	}
	for _, g := range analysis.Groups(cells) {
		for _, a := range g.Table.Regrets() {
			fmt.Println(g.Variant(), a.Setting, analysis.Percent(a.Regret))
		}
	}
}

// With three workers and no help, three batches arrive at once.
func ExampleNewRhythm() {
	waits := []float64{0.9, 0, 0, 0.8, 0, 0, 0.9, 0, 0, 0.8, 0, 0, 0.9, 0}
	r := analysis.NewRhythm(waits, 3)
	fmt.Printf("%v %.2f %.2f\n", r.Peaks(), r.Peak, r.Between)
	// Output: true 0.85 0.00
}
