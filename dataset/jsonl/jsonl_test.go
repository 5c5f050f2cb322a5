package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/jsonl"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

func open(t testing.TB, data string, columns []jsonl.Column, options ...jsonl.Option) (*jsonl.File, error) {
	t.Helper()
	return jsonl.Open(t.Context(), fstest.MapFS{"x": {Data: []byte(data), ModTime: time.Unix(int64(len(data)), 5)}}, "x", columns, options...)
}

var line = []jsonl.Column{jsonl.Line("line")}

// lines are up to 10,000 lines of a dataset, in a random order.
func lines(t testing.TB, f *jsonl.File) map[int]string {
	t.Helper()
	got := map[int]string{}
	r, slot := datatest.Open(t, f), dataset.NewSlot(f.Spec()...)
	for _, i := range append(rand.Perm(f.Len())[:min(f.Len(), 10_000)], max(f.Len()-1, 0)) {
		if i == f.Len() {
			break // there is none
		}
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		got[i] = string(slot.Cell(0).Bytes())
	}
	return got
}

// want are the lines of a text.
func want(data string) []string {
	var list []string
	for l := range strings.Lines(data) {
		list = append(list, strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"))
	}
	return list
}

func TestLinesAreThoseOfTheFile(t *testing.T) {
	long := strings.Repeat("x", 8<<20-1)
	for _, data := range []string{
		"", "\n", "a", "a\n", "a\n\nb", "\r\na\r\n", "\n\n\n", long, long + "\n", long + "\na", long + "a\nb\n", strings.Repeat("0123456789\n", 900_000), "a" + long + long + "\n\nb\n",
	} {
		path := filepath.Join(t.TempDir(), "index")
		for _, options := range [][]jsonl.Option{nil, {jsonl.Index(path)}, {jsonl.Index(path)}} {
			f, err := open(t, data, line, options...)
			if err != nil {
				t.Fatal(err)
			}
			got, want := lines(t, f), want(data)
			if f.Len() != len(want) {
				t.Fatalf("%.20q: %d lines, want %d", data, f.Len(), len(want))
			}
			for i, line := range got {
				if line != want[i] {
					t.Fatalf("%.20q, line %d: got %.20q, want %.20q", data, i, line, want[i])
				}
			}
		}
	}
}

func TestAnIndexIsKeptUntilTheFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	stat := func() os.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if _, err := open(t, "a\nb\n", line, jsonl.Index(path)); err != nil {
		t.Fatal(err)
	}
	first := stat()
	if _, err := open(t, "c\nd\n", line, jsonl.Index(path)); err != nil { // the same size and time
		t.Fatal(err)
	}
	if !os.SameFile(first, stat()) {
		t.Error("the index of an equal file was made again")
	}
	f, err := open(t, "a\nb\nc", line, jsonl.Index(path))
	if err != nil || f.Len() != 3 || os.SameFile(first, stat()) {
		t.Errorf("%v, %d lines of another file", err, f.Len())
	}
	if err := os.WriteFile(path, []byte("a user's own"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, "a", line, jsonl.Index(path))
	if err == nil || !strings.Contains(err.Error(), "jsonl: read x: index "+path+": another file has this name") {
		t.Error(err)
	}
}

func TestADamagedIndexIsAnErrorOrMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	const data = "a\nbb\nccc\n"
	if _, err := open(t, data, line, jsonl.Index(path)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := len(whole) - 3*4
	for at := 8; at < len(whole); at++ {
		damages := [][]byte{whole[:at]}
		for _, x := range []byte{1, 2, 3, 4, 7, 12, 0x81} {
			if at >= ends || x == 0x81 { // what is before it is compared, and the index is made again
				damages = append(damages, append(bytes.Clone(whole[:at]), append([]byte{whole[at] ^ x}, whole[at+1:]...)...))
			}
		}
		for _, damaged := range damages {
			if len(damaged) < 24 {
				continue // another file
			}
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := open(t, data, line, jsonl.Index(path))
			if err != nil {
				t.Fatal(err)
			}
			hostile.Bounded(t, len(data), 0, func() {
				for i := range f.Len() {
					s, err := dataset.At(t.Context(), f, i)
					if err != nil && !strings.Contains(err.Error(), "the file has changed, or its index is damaged: remove "+path) {
						t.Errorf("damaged at byte %d: %v", at, err)
					}
					if err == nil && !slices.Contains(want(data), string(s["line"].Bytes())) {
						t.Errorf("damaged at byte %d: line %d is %q", at, i, s["line"].Bytes())
					}
				}
			})
		}
	}
}

// Processes that open the same file at once make the same index, and none of them fails.
func TestProcessesMakeAnIndexAtOnce(t *testing.T) {
	const data = "a\nbb\nccc\n"
	for range 30 {
		path := filepath.Join(t.TempDir(), "index")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				f, err := open(t, data, line, jsonl.Index(path))
				if err == nil {
					_, err = dataset.At(t.Context(), f, 2)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		names, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(names) != 1 {
			t.Errorf("%v: %v", names, err)
		}
	}
}

func TestAFileThatChangesIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	old := &fstest.MapFile{Data: []byte("a\nbb\nccc\n")}
	for _, options := range [][]jsonl.Option{nil, {jsonl.Index(path)}} {
		f, err := jsonl.Open(t.Context(), fstest.MapFS{"x": old}, "x", line, options...)
		if err != nil {
			t.Fatal(err)
		}
		for i, data := range []string{"aabb\nccc\n", "a\nb\nbccc\n", "a\nbbccc\n\n", "a\nb"} {
			old.Data = []byte(data)
			_, err := dataset.At(t.Context(), f, 1)
			if err == nil || !strings.Contains(err.Error(), "the file has changed") && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("change %d: %v", i, err)
			}
		}
		old.Data = []byte("a\nbb\nccc\n")
	}
	f, err := open(t, "a\nb\n", line, jsonl.Index(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "c\n", line, jsonl.Index(path)); err != nil {
		t.Fatal(err)
	}
	_, err = f.Open()
	if want := "jsonl: read x: index " + path + ": it was made anew, of a file with another size or time"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A server may promise any size.
func TestAFileThatNoDiskHoldsIsAnError(t *testing.T) {
	hostile.Bounded(t, 0, 0, func() {
		_, err := jsonl.Open(t.Context(), vast{fstest.MapFS{"x": {}}}, "x", line)
		if got, want := fmt.Sprint(err), "jsonl: read x: file of 4611686018427387904 bytes: want at most 17592186044416"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// A vast file system has files of 2⁶² bytes.
type vast struct{ fs.FS }

func (v vast) Open(name string) (fs.File, error) {
	f, err := v.FS.Open(name)
	return vastFile{f}, err
}

type vastFile struct{ fs.File }

func (f vastFile) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func (f vastFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return vastInfo{info}, err
}

type vastInfo struct{ fs.FileInfo }

func (vastInfo) Size() int64 { return 1 << 62 }

func TestKeysBecomeFields(t *testing.T) {
	columns := []jsonl.Column{jsonl.Scalar[int64]("id", "id"), jsonl.Text("text", "t"), jsonl.Scalar[float32]("score", "s"), jsonl.Scalar[bool]("ok", "ok"), jsonl.Line("line")}
	f, err := open(t, `{"id":3,"t":"é\n","s":0.5,"ok":true}`+"\n"+`{"ok":false, "T":"no","t":"","s":-1e3,"id":-9223372036854775808}`, columns)
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, f, 0)
	if got, want := fmt.Sprintf("%v %q %v %v", s["id"].Data(), s["text"].Data(), s["score"].Data(), s["ok"].Data()), `3 "é\n" 0.5 true`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s = datatest.Sample(t, f, 1)
	if got, want := fmt.Sprintf("%v %q %v %v", s["id"].Data(), s["text"].Data(), s["score"].Data(), s["ok"].Data()), `-9223372036854775808 "" -1000 false`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	datatest.RefusesOtherIndices(t, f)
	if got := dataset.Name(f, 1); got != "x, line 2" {
		t.Errorf("name %q", got)
	}
}

func TestErrorsNameTheLineAndTheKey(t *testing.T) {
	for data, want := range map[string]string{
		"{}":            `sample 0 (x, line 1): jsonl: no key "n"`,
		`{"n":"3"}`:     `jsonl: key "n" has "\"3\"", want a value of uint8`,
		`{"n":256}`:     `key "n" has "256", want a value of uint8`,
		`{"n":null}`:    `key "n" has "null"`,
		`{"n":1`:        "jsonl: unexpected end of JSON input",
		"\n":            "unexpected end of JSON input",
		`{"n":1,"t":2}`: `key "t" has "2", want a string`,
	} {
		f, err := open(t, data, []jsonl.Column{jsonl.Scalar[uint8]("n", "n"), jsonl.Text("t", "t")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.At(t.Context(), f, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", data, err, want)
		}
	}
	for _, c := range []struct {
		data    string
		columns []jsonl.Column
		want    string
	}{
		{"", nil, "jsonl: no columns"},
		{"", []jsonl.Column{jsonl.Scalar[dataset.F16]("x", "x")}, `jsonl: field "x": float16: want bool, a whole number, float32 or float64`},
		{"\x1f\x8b\x08", line, "jsonl: read x: it is compressed"},
		{"\x28\xb5\x2f\xfd", line, "jsonl: read x: it is compressed"},
	} {
		if _, err := open(t, c.data, c.columns); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	_, err := jsonl.Open(t.Context(), datatest.PipeFS{T: t}, "a", line)
	if got, want := fmt.Sprint(err), "jsonl: read a: not a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLinesArePlacedWithoutAllocation(t *testing.T) {
	f, err := open(t, "a\nbb\nccc\n", line, jsonl.Index(filepath.Join(t.TempDir(), "index")))
	if err != nil {
		t.Fatal(err)
	}
	datatest.PlacesWithoutAllocation(t, f)
}

func FuzzLines(f *testing.F) {
	f.Add("{\"a\":1,\"b\":\"x\"}\n{}\n\n[1]")
	f.Add("{\"a\":{\"b\":[1,2]},\"b\":\"\\u00e9\"}\r\n")
	f.Fuzz(func(t *testing.T, data string) {
		hostile.Bounded(t, len(data), 0, func() {
			all, err := open(t, data, []jsonl.Column{jsonl.Line("line"), jsonl.Text("b", "b"), jsonl.Scalar[int8]("a", "a")})
			if err != nil {
				return
			}
			if all.Len() != len(want(data)) {
				t.Errorf("%d lines, want %d", all.Len(), len(want(data)))
			}
			r, slot := datatest.Open(t, all), dataset.NewSlot(all.Spec()...)
			for i := range min(all.Len(), 100) {
				if err := r.Place(t.Context(), i, slot); err != nil && !strings.HasPrefix(err.Error(), "jsonl: ") {
					t.Error(err)
				}
			}
		})
	})
}
