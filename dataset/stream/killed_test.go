package stream_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

const (
	folderEnv = "PENSTOCK_TEST_STREAM_FOLDER" // where a child works
	pointsEnv = "PENSTOCK_KILLS"              // how often a child is killed; the default is 20

	killedWindow = 50
)

// saved is what a training program saves.
type saved struct {
	Position loader.Position
}

// TestChild is the process that the other test starts and kills. It reads an endless log until
// then, notes every batch in a file before it saves its position, and sometimes commits.
func TestChild(t *testing.T) {
	dir := os.Getenv(folderEnv)
	if dir == "" {
		t.Skip("started by another test")
	}
	options := []stream.Option{stream.Window(killedWindow), stream.BlockSize(512), stream.MaxBytes(32 << 10)}
	var last *saved
	text, err := os.ReadFile(filepath.Join(dir, "saved"))
	switch {
	case err == nil:
		last = new(saved)
		if err := json.Unmarshal(text, last); err != nil {
			t.Fatal(err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		t.Fatal(err)
	}
	path := filepath.Join(dir, "batches")
	// A batch that was noted in part comes again, because its position was not saved. Windows
	// does not truncate a file that is open for appending.
	if err := os.Truncate(path, int64(len(wholeLines(t, path)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	ds := open(t, seeking{&numbers{n: -1}}, filepath.Join(dir, "spool"), options...)
	l := loadertest.New(t, ds, loader.BatchSize(1+rand.IntN(20)), loader.Workers(rand.IntN(4)))
	position := l.Position(0)
	if last != nil {
		position = last.Position
	}
	first := -1 // number of the first batch
	for b, err := range l.From(t.Context(), position, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if first < 0 {
			first = b.Number()
		}
		after := b.Position()
		if _, err := fmt.Fprintln(out, after.Draw-b.Len(), checked(t, b)); err != nil {
			t.Fatal(err)
		}
		save(t, filepath.Join(dir, "saved"), saved{after})
		if rand.IntN(4) == 0 {
			if err := ds.Commit(after.Draw); err != nil {
				t.Fatal(err)
			}
		}
		if b.Number() == first {
			fmt.Println("ready")
		}
	}
}

func save(t *testing.T, path string, s saved) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// kill starts a process and kills it after a random time. It returns what the process had
// to say.
func kill(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), folderEnv+"="+dir)
	var text bytes.Buffer
	cmd.Stderr = &text
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	word := "ready\n"
	if rand.IntN(3) > 0 { // else perhaps before its first batch
		if word, err = lines.ReadString('\n'); err != nil {
			t.Errorf("the child said %q, %v", word, err)
		}
	}
	time.Sleep(rand.N(20 * time.Millisecond))
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(lines)
	_ = cmd.Wait() // killed
	return strings.TrimPrefix(word, "ready\n") + string(rest) + text.String()
}

// The claim for kill -9: no record is lost, and what is delivered again is the same.
// PENSTOCK_KILLS=200 makes it long.
func TestKilledProcessesLoseAndRepeatNothing(t *testing.T) {
	points := 20
	if testing.Short() {
		points = 6
	}
	if text := os.Getenv(pointsEnv); text != "" {
		var err error
		if points, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	left := 0
	enough := func() bool { // a slow machine kills most processes after their first batch
		records, _ := noted(t, filepath.Join(dir, "batches"))
		return len(records) >= killedWindow
	}
	point := 0
	for ; point < points || point < 20*points && !enough(); point++ {
		if text := kill(t, dir); strings.Contains(text, "FAIL") || strings.Contains(text, "panic") {
			t.Fatalf("after %d kills: child: %s", point, text)
		}
		if parts, _ := filepath.Glob(filepath.Join(dir, "spool", "*.part")); len(parts) > 0 {
			left++
		}
	}
	records, repeated := noted(t, filepath.Join(dir, "batches"))
	whole := len(records) - len(records)%killedWindow
	if want := order(whole, killedWindow, 0); !slices.Equal(records[:whole], want) {
		t.Errorf("the %d records that were delivered are not those of the stream", whole)
	}
	t.Logf("%d kills, %d of them while a file was written; %d records, %d were delivered twice, because the position was not saved", point, left, len(records), repeated)
	if whole == 0 {
		t.Errorf("only %d records", len(records))
	}
}

// noted reads what the children have noted: the draw and the records of every batch. A
// batch after which no position was saved is there twice.
func noted(t *testing.T, path string) (records []int64, repeated int) {
	t.Helper()
	for line := range strings.Lines(wholeLines(t, path)) {
		number, list, _ := strings.Cut(strings.TrimSpace(line), " ")
		draw, err := strconv.Atoi(number)
		if err != nil || draw > len(records) {
			t.Fatalf("%q after %d records, %v: some are lost", line, len(records), err)
		}
		for k, word := range strings.Fields(strings.Trim(list, "[]")) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if at := draw + k; at < len(records) {
				repeated++
				if records[at] != n {
					t.Fatalf("draw %d gave record %d first, and then %d", at, records[at], n)
				}
				continue
			}
			records = append(records, n)
		}
	}
	return records, repeated
}

// wholeLines reads a file, if it is there, without what follows its last line break: a process
// that is killed may have written a part of a line.
func wholeLines(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text[:bytes.LastIndexByte(text, '\n')+1])
}
