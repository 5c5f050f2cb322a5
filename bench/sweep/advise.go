package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/bench/analysis"
)

// advise prints what the race has found: the regret of every setting and the
// setting to use. Settings that were stopped are in the table with the rounds
// that they have.
func advise(out io.Writer, model string, all []candidate) error {
	var table analysis.Table
	measured, stopped := 0, 0
	for _, c := range all {
		for round, seconds := range c.times {
			table.Add(model, c.Setting, round, seconds)
			measured++
		}
		if c.stopped {
			stopped++
		}
	}
	advice, ok := table.Recommend()
	if !ok {
		return errors.New("nothing was measured")
	}
	fmt.Fprintf(out, "\n%s\n", regrets(&table, model, all).Markdown())
	fmt.Fprintf(out, "%d measurements; %d of %d settings were stopped because they cannot win, and are compared over the rounds that they have.\n", measured, stopped, len(all))
	fmt.Fprintf(out, "%s samples/s. %s\n\n", table.Time(model, advice.Setting).Inverse(), advice)
	_, err := fmt.Fprintf(out, "l, err := loader.New(ds, loader.Workers(%d), loader.BatchSize(%d))\n", advice.Workers, advice.Batch)
	return err
}

// regrets is the table of all settings, the best first.
func regrets(table *analysis.Table, model string, all []candidate) analysis.Sheet {
	stopped := map[analysis.Setting]bool{}
	for _, c := range all {
		stopped[c.Setting] = c.stopped
	}
	sheet := analysis.Sheet{Head: []string{"batch", "workers", "samples/s", "regret", "rounds"}}
	for _, r := range table.Regrets() {
		time := table.Time(model, r.Setting)
		rounds := fmt.Sprint(time.Rounds)
		if stopped[r.Setting] {
			rounds += ", stopped"
		}
		sheet.Rows = append(sheet.Rows, []string{fmt.Sprint(r.Batch), fmt.Sprint(r.Workers),
			time.Inverse().String(), analysis.Percent(r.Regret), rounds})
	}
	return sheet
}
