//go:build unix

package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/journal"
)

// Others may write to the folder of a log, for example to /tmp. An empty file does not look like work.
func TestNoLinkInPlaceOfAPartIsWrittenThrough(t *testing.T) {
	for kind, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
		dir := t.TempDir()
		path, precious, empty := filepath.Join(dir, "log"), filepath.Join(dir, "precious"), filepath.Join(dir, "empty")
		err := errors.Join(os.WriteFile(precious, []byte("precious"), 0o600), os.WriteFile(empty, nil, 0o600), link(empty, path+".part"))
		if err != nil {
			t.Fatal(err)
		}
		all := func(journal.Note) bool { return true }
		if _, err := journal.Open(t.Context(), path, head, nil, all); err == nil || !strings.Contains(err.Error(), path+".part") {
			t.Errorf("a %s link before Open: error %v", kind, err)
		}
		if err := os.Remove(path + ".part"); err != nil {
			t.Fatal(err)
		}
		l, err := journal.Open(t.Context(), path, head, nil, all)
		if err != nil {
			t.Fatal(err)
		}
		err = l.Restart(nil, func() error { return errors.Join(os.Rename(path+".part", path), link(precious, path+".part")) })
		if err == nil || !strings.Contains(err.Error(), path+".part") {
			t.Errorf("a %s link before Restart: error %v", kind, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(precious); string(text) != "precious" || err != nil {
			t.Errorf("a %s link: the file behind it has %q, %v", kind, text, err)
		}
	}
}
