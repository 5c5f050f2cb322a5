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

	"github.com/penstock-go/penstock/bench/analysis"
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

func TestSectionsOfOneStudyHaveTitlesOfTheirOwn(t *testing.T) {
	r := invent()[0]
	r.Config.Simulated = ""
	other, faster := r, r
	other.Config.Simulated = "files throttled"
	faster.Machine.CPU = "Another processor"
	var titles []string
	for _, s := range newReport([]result.Record{r, other, faster}, nil).Sections {
		titles = append(titles, s.ID+" "+s.Title)
	}
	want := []string{
		"throughput Speed compared with other libraries, on Made-up processor, 8 processors",
		"throughput-2 Speed compared with other libraries, simulated (files throttled), on Made-up processor, 8 processors",
		"throughput-3 Speed compared with other libraries, on Another processor, 8 processors",
	}
	if !slices.Equal(titles, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(titles, "\n"), strings.Join(want, "\n"))
	}
}

func TestSidesOfAChartHaveColoursOfTheirOwn(t *testing.T) {
	var cells [][]analysis.Cell
	for _, name := range []string{base, "PyTorch with PIL", "PyTorch with tensors", "MONAI", "MONAI with threads", "NumPy loop", "PyTorch", "DALI", "SPDL with FFmpeg", "FFCV, jpg"} {
		cells = append(cells, []analysis.Cell{{Subject: analysis.Subject{Side: name}}})
	}
	colours := coloursOf(cells)
	if colours[0] != 0 || len(slices.Compact(slices.Sorted(slices.Values(colours)))) != palette {
		t.Errorf("got colours %v, want %d different ones and the first for %s", colours, palette, base)
	}
}

func TestShortLinesAreNotHiddenByLongOnes(t *testing.T) {
	cell := func(workers, n int) analysis.Cell {
		return analysis.Cell{Setting: analysis.Setting{Workers: workers}, Records: []result.Record{{Measured: result.Measured{Waits: make([]float64, n)}}}}
	}
	for _, c := range []struct {
		cells []analysis.Cell
		want  int
	}{
		{[]analysis.Cell{cell(1, 8), cell(64, 190)}, 80},
		{[]analysis.Cell{cell(1, 40), cell(8, 190)}, 160},
		{[]analysis.Cell{cell(1, 8), cell(8, 32)}, 0},
		{[]analysis.Cell{cell(1, 1), cell(8, 9)}, 0}, // a period is longer than all
		{[]analysis.Cell{cell(1, 8)}, 0},
	} {
		if got := firstBatches(c.cells); got != c.want {
			t.Errorf("%v: got the first %d batches, want %d", c.cells, got, c.want)
		}
	}
}

func TestStagesOfNoTimeAreNotDrawn(t *testing.T) {
	r := result.Record{Study: result.Profile, Side: base, Config: result.Config{Batch: 1, Workers: 1, Data: "d", Span: result.Epoch},
		Measured: result.Measured{Samples: 1, Seconds: 1, Stages: []result.Stage{{Name: "decode", Self: 0.9}, {Name: "read", Self: 0.1}, {Name: "rest", Self: 0.001}, {Name: "zero"}}}}
	s := newReport([]result.Record{r}, nil).Sections[0]
	if got := s.Charts[len(s.Charts)-1].Panels[0].Categories; !slices.Equal(got, []string{"decode", "read"}) {
		t.Errorf("drawn are %q", got)
	}
	if rows := s.Details[0].Rows; len(rows) != 4 {
		t.Errorf("the table has %d rows, want all 4", len(rows))
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
