package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/internal/hostile"
)

// documented is the example of the package comment, on one line.
func documented(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("result.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^//\t(.*)$`).FindAllStringSubmatch(string(source), -1)
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(strings.TrimSpace(l[1]) + " ")
	}
	return text.String()
}

func TestTheDocumentedRecordIsReadAndNamesEveryField(t *testing.T) {
	text := documented(t)
	records, err := result.Read(strings.NewReader(text), "doc")
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, name := range fields(reflect.TypeFor[result.Record]()) {
		if !strings.Contains(text, `"`+name+`":`) {
			t.Errorf("the package comment's record has no %q", name)
		}
	}
}

// fields are the JSON names of a type and of all that it is made of.
func fields(t reflect.Type) []string {
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(append(names, name), fields(f.Type)...)
	}
	return names
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	want, err := result.Read(strings.NewReader(documented(t)), "doc")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, want[0])
	want[1].Side = `<script>"'& ` + "\n\u2028"
	file := filepath.Join(t.TempDir(), "written.jsonl")
	if err := errors.Join(result.AppendFile(file, want[0]), result.AppendFile(file, want[1])); err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestABadLineIsNamedAndCostsItselfAlone(t *testing.T) {
	good := documented(t)
	bad := []struct{ name, line, want string }{
		{"no JSON", `{"study": `, "unexpected EOF"},
		{"Python's NaN", strings.Replace(good, "2.9", "NaN", 1), ": invalid character 'N'"},
		{"a misspelt name", strings.Replace(good, "cpu_seconds", "cpu_secs", 1), `unknown field "cpu_secs"`},
		{"text for a number", strings.Replace(good, `"workers": 4`, `"workers": "4"`, 1), "json: cannot unmarshal string into Go struct field Config.config.workers of type int"},
		{"too large a number", strings.Replace(good, `"cpu_seconds": 2.9`, `"cpu_seconds": 1e999`, 1), "1e999"},
		{"two values", good + good, "more than one value"},
		{"no object", `[1, 2]`, "array"},
		{"no date", strings.Replace(good, "2026-11-21T09:30:00Z", "yesterday", 1), "yesterday"},
		{"another study", strings.Replace(good, `"loading"`, `"reading"`, 1), `study: have reading, want one of`},
		{"no batch", strings.Replace(good, `"batch": 128,`, ``, 1), "config.batch: have 0, want 1 or more"},
		{"a negative wait", strings.Replace(good, "0.24", "-0.24", 1), "measured.waits_seconds[3]: have -0.24, want 0 or more"},
		{"help unclear", strings.Replace(good, `"off"`, `"maybe"`, 1), `config.help: have maybe, want "on", "off" or nothing`},
		{"no time", strings.Replace(good, `"seconds": 1.5`, `"seconds": 0`, 1), "measured.seconds: have 0, want more than 0"},
		{"end to end without an end", strings.NewReplacer(`"loading",`, `"endtoend",`, `"end_to_end_seconds": 1.5,`, "").Replace(good), "measured.end_to_end_seconds: have 0"},
	}
	var file strings.Builder
	file.WriteString(good + "\n\n")
	for _, b := range bad {
		file.WriteString(b.line + "\r\n")
	}
	file.WriteString(good)
	records, err := result.Read(strings.NewReader(file.String()), "some.jsonl")
	if len(records) != 2 {
		t.Errorf("%d records, want the 2 good ones", len(records))
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != len(bad) {
		t.Fatalf("%v: want %d errors", err, len(bad))
	}
	for i, err := range joined.Unwrap() {
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("result: some.jsonl:%d: ", i+3)) {
			t.Errorf("%s: %v is not line %d of some.jsonl", bad[i].name, err, i+3)
		}
		if !strings.Contains(err.Error(), bad[i].want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q, want %q in one line", bad[i].name, err, bad[i].want)
		}
	}
}

func TestNothingIsWrittenWhereOneRecordIsBad(t *testing.T) {
	records, err := result.Read(strings.NewReader(documented(t)), "doc")
	if err != nil {
		t.Fatal(err)
	}
	bad := records[0]
	bad.Config.Batch = 0
	file := filepath.Join(t.TempDir(), "written.jsonl")
	err = result.AppendFile(file, records[0], bad)
	if want := "result: record 1 (loading, PyTorch, PIL): config.batch: have 0, want 1 or more"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	_, err := result.ReadFile("missing.jsonl")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "result: open missing.jsonl") {
		t.Error(err)
	}
}

func TestMachinePrintsWhatItKnows(t *testing.T) {
	for want, m := range map[string]result.Machine{
		"A, 1 processor": {CPU: "A", Processors: 1},
		"A, 2 processors, 24 GiB, linux 6.18, B": {
			CPU: "A", Processors: 2, MemoryBytes: 24 << 30, OS: "linux", Kernel: "6.18", GPU: "B"},
	} {
		if got := m.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"study":"inference","side":"a","date":"2026-11-21T09:30:00Z","config":{"batch":1,"data":"b","model":"m"},` +
		`"machine":{"cpu":"c","processors":1},"measured":{"samples":1,"seconds":1,"per_item_seconds":1}}` + "\n[]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var records []result.Record
		hostile.Bounded(t, len(text), 0, func() { records, _ = result.Read(bytes.NewReader(text), "fuzz") })
		for _, r := range records {
			if line, err := json.Marshal(r); err != nil || r.Check() != nil {
				t.Errorf("%s: %v, %v", line, err, r.Check())
			}
		}
	})
}

func TestThisMachineIsDescribed(t *testing.T) {
	m, err := result.ThisMachine(t.Context())
	if err != nil {
		t.Skip("SKIPPED: the machine does not tell: ", err)
	}
	if m.CPU == "" || m.Processors < 1 || m.MemoryBytes < 1<<20 || m.OS == "" || strings.Contains(m.Kernel, "-") {
		t.Errorf("got %+v", m)
	}
}
