package hostile_test

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/hostile"
)

// failures counts the errors of a test that Bounded reports.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

var kept []byte // so that what it holds is on the heap

func TestTooMuchIsNoticed(t *testing.T) {
	burn := func(d time.Duration) func() {
		return func() {
			for begun := time.Now(); time.Since(begun) < d; {
			}
		}
	}
	take := func(n int) func() { return func() { kept = make([]byte, n) } }
	calls := 0
	for _, c := range []struct {
		name    string
		input   int
		granted int64
		parse   func()
		want    int
	}{
		{"nothing", 0, 0, func() {}, 0},
		{"memory of the base", 0, 0, take(1 << 19), 0},
		{"too much memory", 0, 0, take(3 << 20), 1},
		{"memory of a larger input", 1 << 16, 0, take(3 << 20), 0},
		{"memory that is granted", 0, 3 << 20, take(3 << 20), 0},
		{"too much memory once", 0, 0, func() {
			if calls++; calls == 1 {
				kept = make([]byte, 8<<20)
			}
		}, 0},
		{"time of the base", 0, 0, burn(time.Millisecond), 0},
	} {
		f := &failures{TB: t}
		hostile.Bounded(f, c.input, c.granted, c.parse)
		if f.n != c.want {
			t.Errorf("%s: %d errors, want %d", c.name, f.n, c.want)
		}
	}
}

func TestTooMuchTimeIsNoticed(t *testing.T) {
	if hostile.Slowdown > 1 {
		t.Skip("the race detector allows too much time to wait for")
	}
	f := &failures{TB: t}
	hostile.Bounded(f, 1000, 1000, func() {
		for begun := hostile.Processor(); begun != 0 && hostile.Processor()-begun < 120*time.Millisecond; {
		}
	})
	if want := min(int(hostile.Processor()), 1); f.n != want {
		t.Errorf("%d errors, want %d", f.n, want)
	}
}
