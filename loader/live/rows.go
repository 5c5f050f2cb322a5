package live

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A row is a line of a report in a terminal.
type row struct {
	text string
	rank int // the lower, the more important
}

// What lines tell, the most important first.
const (
	rankName = iota
	rankVerdict
	rankRate
	rankWaits
	rankTuning
	rankStages
	rankCrowd
	rankWorker
	rankSlow
)

// mostWorking and mostSlow are the numbers of goroutines, and of slow samples, that a
// terminal shows of a loader.
const mostWorking, mostSlow = 8, 3

// fitting is the reports in at most so many lines. Slow samples are left out first, then
// what workers do, then what is least important.
func fitting(reports []report, most, columns int) []row {
	working, slow := mostWorking, mostSlow
	for {
		var all []row
		for _, r := range reports {
			all = append(all, full(r, working, slow, columns)...)
		}
		switch {
		case len(all) <= most:
			return all
		case slow > 0:
			slow--
		case working > 0:
			working--
		default:
			return important(all, max(most, 0))
		}
	}
}

// important leaves out what is least important, so that there are at most so many lines.
func important(all []row, most int) []row {
	for len(all) > most {
		least := len(all) - 1
		for i := least; i >= 0; i-- {
			if all[i].rank > all[least].rank {
				least = i
			}
		}
		all = slices.Delete(all, least, least+1)
	}
	return all
}

// full is a report in some lines, with at most so many goroutines and slow samples.
// Sentences are wrapped to the columns.
func full(r report, working, slow, columns int) (lines []row) {
	add := func(rank int, format string, args ...any) {
		lines = append(lines, row{fmt.Sprintf(format, args...), rank})
	}
	state := "for"
	if r.Closed {
		state = "closed after"
	}
	add(rankName, "\x1b[1m%s\x1b[0m  %s %s  %s", plain(r.Name), state, seconds(r.Seconds), spark(r.History))
	add(rankRate, "%s samples/s  %s in %s, %s dropped", number(r.Recent.Samples), count(r.Samples, "sample", "samples"), count(r.Batches, "batch", "batches"), thousands(r.Dropped))
	add(rankWaits, "loop waits %s  workers busy %s  %d of %d batches ready", percent(r.Recent.Wait), percent(r.Recent.Busy), r.Ready, r.Slabs)
	if len(r.Stages) > 0 {
		var stages []string
		for _, s := range r.Stages {
			stages = append(stages, plain(s.Name)+" "+percent(s.Share))
		}
		add(rankStages, "%s", strings.Join(stages, "  "))
	}
	c := shown(r.Working)
	for _, a := range c.Rows[:min(len(c.Rows), working)] {
		add(rankWorker, "  %s", a)
	}
	switch more := len(r.Working) - working; {
	case more > 0 && working > 0:
		add(rankCrowd, "  and %d more; %s", more, c.Summary)
	case more > 0 && c.Summary != "":
		add(rankCrowd, "  %s", c.Summary)
	}
	for _, s := range r.Slowest[:min(len(r.Slowest), slow)] {
		add(rankSlow, "  slow: %s %s %s", plain(title(s.Index, s.Name)), seconds(s.Took), plain(s.Stage))
	}
	for _, text := range wrapped(clean(r.Verdict), columns) {
		add(rankVerdict, "%s", text)
	}
	if r.Tuning != "" {
		for _, text := range wrapped("Auto: "+clean(r.Tuning), columns) {
			add(rankTuning, "%s", text)
		}
	}
	return lines
}

// widest is the width to which sentences are wrapped in wide terminals.
const widest = 79

// wrapped breaks a sentence into lines, which have at most so many columns unless a word
// has more.
func wrapped(sentence string, columns int) []string {
	columns = min(columns, widest)
	lines, column := []string{""}, 0
	for word := range strings.FieldsSeq(sentence) {
		n, last := utf8.RuneCountInString(word), &lines[len(lines)-1]
		switch {
		case column == 0:
			*last, column = word, n
		case column+1+n > columns:
			lines, column = append(lines, word), n
		default:
			*last += " " + word
			column += 1 + n
		}
	}
	return lines
}

// String is what a goroutine does, in one line.
func (a activity) String() string {
	who := "loop"
	if a.Worker >= 0 {
		who = fmt.Sprintf("worker %d", a.Worker)
	}
	if a.Doing == "" {
		return fmt.Sprintf("%-10s %8s  %s", who, "", pause)
	}
	text := fmt.Sprintf("%-10s %8s  ", who, seconds(a.For))
	if a.Index < 0 {
		return text + a.Doing
	}
	if a.Stage != "" {
		text += plain(a.Stage) + "  "
	}
	return text + plain(title(a.Index, a.Sample))
}

// spark is the samples per second of the last moments, the highest one as a full block.
func spark(history []moment) string {
	history = history[max(0, len(history)-30):]
	top := peak(history)
	var b strings.Builder
	for _, m := range history {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[int(7*m.Samples/max(top, 1e-9)+0.5)])
	}
	return b.String()
}
