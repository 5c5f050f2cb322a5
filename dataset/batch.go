package dataset

// A Batch is some samples with the fields of a spec. A batch of package loader is one.
type Batch interface {
	// Spec describes the fields.
	Spec() Spec
	// Bytes is a field of all samples, one after the other, in the machine's byte order.
	Bytes(field string) []byte
	// Offsets says where the samples of a ragged field begin and end, in elements: one
	// number more than there are samples.
	Offsets(field string) []int
}
