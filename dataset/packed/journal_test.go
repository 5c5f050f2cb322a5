package packed_test

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/journal"
)

// Sizes in a journal that add up to few bytes only because an int overflows are not believed.
func TestAJournalOfSizesThatOverflowIsCutThere(t *testing.T) {
	spec := dataset.Spec{{Name: "n", Dtype: dataset.Float64}, {Name: "a", Dtype: dataset.Uint8, Ragged: true}, {Name: "b", Dtype: dataset.Uint8, Ragged: true}}
	name := filepath.Join(t.TempDir(), "x.packed")
	for _, sizes := range []string{
		"9223372036854775807 9223372036854775807", // with the eight bytes of n: 6 modulo 2^64
		"2147483647 2147483647",                   // the same for ints of 32 bits
		"9223372036854775807 1",
		"6 9223372036854775802",
	} {
		w, err := packed.Create(t.Context(), name, spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name + ".journal")
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n")
		body := []byte("sixbyt")
		entry := journal.Append(nil, "0 %x %s", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), sizes)
		for end, data := range map[string][]byte{".journal": append([]byte(head+"\n"), entry...), ".part": body} {
			if err := os.WriteFile(name+end, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if w, err = packed.Create(t.Context(), name, spec); err != nil {
			t.Fatal(err)
		}
		if w.Len() != 0 || w.Next() != 0 {
			t.Errorf("sizes %s: %d samples, next %d, want none", sizes, w.Len(), w.Next())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
