// Package testenv says where tests do not run, and why: under the race detector, where an int has 32 bits, and in
// an emulator. A test says it itself, so that it may be renamed.
package testenv

import (
	"flag"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// OneGoroutine skips a slow test under the race detector, which finds nothing where one goroutine is at work.
func OneGoroutine(t testing.TB) {
	if Race {
		t.Skip("one goroutine is at work, and the race detector makes that slow")
	}
}

// Slow skips a test with -short under the race detector and where an int has 32 bits: it is as slow as it is
// without them, and finds the same.
func Slow(t testing.TB) {
	if testing.Short() && (Race || strconv.IntSize == 32) {
		t.Skip("it is slow, and finds nothing here that it does not find without the race detector on 64 bits")
	}
}

// Whole skips a test in an emulator, where it takes minutes.
func Whole(t testing.TB) {
	if emulated() {
		t.Skip("it takes minutes in an emulator")
	}
}

// emulated reports whether another machine is emulated, which the environment variable PENSTOCK_EMULATED says.
func emulated() bool { return os.Getenv("PENSTOCK_EMULATED") != "" }

// Main runs the tests of a package. In an emulator, where all is slow, it runs only those given: the ones that
// test what depends on the machine. A TestMain returns after it, or exits with its result.
func Main(m *testing.M, tests ...func(*testing.T)) int {
	if emulated() {
		names := make([]string, len(tests))
		for i, test := range tests {
			name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
			names[i] = name[strings.LastIndex(name, ".")+1:]
		}
		flag.Parse()
		if err := flag.Set("test.run", "^("+strings.Join(names, "|")+")$"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
