package packed

import (
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/journal"
)

// Sizes in a journal that add up to few bytes only because an int overflows are not believed.
func TestANoteThatIsWrongIsNotRestored(t *testing.T) {
	spec := dataset.Spec{{Name: "n", Dtype: dataset.Float64}, {Name: "a", Dtype: dataset.Uint8, Ragged: true}, {Name: "b", Dtype: dataset.Uint8, Ragged: true}}
	w, err := Create(t.Context(), filepath.Join(t.TempDir(), "x.packed"), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, text := range []string{
		"0 9223372036854775807 9223372036854775807", // with the eight bytes of n: 6 modulo 2^64
		"0 2147483647 2147483647",                   // the same for ints of 32 bits
		"0 9223372036854775807 1",
		"0 6 9223372036854775802",
		"0 -1 1", "0 1 0", "0 0", "-1 0 0", "9223372036854775807 0 0", "x 0 0",
	} {
		if w.restore(journal.Note{Bytes: 6, Text: text}) || w.restore(journal.Note{Bytes: 8, Text: text}) || w.Len() != 0 || w.Next() != 0 {
			t.Errorf("%q is restored", text)
		}
	}
	if !w.restore(journal.Note{Bytes: 14, Text: "4 2 4"}) || w.Len() != 1 || w.Next() != 5 {
		t.Errorf("%d samples, next %d", w.Len(), w.Next())
	}
}
