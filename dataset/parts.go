package dataset

import "context"

// A PartReader is a [Reader] that need not read an encoded file as a whole, because
// its user may need only a part: a crop of a packed photo needs only its rows. Those of
// Subset, Concat, Zip, Select and Rename pass this on. Those of Map and Cached place whole
// files, because the function may read them, and the memory keeps them.
type PartReader interface {
	Reader
	// PlaceParts is Place, but it may leave out field f, which is ragged uint8. Then it
	// returns the field's length n in bytes, and parts, from which the caller reads the
	// bytes that it needs. parts is valid until the next sample is placed. If parts is
	// nil, the field has been placed like the others, and n means nothing.
	PlaceParts(ctx context.Context, i, f int, dst Slot) (n int, parts Parts, err error)
}

// Parts reads parts of an encoded file.
type Parts interface {
	// ReadPart fills to with the file's bytes from offset on. It is an error if the file
	// ends before to is full.
	ReadPart(to []byte, offset int) error
}
