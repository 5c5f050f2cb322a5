package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
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

// After Restart the part is empty, and its journal is all that knows of the parts before it.
func TestALogOfEarlierPartsIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := journal.Open(t.Context(), path, head, nil, func(journal.Note) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	named := func() error { return os.Rename(path+".part", path) }
	if err := errors.Join(l.Restart([]string{"first"}, named), l.Close()); err != nil {
		t.Fatal(err)
	}
	if l, err := journal.Open(t.Context(), path, "test 1 other", nil, func(journal.Note) bool { return true }); err == nil {
		t.Errorf("the log is replaced: %v", l.Close())
	}
	var got []string
	l, err = journal.Open(t.Context(), path, head, nil, func(n journal.Note) bool {
		got = append(got, n.Text)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil || !slices.Equal(got, []string{"first"}) {
		t.Errorf("got notes %q, error %v", got, err)
	}
}

func sum(text string) uint32 { return crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)) }

func line(text string) string { return fmt.Sprintf("%08x %s\n", sum(text), text) }

// Whoever can write to the folder can also give a line the right checksum.
func TestALineThatIsWrongEndsTheLog(t *testing.T) {
	right := line(fmt.Sprintf("5 %08x right", sum("bytes")))
	for _, text := range []string{
		"", "0", "0 0", "x 0 note", "0 x note", "-1 0 note", "-9223372036854775808 0 note", "9223372036854775807 0 note",
		"9223372036854775808 0 note", "0 100000000 note", "6 0 note", "5 0 note", "0 1 note", "0 0 " + strings.Repeat("long", 64<<10),
	} {
		path := filepath.Join(t.TempDir(), "log")
		err := errors.Join(os.WriteFile(path+".part", []byte("bytesbytes"), 0o600),
			os.WriteFile(path+".journal", []byte(line(head)+right+line(text)+right), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		var got []journal.Note
		l, err := journal.Open(t.Context(), path, head, nil, func(n journal.Note) bool {
			got = append(got, n)
			return true
		})
		if err != nil {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		if len(got) != 1 || l.Size() != 5 {
			t.Errorf("%.40q: notes %v of %d bytes, want one of 5", text, got, l.Size())
		}
		err = l.Close()
		if info, err2 := os.Stat(path + ".part"); errors.Join(err, err2) != nil || info.Size() != 5 {
			t.Errorf("%.40q: the part is %v, error %v", text, info, errors.Join(err, err2))
		}
	}
}

// A note without bytes needs no part, but the log that ends with it does.
func TestALogCanBeginWithAWrongNoteWithoutBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path+".journal", []byte(line(head)+line("0 00000000 wrong")), 0o600); err != nil {
		t.Fatal(err)
	}
	readied := 0
	l, err := journal.Open(t.Context(), path, head, func() error { readied++; return nil }, func(journal.Note) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Write([]byte("bytes"))
	l.Note("0")
	if err := errors.Join(err, l.Flush(), l.Close()); err != nil || readied != 1 {
		t.Fatalf("ready was called %d times, want once, error %v", readied, err)
	}
	if kept := continued(t, path, []string{"bytes", "more"}); kept != 1 {
		t.Errorf("%d records were kept, want 1", kept)
	}
}
