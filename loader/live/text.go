package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A name of more characters than longestName loses its middle. This many of its last ones
// stay, because names of files differ there.
const longestName, lastOfName = 120, 80

// clean makes a text safe to show: without control characters, which could steer a
// terminal, and without those that change the direction of text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// plain makes a name of the dataset safe to show, and shortens it if it is too long.
func plain(name string) string {
	if len(name) <= longestName { // in bytes, of which characters have one at least
		return clean(name)
	}
	runes := []rune(clean(name))
	if len(runes) <= longestName {
		return string(runes)
	}
	return string(runes[:longestName-lastOfName-1]) + "…" + string(runes[len(runes)-lastOfName:])
}

// number has three digits at least, and no decimal place from 100 on.
func number(x float64) string {
	switch {
	case x >= 99.95 || x == 0:
		return thousands(strconv.FormatFloat(math.Round(x), 'f', -1, 64))
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// seconds is a time with two or three digits.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	unit := time.Duration(1)
	for d/unit >= 1000 && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit).String()
}

// thousands is a whole number with a comma between every three digits.
func thousands(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// noun is one if n is 1, and several otherwise.
func noun(n any, one, several string) string {
	if fmt.Sprint(n) == "1" {
		return one
	}
	return several
}

// count is n and a noun.
func count(n any, one, several string) string { return thousands(n) + " " + noun(n, one, several) }

// A crowd is what goroutines do: a summary of all workers, and some goroutines.
type crowd struct {
	Summary string
	Rows    []activity
}

// pause is what a worker does that has no call at the moment.
const pause = "between samples"

// several is what more than one worker does.
var several = strings.NewReplacer(" a sample", " samples", " a batch", " batches", " a failure", " failures", " a hook", " hooks",
	" a slab", " slabs", " its Reader", " their Readers")

// doing says what n workers do.
func (a activity) doing(n int) string {
	switch {
	case a.Stage != "":
		return fmt.Sprintf("%d in %s", n, plain(a.Stage))
	case n > 1:
		return fmt.Sprintf("%d %s", n, several.Replace(cmp.Or(a.Doing, pause)))
	}
	return fmt.Sprintf("%d %s", n, cmp.Or(a.Doing, pause))
}

// rows is the number of goroutines that are shown.
const rows = 16

// kind is what the goroutine does, without the sample.
func (a activity) kind() string { return cmp.Or(a.Stage, a.Doing) }

// shown selects what is shown of what goroutines do: everything, or the calls that last
// longest.
func shown(working []activity) crowd {
	var c crowd
	workers, counts := 0, map[string]int{}
	var kinds []activity // one for each
	for _, a := range working {
		if a.Worker < 0 {
			continue
		}
		workers++
		if counts[a.kind()] == 0 {
			kinds = append(kinds, a)
		}
		counts[a.kind()]++
	}
	slices.SortStableFunc(kinds, func(a, b activity) int { return cmp.Compare(counts[b.kind()], counts[a.kind()]) })
	var texts []string
	for _, a := range kinds {
		texts = append(texts, a.doing(counts[a.kind()]))
	}
	if len(texts) > 5 {
		texts = append(texts[:5], "and others")
	}
	if workers > 0 {
		c.Summary = count(workers, "worker", "workers") + ": " + strings.Join(texts, ", ")
	}
	c.Rows = slices.Clone(working)
	if len(c.Rows) > rows {
		c.Rows = slices.DeleteFunc(c.Rows, func(a activity) bool { return a.Doing == "" })
	}
	if len(c.Rows) > rows {
		slices.SortStableFunc(c.Rows, func(a, b activity) int { return cmp.Compare(urgency(b), urgency(a)) })
		c.Rows = c.Rows[:rows]
	}
	return c
}

// urgency orders goroutines: first the loop, then calls by their time, then those that wait.
func urgency(a activity) float64 {
	switch {
	case a.Worker < 0:
		return math.Inf(1)
	case !a.calls:
		return -1
	}
	return a.For
}
