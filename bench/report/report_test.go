package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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

func TestAllStudiesAreDrawnInBothForms(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: plots are not drawn as PNG")
	}
	page := madePage(t)
	text := read(t, page)
	dir := filepath.Dir(page)
	links := regexp.MustCompile(`href="([^"#]+)"`).FindAllStringSubmatch(text, -1)
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(dir, l[1])); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"loading-wait-for-every-single-batch-photos-by-workers", "loading-wait-for-every-single-batch-photos-by-batch",
		"loading-samples-per-second-photos-bars", "endtoend-regret-in-percent-penstock-help-on-photos-cpu-regret",
		"inference-time-per-item-by-batch-size-random-cpu-items", "profile-time-by-stage-first-batch-batch-64-cifar-cpu-stages",
		"volumes-memory-over-time-volumes-memory", "volumes-cpu-over-time-volumes-cpu", "volumes-samples-per-second-volumes-bars",
		"tables-regret-in-percent-another-loader-photos-regret",
	} {
		picture, err := png.Decode(strings.NewReader(read(t, filepath.Join(dir, name+".png"))))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b := picture.Bounds(); b.Dx() < 900 || b.Dy() < 200 {
			t.Errorf("%s.png is %v", name, b)
		}
		svg := read(t, filepath.Join(dir, name+".svg"))
		if !wellFormed(svg) {
			t.Errorf("%s.svg is not well-formed", name)
		}
		for _, want := range []string{"Made-up processor, 8 processors", "2026-11-21", "simulated: all figures are made up"} {
			if !strings.Contains(svg, want) && !strings.HasPrefix(name, "tables") {
				t.Errorf("%s.svg does not say %q", name, want)
			}
		}
	}
	for _, want := range []string{
		"penstock, Help off: a peak every W batches in 9,", "penstock, Help on: a peak every W batches in 0,",
		"Set loader.BatchSize(128) and loader.Workers(12): average regret",
		"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "More workers than the machine&#39;s 8 processors",
		"small cnn by penstock, Help on: the least time per item", "another loader: Set loader.BatchSize(128) and loader.Workers(4)",
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

func TestThePageReachesNoNetwork(t *testing.T) {
	text := read(t, drawn(t, madeUp))
	data := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(text, "")
	if found := regexp.MustCompile(`(?i)(src|href)="(https?:)?//[^"]*"`).FindString(data); found != "" {
		t.Errorf("the page names %s", found)
	}
	if !strings.Contains(text, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-`) {
		t.Error("the page does not forbid other sources")
	}
}

func TestTextsOfResultsAreEscaped(t *testing.T) {
	path := hostile(t)
	text := read(t, drawn(t, path))
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
	n := 0
	for _, section := range newReport(load([]string{path})).Sections {
		for _, ch := range section.Charts {
			for _, f := range ch.Figures {
				n++
				if svg, err := f.svg(); err != nil || !wellFormed(string(svg)) || bytes.Contains(svg, []byte("<script")) {
					t.Errorf("%s: texts are markup, or %v", f.Name, err)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("%d plots, want 10 or more", n)
	}
}

func TestABadLineIsNamedAndNothingElseIsLost(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(read(t, madeUp), "\n")[:40]
	bad := slices.Insert(slices.Clone(lines), 3, "{\"study\": <oops>}\n")
	path := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(bad, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	err := run(filepath.Join(dir, "out"), []string{path, filepath.Join(dir, "missing.jsonl"), filepath.Join(dir, "missing.csv")}, &log)
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
	if err := run(dir, []string{os.DevNull}, io.Discard); err == nil || err.Error() != "report: no results" {
		t.Errorf("got %v, want report: no results", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	if err := run(dir, []string{missing}, io.Discard); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v, want one line with the file's name", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made for nothing")
	}
}

func TestSectionsOfOneStudyHaveTitlesOfTheirOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.jsonl")
	r := invent()[0]
	r.Config.Simulated = ""
	other, faster := r, r
	other.Config.Simulated = "files throttled"
	faster.Machine.CPU = "Another processor"
	if err := result.AppendFile(path, r, other, faster); err != nil {
		t.Fatal(err)
	}
	var titles, charts []string
	for _, s := range newReport(load([]string{path})).Sections {
		titles, charts = append(titles, s.Study+", of "+s.Apart), append(charts, s.Charts[0].Title)
	}
	want := []string{
		"Loading: the wait for every batch, of photos; on Made-up processor, 8 processors",
		"Loading: the wait for every batch, of photos; simulated: files throttled; on Made-up processor, 8 processors",
		"Loading: the wait for every batch, of photos; on Another processor, 8 processors",
	}
	if !slices.Equal(titles, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(titles, "\n"), strings.Join(want, "\n"))
	}
	if charts[0] == charts[1] || !strings.HasSuffix(charts[1], ", simulated") {
		t.Errorf("got charts %q, want the second to be called simulated", charts)
	}
	text := read(t, drawn(t, path))
	for _, title := range want {
		if n := strings.Count(text, title); n != 2 { // the link and the section
			t.Errorf("%q is on the page %d times, want 2", title, n)
		}
	}
	if alone := newReport(load([]string{madeUp})).Sections[0]; alone.Apart != "" {
		t.Errorf("the only section of its study is set apart by %q", alone.Apart)
	}
}

func TestShortLinesAreNotHiddenByLongOnes(t *testing.T) {
	line := func(workers string, n int) item {
		return item{Is: traits{Workers: workers}, X: make([]float64, n), Y: make([]float64, n)}
	}
	for _, c := range []struct {
		items []item
		want  int
	}{
		{[]item{line("1", 8), line("64", 190)}, 80},
		{[]item{line("1", 40), line("8", 190)}, 160},
		{[]item{line("1", 8), line("8", 32)}, 0},
		{[]item{line("1", 1), line("8", 9)}, 0}, // a period is longer than all
		{[]item{line("1", 8)}, 0},
	} {
		got := firstBatches(c.items)
		if got != c.want {
			t.Errorf("%d and %s workers: got the first %d batches, want %d", len(c.items[0].Y), c.items[len(c.items)-1].Is.Workers, got, c.want)
		}
	}
	items := []item{line("1", 8), line("64", 190)}
	if short := cut(items, 80); len(short[0].Y) != 8 || len(short[1].X) != 80 || len(short[1].Y) != 80 || len(items[1].Y) != 190 {
		t.Errorf("got %d, %d and left %d points, want 8, 80 and 190", len(short[0].Y), len(short[1].Y), len(items[1].Y))
	}
}

func TestTicksOfBatchesAreWhole(t *testing.T) {
	for high, want := range map[float64]string{1: "0 1", 3: "0 1 2 3", 32: "0 5 10 15 20 25 30"} {
		var got []string
		for _, tick := range (plain{whole: true}).Ticks(0, high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("up to %g: got %q, want %s", high, got, want)
		}
	}
}

func TestManyConclusionsAreFolded(t *testing.T) {
	words := strings.Fields(strings.Repeat("word ", 30))
	for n, want := range map[int]int{0: 0, 5: 5, 7: 7, 8: 5, 30: 5} {
		c := conclusions{Lines: words[:n]}
		if got := len(c.Shown()); got != want || got+len(c.Folded()) != n {
			t.Errorf("%d lines: %d shown and %d folded, want %d shown", n, got, len(c.Folded()), want)
		}
	}
}

// Sparse results are drawn: one record of each study, no more than it needs.
func TestASingleRecordIsDrawn(t *testing.T) {
	for _, study := range result.Studies() {
		path := filepath.Join(t.TempDir(), "one.jsonl")
		r := result.Record{Study: study, Side: "other", Date: invent()[0].Date,
			Config:  result.Config{Batch: 1, Data: "d", Model: "m", Span: result.Epoch},
			Machine: result.Machine{CPU: "c", Processors: 1},
			Measured: result.Measured{Samples: 1, Seconds: 1, EndToEnd: 1, PerItem: 1, Waits: []float64{0},
				Stages: []result.Stage{{Name: "s"}}, Usage: []result.Usage{{}, {}}}}
		if err := result.AppendFile(path, r); err != nil {
			t.Fatal(err)
		}
		text := read(t, drawn(t, path))
		if !strings.Contains(text, "<figure") {
			t.Errorf("%s: nothing is drawn", study)
		}
	}
}
