package slots

import (
	"fmt"
	"reflect"

	"github.com/penstock-go/penstock/internal/dense"
)

// Columns are the fields of a whole batch, and the draw of the batch.
type Columns struct {
	values []Values
	rows   int
	draw   *Draw
}

// Values is one field of all samples of a batch.
type Values struct {
	Field *Field
	Bytes []byte
	Ends  []int // of a ragged field, in elements: sample r is [Ends[r], Ends[r+1])
}

// NewColumns makes columns of the given values, without copying them.
func NewColumns(values []Values, rows int, draw *Draw) Columns { return Columns{values, rows, draw} }

// Rows is the number of samples.
func (c Columns) Rows() int { return c.rows }

// Values is the field f.
func (c Columns) Values(f int) *Values { return &c.values[f] }

// Draw is the draw of the batch.
func (c Columns) Draw() *Draw { return c.draw }

// ColumnOf is the values of field f. It panics if T is not the field's dtype.
func ColumnOf[T dense.Element](c Columns, f int) []T {
	v := &c.values[f]
	if want := reflect.TypeFor[T](); v.Field.dtype != want {
		panic(fmt.Sprintf("dataset: field %q holds %v, not %v", v.Field.name, v.Field.dtype, want))
	}
	return dense.Values[T](v.Bytes)
}
