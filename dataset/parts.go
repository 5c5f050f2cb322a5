package dataset

import (
	"context"
	"io"
)

// A PartReader is a [Reader] that need not read an encoded file as a whole, because
// its user may need only a part: a crop of a packed photo needs only its rows. The Readers
// of Subset, Concat, Zip, Select and Rename pass this on.
type PartReader interface {
	Reader
	// PlaceParts is Place, but it may leave out field f, which is ragged uint8. Then it
	// returns the field's length n in bytes, and parts, which reads them. parts is valid
	// until the next sample is placed, and nil if the field has been placed.
	PlaceParts(ctx context.Context, i, f int, dst Slot) (n int, parts io.ReaderAt, err error)
}
