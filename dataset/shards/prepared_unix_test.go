//go:build unix

package shards_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/shards"
)

// Others may write to the folder of the shards, for example to /tmp.
func TestNoLinkNextToShardsIsWrittenThrough(t *testing.T) {
	for _, name := range []string{"p-%03d.tar.part", "p-%03d.tar.journal", "p-%03d.tar.journal.new"} {
		dir := t.TempDir()
		precious := filepath.Join(dir, "precious")
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for kind, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
			if err := link(precious, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			err := shards.WriteTar(t.Context(), dir+"/p-%03d.tar", photosLike(3), photoColumns)
			if err == nil || !strings.Contains(err.Error(), "p-%03d.tar") {
				t.Errorf("%s, a %s link: error %v", name, kind, err)
			}
			if text, err := os.ReadFile(precious); string(text) != "precious" || err != nil {
				t.Fatalf("%s, a %s link: the file behind it has %q, %v", name, kind, text, err)
			}
			for _, left := range []string{name, "p-%03d.tar.part", "p-%03d.tar.journal"} {
				_ = os.Remove(filepath.Join(dir, left))
			}
		}
	}
}
