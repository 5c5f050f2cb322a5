package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
)

// noisy is the greatest spread of a setting's rounds, as a share, with which a setting that leads
// narrowly is still recommended.
const noisy = 0.25

// advise prints the result of the race: the time that every setting loses, and the setting to use,
// or that the machine is too noisy to tell.
func advise(out io.Writer, all []candidate) error {
	var table analysis.Table
	measured := 0
	for _, c := range all {
		for round, seconds := range c.times {
			table.Add("", c.Setting, round, seconds)
			measured++
		}
	}
	if measured == 0 {
		return errors.New("nothing was measured")
	}
	regrets := table.Regrets()
	fmt.Fprintf(out, "\n%s\n", sheet(&table, regrets).Markdown())
	fmt.Fprint(out, "Time lost, also called regret, is how much longer an epoch takes than with the fastest setting: 25 % is a quarter longer.\n\n")

	best := regrets[0].Setting
	took := table.Time("", best)
	var rivals []string
	for _, r := range regrets[1:] {
		if !table.Time("", r.Setting).Differs(took) {
			rivals = append(rivals, r.Setting.String())
		}
	}
	i := slices.IndexFunc(all, func(c candidate) bool { return c.Setting == best })
	fastest, slowest := slices.Min(all[i].times), slices.Max(all[i].times)
	switch {
	case len(rivals) > 0 && took.Rounds < 2:
		_, err := fmt.Fprintf(out, "Too early to tell: one round of %v says nothing of the noise. Leave -rounds at 5 or more.\n", best)
		return err
	case len(rivals) > 0 && slowest > (1+noisy)*fastest:
		_, err := fmt.Fprintf(out, "Too noisy to tell: rounds of the same setting, %v, lie between %s and %s samples/s, and these cannot be told from it: %s.\n"+
			"Let the machine do nothing else, and give more -samples or -rounds.\n",
			best, analysis.Digits(1/slowest), analysis.Digits(1/fastest), strings.Join(rivals, "; "))
		return err
	}
	fmt.Fprintf(out, "The fastest is %v, %v samples/s.\n", best, took.Inverse())
	if len(rivals) > 0 {
		fmt.Fprintf(out, "No clear difference to it: %s.\n", strings.Join(rivals, "; "))
	}
	_, err := fmt.Fprintf(out, "\nl, err := loader.New(ds, loader.Workers(%d), loader.BatchSize(%d))\n", best.Workers, best.Batch)
	return err
}

// sheet returns the table of all settings, the best first.
func sheet(table *analysis.Table, regrets []analysis.AverageRegret) analysis.Sheet {
	s := analysis.Sheet{Head: []string{"batch", "workers", "samples/s", "time lost", "rounds"}}
	for _, r := range regrets {
		time := table.Time("", r.Setting)
		s.Rows = append(s.Rows, []string{fmt.Sprint(r.Batch), fmt.Sprint(r.Workers), time.Inverse().String(), analysis.Percent(r.Regret), fmt.Sprint(time.Rounds)})
	}
	return s
}
