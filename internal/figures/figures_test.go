package figures_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

func TestBytesAreInTheUnitThatFits(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1100: "1.1 KiB", 1025: "1 KiB",
		1<<20 - 1: "1 MiB", 1023 << 10: "1023 KiB", 77_070_336: "73.5 MiB", 2 << 30: "2 GiB", 5 << 39: "2.5 TiB",
		3 << 50: "3 PiB", math.MaxInt64: "8 EiB", -3: "-3 B", -2048: "-2 KiB", math.MinInt64: "-8 EiB",
	} {
		if got := figures.Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestOneIsSingular(t *testing.T) {
	for n, want := range map[int]string{0: "0 misses", 1: "1 miss", 2: "2 misses", -1: "-1 misses"} {
		if got := figures.Count(n, "miss", "misses"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDurationsHaveFourDigitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 9999: "9.999µs", 12345: "12.35µs", 1234567891: "1.235s", 90 * time.Second: "1m30s",
	} {
		if got := figures.Round(d).String(); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

func Example() {
	fmt.Println(figures.Count(3, "slab", "slabs"), "of", figures.Bytes(1536))
	// Output: 3 slabs of 1.5 KiB
}
