package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/penstock-go/penstock/loader"
)

// A damage is which photos could not be loaded: a setting is judged by those that
// can, and one bad file in a folder costs itself alone.
type damage struct {
	photos map[int]*loader.SampleError // by their place in the folder
	more   bool                        // a loader did not list all of them
}

// note adds what a loader left out. Indices are the places in the folder of the
// samples that it had.
func (d *damage) note(s loader.Stats, indices []int) {
	if d.photos == nil {
		d.photos = map[int]*loader.SampleError{}
	}
	for _, f := range s.Failures {
		d.photos[indices[f.Index]] = f
	}
	d.more = d.more || s.Dropped > int64(len(s.Failures))
}

// tell says how many photos were left out and names the first few.
func (d *damage) tell(out io.Writer) {
	const most = 5
	n := len(d.photos)
	if n == 0 {
		return
	}
	count := fmt.Sprint(n)
	if d.more {
		count += " or more"
	}
	fmt.Fprintf(out, "\nPhotos that could not be read and were left out: %s\n", count)
	for _, place := range slices.Sorted(maps.Keys(d.photos))[:min(most, n)] {
		f := d.photos[place]
		fmt.Fprintf(out, "  %s: %v\n", cmp.Or(f.Name, fmt.Sprintf("photo %d of the folder", place)), f.Err)
	}
	if n > most {
		fmt.Fprintf(out, "  and %d more\n", n-most)
	}
}
