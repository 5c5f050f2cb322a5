package dataset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Rename gives fields of ds new names: names maps old names to new ones. A name
// that ds does not have is an error. Use it before [Zip] where two datasets
// have a field of the same name.
func Rename(ds Dataset, names map[string]string) (Dataset, error) {
	if err := given("Rename", ds); err != nil {
		return nil, err
	}
	before := ds.Spec()
	r := &renamed{Wrap{ds}, slices.Clone(before)}
	var errs []error
	for _, old := range slices.Sorted(maps.Keys(names)) {
		k := before.Index(old)
		if k < 0 {
			errs = append(errs, fmt.Errorf("dataset: Rename: no field %q: the dataset has %v", old, before))
			continue
		}
		r.spec[k].Name = names[old]
		for i, f := range before {
			if f.Of == old {
				r.spec[i].Of = names[old]
			}
		}
	}
	if err := errors.Join(append(errs, r.spec.Validate())...); err != nil {
		return nil, err
	}
	return r, nil
}

// renamed uses the Readers of the underlying dataset, because they do not know names.
type renamed struct {
	Wrap
	spec Spec
}

func (r *renamed) Spec() Spec { return r.spec }
