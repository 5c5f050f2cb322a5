package loader

import "testing"

func TestDefaultSlabsAreBoundedInBytes(t *testing.T) {
	for _, test := range []struct {
		options []Option
		bytes   int
		want    int
	}{
		{[]Option{Workers(64)}, 128 << 20, 16},
		{[]Option{Workers(64)}, 4 << 30, 3},
		{[]Option{Workers(64)}, 0, 129},
		{[]Option{Workers(64), Prefetch(2)}, 128 << 20, 129}, // said is said
	} {
		c := newConfig(test.options)
		if got := c.slabs(test.bytes); got != test.want {
			t.Errorf("%d bytes per slab: %d slabs, want %d", test.bytes, got, test.want)
		}
	}
}
