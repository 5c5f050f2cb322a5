package ffmpeg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestTheEndOfWhatAProgramSaysIsKept(t *testing.T) {
	var said tail
	for range 1000 {
		fmt.Fprintf(&said, "a line of an error\n")
	}
	fmt.Fprintf(&said, "the \xff last\r\n")
	if s := said.String(); len(said.text) > 2<<10 || !strings.HasPrefix(s, ": ") || !strings.HasSuffix(s, "a line of an error; the ? last") {
		t.Errorf("%d bytes: %.40q…%.40q", len(said.text), s, s[max(0, len(s)-40):])
	}
	if s := new(tail).String(); s != "" {
		t.Errorf("%q", s)
	}
}

// TestOnlyALimitThatAnOptionChangesNamesIt: the error of a program that does not end.
func TestOnlyALimitThatAnOptionChangesNamesIt(t *testing.T) {
	for limit, see := range map[time.Duration]string{0: "", time.Minute: " (see Timeout)"} {
		sleep, err := Find("sleep", limit)
		if err != nil {
			t.Skip(err)
		}
		if limit == 0 && sleep.limit != DefaultLimit {
			t.Errorf("limit %v, want %v", sleep.limit, DefaultLimit)
		}
		sleep.limit = 20 * time.Millisecond
		err = sleep.Run(t.Context(), nil, []string{"1000"}, func(out io.Reader) error { _, err := io.ReadAll(out); return err })
		if want := "sleep: it has not ended within 20ms" + see; err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestOutputsAreReadAtOnce: a program may write them in any order, and an error in reading one ends the others.
func TestOutputsAreReadAtOnce(t *testing.T) {
	sh, err := Find("sh", DefaultLimit)
	if err != nil || Outputs == 1 {
		t.Skip("a program has one output here, or there is no sh")
	}
	var got [3]int
	var uses []func(io.Reader) error
	for k := range got {
		uses = append(uses, func(out io.Reader) error { n, err := io.Copy(io.Discard, out); got[k] = int(n); return err })
	}
	script := "for n in 3 4 1 4 3; do head -c 200000 /dev/zero >&$n; done"
	if err := sh.Run(t.Context(), nil, []string{"-c", script}, uses...); err != nil || got != [3]int{200000, 400000, 400000} || Pipe(0) != "pipe:1" || Pipe(2) != "pipe:4" {
		t.Errorf("%d bytes are read: %v", got, err)
	}
	wrong := errors.New("not this")
	uses[1] = func(io.Reader) error { return wrong }
	if err := sh.Run(t.Context(), nil, []string{"-c", "cat /dev/zero & cat /dev/zero >&4"}, uses...); !errors.Is(err, wrong) || err.Error() != "sh: not this" {
		t.Errorf("error %v, want %v", err, wrong)
	}
	uses[1] = func(io.Reader) error { return io.ErrUnexpectedEOF }
	if err := sh.Run(t.Context(), nil, []string{"-c", "echo why >&2; exit 2"}, uses...); err == nil || err.Error() != "sh: exit status 2: why" {
		t.Errorf("error %v, want that of the program", err)
	}
	if err := sh.Run(t.Context(), nil, []string{"-c", "exit 0"}, uses...); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

// TestASourceIsTheFileOrACopyThatGoes: a program finds the same bytes at its path, and nothing is left.
func TestASourceIsTheFileOrACopyThatGoes(t *testing.T) {
	cat, err := Find("cat", DefaultLimit)
	if err != nil {
		t.Skip(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary)
	content := "a file of some bytes"
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	local, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for kind, c := range map[string]struct {
		file io.ReaderAt
		size int
		copy bool
	}{
		"local":             {local, len(content), false},
		"a part of it":      {local, 6, true},
		"memory":            {strings.NewReader(content), len(content), true},
		"a part of that":    {strings.NewReader(content), 6, true},
		"a file of no byte": {strings.NewReader(""), 0, true},
	} {
		s, err := Hold(c.file, int64(c.size))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if s.temporary != c.copy {
			t.Errorf("%s: a copy: %v", kind, s.temporary)
		}
		for range 2 { // the second program finds what the first one has read
			var got []byte
			if err := cat.Run(t.Context(), s, []string{s.Path()}, func(out io.Reader) (err error) { got, err = io.ReadAll(out); return err }); err != nil || string(got) != content[:c.size] {
				t.Errorf("%s: the program reads %q: %v", kind, got, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := local.Stat(); err != nil {
		t.Errorf("the file itself is closed: %v", err)
	}
	if _, err := Hold(strings.NewReader("short"), 9); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(fmt.Sprint(err), "file ended at byte 5 of 9") {
		t.Errorf("error %v, want that of a short file", err)
	}
	wrong := errors.New("no disk")
	if _, err := Hold(failing{iotest.ErrReader(wrong)}, 9); !errors.Is(err, wrong) {
		t.Errorf("error %v, want %v", err, wrong)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(temporary, "none"))
	t.Setenv("TMP", filepath.Join(temporary, "none"))
	if _, err := Hold(bytes.NewReader(nil), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that of a missing folder", err)
	}
}

// failing fails to read.
type failing struct{ io.Reader }

func (f failing) ReadAt(p []byte, _ int64) (int, error) { return f.Read(p) }
