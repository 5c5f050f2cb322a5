package dataset

import (
	"fmt"
	"slices"
)

// Select is ds with only the named fields, in that order. An unknown name is an
// error. The other fields are still read, but take no room in a batch.
func Select(ds Dataset, fields ...string) (Dataset, error) {
	if err := given("Select", ds); err != nil {
		return nil, err
	}
	all := ds.Spec()
	spec := make(Spec, len(fields))
	for k, name := range fields {
		at := all.Index(name)
		if at < 0 {
			return nil, fmt.Errorf("dataset: Select: no field %q: the dataset has %v", name, all)
		}
		if spec[k] = all[at]; !slices.Contains(fields, spec[k].Of) {
			spec[k].Of = ""
		}
	}
	return newMapped(ds, spec, nil)
}
