package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/penstock-go/penstock/loader"
)

// A damage collects the photos that could not be loaded. Settings are compared by the other photos,
// so a bad file in the folder does not stop the sweep.
type damage struct {
	photos map[int]*loader.SampleError // by their index in the folder
	more   bool                        // there are more, which a loader did not list
}

// note adds the samples that a loader left out. indices maps its samples to indices in the folder.
func (d *damage) note(s loader.Stats, indices []int) {
	if d.photos == nil {
		d.photos = map[int]*loader.SampleError{}
	}
	for _, f := range s.Failures {
		d.photos[indices[f.Index]] = f
	}
	d.more = d.more || s.Dropped > int64(len(s.Failures))
}

// tell prints how many photos were left out, and names the first few.
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
