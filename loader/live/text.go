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

	"github.com/penstock-go/penstock/internal/figures"
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
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
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

func count(n any, one, several string) string {
	if i, ok := n.(int); ok {
		return figures.Count(i, one, several)
	}
	return figures.Count(n.(int64), one, several)
}

// A crowd is what goroutines do: a summary of all of them, and some.
type crowd struct {
	Summary string
	Rows    []activity
}

// rows is the number of goroutines that are shown.
const rows = 16

// shown selects what is shown of what goroutines do: everything, or the calls that last
// longest.
func shown(working []activity) crowd {
	var c crowd
	counts := map[string]int{}
	var doings []string
	for _, a := range working {
		if a.Worker < 0 {
			continue
		}
		doing := cmp.Or(a.Stage, a.Doing, "between calls")
		if counts[doing] == 0 {
			doings = append(doings, doing)
		}
		counts[doing]++
	}
	slices.SortStableFunc(doings, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for i, doing := range doings {
		if i == 5 {
			c.Summary += ", …"
			break
		}
		if i > 0 {
			c.Summary += ", "
		}
		c.Summary += fmt.Sprintf("%d %s", counts[doing], plain(doing))
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
