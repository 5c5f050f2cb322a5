// Package figures writes numbers as people read them: bytes in the unit that
// fits, and counts with the word for one or for several.
package figures

import (
	"math"
	"strconv"
)

// Bytes is a number of bytes in the largest binary unit of which there is at
// least one, with one decimal place: "288 B", "73.5 MiB", "2 GiB".
func Bytes(n int64) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	x := float64(n)
	unit := ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		x /= 1024
		if math.Abs(x) < 1023.95 { // which would read as 1024
			break
		}
	}
	return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) + " " + unit
}

// Count is n with one where n is 1 and several elsewhere: "1 slab", "0 slabs".
func Count[T int | int64](n T, one, several string) string {
	word := several
	if n == 1 {
		word = one
	}
	return strconv.FormatInt(int64(n), 10) + " " + word
}
