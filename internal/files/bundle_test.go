package files_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/hostile"
)

// bundle has the files "one", "", "three" and "one" again.
func bundle() []byte {
	var d files.Distinct
	d.Set([]int{7, 8, 9, 7})
	for _, n := range []int64{3, 0, 5} {
		d.Add(n)
	}
	var data []byte
	contents, err := d.Begin(func(n int) []byte { data = make([]byte, n); return data })
	if err != nil {
		panic(err)
	}
	copy(contents, "onethree")
	return data
}

func TestABundleHasItsFiles(t *testing.T) {
	c, err := files.ParseBundle(bundle())
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 4 {
		t.Fatalf("%d files, want 4", c.Len())
	}
	for k, want := range []string{"one", "", "three", "one"} {
		if got := c.File(k); string(got) != want || cap(got) != len(want) {
			t.Errorf("file %d is %q with room for %d", k, got, cap(got))
		}
	}
	if (files.Bundle{}).Len() != 0 {
		t.Error("the zero value has files")
	}
}

func TestDamagedBundlesAreErrors(t *testing.T) {
	whole := bundle()
	for n := range len(whole) {
		if _, err := files.ParseBundle(whole[:n]); err == nil {
			t.Errorf("the first %d bytes are a record", n)
		}
	}
	change := func(at int, v uint64) []byte {
		data := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(data[at:], v)
		return data
	}
	for name, data := range map[string][]byte{
		"signature": append([]byte("\x89photo\r\n"), whole[8:]...),
		"no frames": change(8, 0), "frames": change(8, 1<<60), "frames that overflow": change(8, 1<<63+4),
		"offset": change(16, 1<<40), "offset in the table": change(16, 20), "length": change(24, 9), "length that overflows": change(24, ^uint64(0)),
	} {
		if _, err := files.ParseBundle(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(bundle())
	f.Fuzz(func(t *testing.T, data []byte) {
		hostile.Bounded(t, len(data), 0, func() {
			c, err := files.ParseBundle(data)
			if err != nil {
				return
			}
			for k := range c.Len() {
				_ = len(c.File(k))
			}
		})
	})
}

// TestBundlesOfMoreThanTheLimitAreErrors, before anything is allocated: the sizes overflow no int of 32 bits.
func TestBundlesOfMoreThanTheLimitAreErrors(t *testing.T) {
	var d files.Distinct
	for _, size := range []int64{files.MaxBundle/8 + 1, 3 * 178_956_970, math.MaxInt32, 1 << 50} {
		frames := 1 + int(files.MaxBundle/size)
		many := make([]int, frames)
		for k := range many {
			many[k] = k
		}
		d.Set(many)
		for range many {
			d.Add(size)
		}
		_, err := d.Begin(func(n int) []byte {
			t.Errorf("%d bytes are allocated", n)
			return make([]byte, 1<<10)
		})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the %d frames of a clip have", frames)) {
			t.Errorf("%d frames of %d bytes: error %v", frames, size, err)
		}
	}
}
