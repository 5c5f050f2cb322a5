// Package parquet compares how penstock and arrow-go read images from Parquet files in an
// order that is not that of the file: see README.md. It is a module of its own and not in
// go.work, so that the versions that arrow-go needs do not affect the others.
package parquet

// A side reads the rows of a file. What it gives is valid until the next call.
type side interface {
	// row reads one row, and nothing that it has kept from before.
	row(i int) (image []byte, label int64, err error)
	// block reads the rows from begin to end, and calls give with each of them in the
	// order of the numbers, which count from begin.
	block(begin, end int, order []int, give func(image []byte, label int64)) error
	close() error
}

// The columns that are read.
const (
	imageColumn = "image.bytes"
	labelColumn = "label"
)
