//go:build unix

package packed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/internal/datatest"
)

// Others may write to the folder of a Writer's file, for example to /tmp.
func TestNoLinkNextToAFileIsWrittenThrough(t *testing.T) {
	ds := datatest.Pairs(t)
	create := func(dir string) error {
		w, err := packed.Create(t.Context(), filepath.Join(dir, "pairs"), ds.Spec())
		if err == nil {
			err = w.Close()
		}
		return err
	}
	for name, write := range map[string]func(dir string) error{
		"pairs.part":    create,
		"pairs.journal": create,
		"00000000.raw":  func(dir string) error { return packed.WriteItems(t.Context(), dir, ds) },
	} {
		dir := t.TempDir()
		precious := filepath.Join(dir, "precious")
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for link, make := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
			if err := make(precious, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if err := write(dir); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, a %s link: error %v", name, link, err)
			}
			if text, err := os.ReadFile(precious); string(text) != "precious" || err != nil {
				t.Fatalf("%s, a %s link: the file behind it has %q, %v", name, link, text, err)
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, "pairs.part"))
		}
	}
}
