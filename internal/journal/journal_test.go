package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/journal"
)

const head = "test 1 abc"

// continued opens the log at path, appends the records from the next one on, and gives it its name.
func continued(t *testing.T, path string, records []string) (kept int) {
	t.Helper()
	l, err := journal.Open(t.Context(), path, head, nil, func(n journal.Note) bool {
		if n.Text != fmt.Sprint(kept) || n.Bytes != int64(len(records[kept])) {
			t.Errorf("note %d: %+v", kept, n)
			return false
		}
		kept++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range records[kept:] {
		if _, err := l.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
		l.Note("%d", kept+k)
	}
	if err := errors.Join(l.Flush(), l.Finish(path)); err != nil {
		t.Fatal(err)
	}
	return kept
}

// A kill, or a crash of the machine, may leave any beginning of the two files.
func TestALogContinuesAfterWhatIsWhole(t *testing.T) {
	records := []string{"first", "", "the third", strings.Repeat("long", 20), "last"}
	whole := strings.Join(records, "")
	path := filepath.Join(t.TempDir(), "log")
	l, err := journal.Open(t.Context(), path, head, nil, func(journal.Note) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range records {
		if _, err := l.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
		l.Note("%d", k)
	}
	if err := errors.Join(l.Flush(), l.Close()); err != nil {
		t.Fatal(err)
	}
	part, err := os.ReadFile(path + ".part")
	lines, err2 := os.ReadFile(path + ".journal")
	if err := errors.Join(err, err2); err != nil || string(part) != whole {
		t.Fatalf("the part is %q, %v", part, err)
	}
	first := bytes.IndexByte(lines, '\n') + 1
	seen := map[int]bool{}
	for _, cut := range []struct{ part, journal []byte }{{part, lines}, {part[:0], lines}} {
		for n := range len(cut.part) + len(cut.journal) - first {
			p, j := cut.part, cut.journal
			if n < len(p) {
				p = p[:n]
			} else {
				j = j[:first+n-len(p)]
			}
			path := filepath.Join(t.TempDir(), "log")
			if err := errors.Join(os.WriteFile(path+".part", p, 0o600), os.WriteFile(path+".journal", j, 0o600)); err != nil {
				t.Fatal(err)
			}
			seen[continued(t, path, records)] = true
			if got, err := os.ReadFile(path); string(got) != whole {
				t.Fatalf("%d and %d bytes were left: %q, %v", len(p), len(j), got, err)
			}
			if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
				t.Fatalf("left over: %v", left)
			}
		}
	}
	if len(seen) < len(records) {
		t.Errorf("the log was continued after %v records, want after each", seen)
	}
	damaged := bytes.Clone(part)
	damaged[7] ^= 1 // in the third record
	if err := errors.Join(os.WriteFile(path+".part", damaged, 0o600), os.WriteFile(path+".journal", lines, 0o600)); err != nil {
		t.Fatal(err)
	}
	if kept := continued(t, path, records); kept != 2 {
		t.Errorf("%d records before the damage, want 2", kept)
	}
}
