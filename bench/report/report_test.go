package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// nasty is text that would run if it were markup.
const nasty = `</script><script>window.owned=true</script><img src="x" onerror="window.owned=true"><b>"'&` + "\u2028\x01\n"

// hostile is a file of results whose texts are all nasty.
func hostile(t *testing.T) string {
	t.Helper()
	var records []result.Record
	for i, r := range invent() {
		if i%4 != 0 {
			continue
		}
		r.Side += nasty
		r.Config.Data += nasty
		r.Config.Device = nasty
		if r.Config.Model != "" {
			r.Config.Model += nasty
		}
		r.Config.Simulated = nasty
		r.Machine = result.Machine{CPU: nasty, Processors: 2, OS: nasty, Kernel: nasty, GPU: nasty}
		r.Versions = map[string]string{nasty: nasty}
		r.Measured.Stages = slices.Clone(r.Measured.Stages)
		for k := range r.Measured.Stages {
			r.Measured.Stages[k].Name += nasty
		}
		records = append(records, r)
	}
	path := filepath.Join(t.TempDir(), "hostile.jsonl")
	if err := result.AppendFile(path, records...); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reports are drawn once for all tests that look at them.
var reports = map[string]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range reports {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// made is the folder of the report of invented results, and owned that of results
// whose texts are nasty.
func made(t *testing.T) string  { return drawn(t, "made", madeUp) }
func owned(t *testing.T) string { return drawn(t, "owned", hostile) }

func drawn(t *testing.T, name string, records func(*testing.T) string) string {
	t.Helper()
	if reports[name] == "" {
		dir, err := os.MkdirTemp("", "report")
		if err != nil {
			t.Fatal(err)
		}
		if err := run(dir, "", []string{records(t)}, io.Discard); err != nil {
			t.Fatal(err)
		}
		reports[name] = dir
	}
	return reports[name]
}

func TestAllStudiesAreDrawnForLightAndForDark(t *testing.T) {
	dir := made(t)
	text := read(t, filepath.Join(dir, "index.html"))
	links := regexp.MustCompile(`href="([^"#]+)\.svg"`).FindAllStringSubmatch(text, -1)
	if len(links) < 12 {
		t.Errorf("%d charts, want 12 or more", len(links))
	}
	for _, l := range links {
		light, dark := read(t, filepath.Join(dir, l[1]+".svg")), read(t, filepath.Join(dir, l[1]+"-dark.svg"))
		if !wellFormed(light) || !wellFormed(dark) || light == dark {
			t.Errorf("%s: not well-formed, or the same in light and dark", l[1])
		}
		for _, want := range []string{"Made-up processor, 8 processors", "2026-11-21", "all figures are made up"} {
			if !strings.Contains(strings.ReplaceAll(light, "\n", " "), want) {
				t.Errorf("%s.svg does not say %q", l[1], want)
			}
		}
	}
	for _, want := range []string{
		"With 8 workers, penstock is ", "penstock in 0 of 9 configurations, penstock without Help in 9 of 9 configurations, PyTorch with PIL in 9 of 9 configurations",
		"Use batches of 128 and 8 workers", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
		"penstock: the time per item is lowest with batches of",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestMoreWorkersThanProcessorsAreJudgedByTheirTimes: more of them gain where samples wait.
func TestMoreWorkersThanProcessorsAreJudgedByTheirTimes(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds int
		rate   func(workers int) float64
		want   []string
	}{
		{"as fast", 4, func(workers int) float64 { return float64(min(workers, 2)) }, []string{"No side is clearly faster with more workers than the machine's 2 processors."}},
		{"faster", 4, func(workers int) float64 { return float64(workers) }, []string{"Clearly faster with more workers than the machine's 2 processors: penstock, photos, batch 8, 4 workers."}},
		{"too few rounds", 3, func(workers int) float64 { return float64(workers) }, nil},
	} {
		var records []result.Record
		for round := range c.rounds {
			for _, workers := range []int{1, 2, 4} {
				records = append(records, result.Record{Study: result.Volumes, Side: base, Round: round, Date: time.Unix(0, 0), Machine: result.Machine{CPU: "x", Processors: 2},
					Config:   result.Config{Batch: 8, Workers: workers, Data: "photos"},
					Measured: result.Measured{Samples: 100, Seconds: (100 + float64(round)) / c.rate(workers)}})
			}
		}
		if got := newReport(records, nil).Sections[0].Findings; !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func wellFormed(text string) bool {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

func TestFindingsComeFirstAndVersionsLast(t *testing.T) {
	text := read(t, filepath.Join(made(t), "index.html"))
	at := []int{}
	for _, part := range []string{"times as fast as the", "<figure", "<table", "Versions", "torch 2.15.0"} {
		at = append(at, strings.Index(text, part))
	}
	if at[0] < 0 || !slices.IsSorted(at) {
		t.Errorf("finding, chart, table and versions are at %v", at)
	}
}

func TestTheReadmesGeneratedPartIsReplaced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "few.jsonl")
	var few []result.Record
	for _, r := range invent() {
		if r.Study == result.Throughput || r.Study == result.Inference {
			few = append(few, r)
		}
	}
	if err := result.AppendFile(file, few...); err != nil {
		t.Fatal(err)
	}
	readme := filepath.Join(dir, "README.md")
	for range 2 {
		if _, err := os.Stat(readme); err != nil {
			if err := run(filepath.Join(dir, "out"), readme, []string{file}, io.Discard); err == nil {
				t.Error("no README: no error")
			}
			if err := os.WriteFile(readme, []byte("before\n"+generated+"old\n"+written+"after\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := run(filepath.Join(dir, "out"), readme, []string{file}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	text := read(t, readme)
	if !strings.HasPrefix(text, "before\n"+generated) || !strings.HasSuffix(text, written+"after\n") || strings.Contains(text, "old") {
		t.Errorf("what is around the generated part changed:\n%.200s", text)
	}
	for _, want := range []string{"### Speed compared with other libraries, simulated", "| photos | penstock "} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	images := regexp.MustCompile(`(?:srcset|src)="([^"]+)"`).FindAllStringSubmatch(text, -1)
	for _, p := range images {
		if _, err := os.Stat(filepath.Join(dir, p[1])); err != nil {
			t.Error(err)
		}
	}
	if len(images) != 4 {
		t.Errorf("%d images, want two for each section", len(images))
	}
	if err := os.WriteFile(readme, []byte("nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(filepath.Join(dir, "out"), readme, []string{file}, io.Discard); err == nil || read(t, readme) != "nothing\n" {
		t.Errorf("a README without the two lines: got %v", err)
	}
}

func TestThePageReachesNoNetwork(t *testing.T) {
	text := read(t, filepath.Join(made(t), "index.html"))
	data := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(text, "")
	if found := regexp.MustCompile(`(?i)(src|href)="(https?:)?//[^"]*"`).FindString(data); found != "" {
		t.Errorf("the page names %s", found)
	}
	if !strings.Contains(text, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-`) {
		t.Error("the page does not forbid other sources")
	}
}

func TestTextsOfResultsAreEscaped(t *testing.T) {
	dir := owned(t)
	text := read(t, filepath.Join(dir, "index.html"))
	for _, bad := range []string{"<script>window.owned", `<img src="x"`, "<b>\""} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	blob := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(text)
	var charts []chart
	if err := json.Unmarshal([]byte(blob[1]), &charts); err != nil || len(charts) < 10 {
		t.Errorf("%d charts in the page's data: %v", len(charts), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(files) < 20 {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if svg := read(t, file); !wellFormed(svg) || strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
			t.Errorf("%s: texts are markup", file)
		}
	}
}

func TestABadLineIsNamedAndNothingElseIsLost(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(read(t, madeUp(t)), "\n")[:40]
	bad := slices.Insert(slices.Clone(lines), 3, "{\"study\": <oops>}\n")
	path := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(bad, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	err := run(filepath.Join(dir, "out"), "", []string{path, filepath.Join(dir, "missing.jsonl"), filepath.Join(dir, "missing.csv")}, &log)
	for _, want := range []string{"bad.jsonl:4: byte 11: invalid character '<'", "missing.jsonl", "missing.csv"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
	if !strings.Contains(log.String(), ": 40 records of 3 files") {
		t.Errorf("got %q, want all 40 records", log.String())
	}
	if text := read(t, filepath.Join(dir, "out", "index.html")); !strings.Contains(text, "bad.jsonl:4: byte 11: invalid character &#39;&lt;&#39;") {
		t.Error("the page does not name the bad line")
	}
}

func TestNoResultsAreAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := run(dir, "", []string{os.DevNull}, io.Discard); err == nil || err.Error() != "report: no results" {
		t.Errorf("got %v, want report: no results", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	if err := run(dir, "", []string{missing}, io.Discard); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v, want one line with the file's name", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// Sparse results are drawn: one record of each study, no more than it needs.
func TestASingleRecordIsDrawn(t *testing.T) {
	d, err := newDrawer()
	if err != nil {
		t.Fatal(err)
	}
	for _, study := range result.Studies() {
		r := result.Record{Study: study, Side: "other", Date: invent()[0].Date,
			Config:  result.Config{Batch: 1, Data: "d", Model: "m", Span: result.Epoch},
			Machine: result.Machine{CPU: "c", Processors: 1},
			Measured: result.Measured{Samples: 1, Seconds: 1, EndToEnd: 1, PerItem: 1, Waits: []float64{0},
				Stages: []result.Stage{{Name: "s"}}, Usage: []result.Usage{{}, {}}}}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		clear(d.drawn)
		page, err := newReport([]result.Record{r}, nil).page(d)
		if err != nil || !bytes.Contains(page, []byte("<figure")) {
			t.Errorf("%s: nothing is drawn: %v", study, err)
		}
	}
}
