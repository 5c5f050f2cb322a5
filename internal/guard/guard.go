// Package guard gives tests memory between two pages which must not be accessed, and looks that
// no assembly kernel is left without such a test.
package guard

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// Sides are where memory may be: right after the first forbidden page, or right before the
// second one.
const Sides = 2

// A Fence is memory between two forbidden pages. Any access to them crashes the test. The garbage
// collector does not see pointers in the memory.
type Fence[T any] struct{ sides [Sides][]T }

// New returns a fence around room for that many values. Their size must be a multiple of what
// their alignment is.
func New[T any](tb testing.TB, most int) Fence[T] {
	tb.Helper()
	page, size := os.Getpagesize(), most*int(unsafe.Sizeof(*new(T)))
	m := pages(tb, max(1, (size+page-1)/page)*page)
	var f Fence[T]
	for side, at := range [Sides]int{0, len(m) - size} {
		f.sides[side] = unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(m)), at)), most)
	}
	return f
}

// At returns the n values at a side, which have no room for more. It is the same memory each time.
func (f Fence[T]) At(side, n int) []T {
	s := f.sides[side]
	if side == 0 {
		return s[:n:n]
	}
	return s[len(s)-n:]
}

// At returns n values at a side of a fence of their own.
func At[T any](tb testing.TB, side, n int) []T {
	tb.Helper()
	return New[T](tb, n).At(side, n)
}

// Kernels runs the tests of all kernels in the package's assembly, for any processor. The key of a test
// is the names of its kernels. One without a test is an error, and so is a name without its kernel.
func Kernels(t *testing.T, tests map[string]func(*testing.T)) {
	t.Helper()
	files, err := filepath.Glob("*.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly: ", err)
	}
	text := regexp.MustCompile(`(?m)^TEXT\s+·(\w+)\(SB\)`)
	tested := map[string]bool{} // and whether there is such a kernel
	for _, names := range slices.Sorted(maps.Keys(tests)) {
		for _, name := range strings.Fields(names) {
			tested[name] = false
		}
		t.Run(names, tests[names])
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range text.FindAllSubmatch(source, -1) {
			name := string(m[1])
			if _, ok := tested[name]; !ok {
				t.Errorf("%s: no test that the kernel %s stays within its memory", file, name)
			}
			tested[name] = true
		}
	}
	for name, exists := range tested {
		if !exists {
			t.Errorf("there is no kernel %s", name)
		}
	}
}
