// Package figures writes for people: bytes with a fitting unit, counts with a noun, durations of few digits, what others
// say in one line, and steps as the calls that made them.
package figures

import (
	"math"
	"strconv"
	"time"
)

// Bytes formats a number of bytes in the largest binary unit that gives 1 or more, with
// at most one decimal place: "288 B", "73.5 MiB", "2 GiB".
func Bytes(n int64) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	x := float64(n)
	unit := ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		x /= 1024
		if math.Abs(x) < 1023.95 { // more would be printed as 1024
			break
		}
	}
	return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) + " " + unit
}

// Count is n and a noun: one if n is 1, and several otherwise: "1 slab", "0 slabs".
func Count[T int | int64](n T, one, several string) string {
	word := several
	if n == 1 {
		word = one
	}
	return strconv.FormatInt(int64(n), 10) + " " + word
}

// Round rounds a duration to four digits at most, for printing: 1.234567s becomes 1.235s.
func Round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Pixels formats the size of an image. All messages have this order, which is that of arguments such as
// transform.Resize([2]int{h, w}).
func Pixels(w, h int) string {
	return strconv.Itoa(h) + "×" + strconv.Itoa(w) + " pixels (height×width)"
}
