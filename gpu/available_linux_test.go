package gpu

import "testing"

func TestAvailableMemoryIsReadOrUnknown(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:  100 kB\nMemAvailable:   12 kB\nX: 1 kB\n": 12 << 10,
		"":                                     -1,
		"MemAvailable: many kB\n":              -1,
		"MemAvailable: 12\n":                   -1,
		"MemAvailable: 9223372036854775807 kB": -1,
	} {
		n, known := parseAvailable([]byte(text))
		if known != (want >= 0) || known && n != want {
			t.Errorf("%q: got %d, %v, want %d", text, n, known, want)
		}
	}
	if n, known := available(); !known || n <= 0 {
		t.Errorf("this system: got %d, %v", n, known)
	}
}
