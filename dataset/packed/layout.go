package packed

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

// A layout says where samples are in a file.
type layout struct {
	fixed  int64   // bytes of a sample's fields that are not ragged
	ragged int     // how many fields are ragged
	ends   []int64 // of the ragged fields of all samples: bytes of ragged fields up to there
}

// layoutOf is the layout of a file without samples.
func layoutOf(spec dataset.Spec) (l layout, err error) {
	if err := spec.Validate(); err != nil {
		return l, err
	}
	for _, f := range spec {
		if f.Ragged {
			l.ragged++
		} else {
			l.fixed += int64(f.Bytes())
		}
	}
	return l, nil
}

// recordSize is the size of a sample in bytes. No field may be ragged.
func recordSize(spec dataset.Spec) (int64, error) {
	l, err := layoutOf(spec)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, f := range spec {
		if f.Ragged {
			errs = append(errs, fmt.Errorf("field %q is ragged: want a fixed size", f.Name))
		}
	}
	return l.fixed, errors.Join(errs...)
}

// end is where the k-th ragged field of all samples ends, counting from 1.
func (l *layout) end(k int) int64 {
	if k == 0 {
		return 0
	}
	return l.ends[k-1]
}

// start is the offset of sample i, and of the end of the last one if i is their number.
func (l *layout) start(i int) int64 { return int64(i)*l.fixed + l.end(i*l.ragged) }

// size is the size of the j-th ragged field of sample i, counting from 0.
func (l *layout) size(i, j int) int64 {
	k := i*l.ragged + j
	return l.end(k+1) - l.end(k)
}

// add adds the size of the next ragged field.
func (l *layout) add(size int) { l.ends = append(l.ends, l.end(len(l.ends))+int64(size)) }
