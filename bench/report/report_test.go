package main

import (
	"bytes"
	"encoding/json"
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

// made is the page of records that are made up.
func made(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	if err := run(dir, "", []string{file}, io.Discard); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(dir, "index.html"))
}

func chartsOf(t *testing.T, page string) (charts []chart) {
	t.Helper()
	blob := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	if err := json.Unmarshal([]byte(blob[1]), &charts); err != nil {
		t.Fatal(err)
	}
	return charts
}

func TestEveryStudyHasItsCharts(t *testing.T) {
	titles := ""
	for _, ch := range chartsOf(t, made(t, madeUp(t))) {
		titles += ch.Title + "\n"
		for _, p := range ch.Panels {
			for _, s := range p.Series {
				if len(s.Points) == 0 {
					t.Errorf("%s, %s: %s has no points", ch.Title, p.Title, s.Name)
				}
			}
		}
	}
	for _, want := range []string{"times as fast as", "Who waits, and when: photos", "The first batch of photos", "The median wait for photos by batch size", "Which setting to take", "By workers: photos",
		"By batch size: photos", "Where the time goes", "Memory over time", "Processor use over time", "Convolutional nets", "Transformers and mixers"} {
		if !strings.Contains(titles, want) {
			t.Errorf("no chart %q in:\n%s", want, titles)
		}
	}
}

// A setting of the study's grid that was not run has a field, but no value.
func TestWhatWasNotRunHasNoRegret(t *testing.T) {
	for _, ch := range chartsOf(t, made(t, madeUp(t))) {
		if ch.Kind != "heat" {
			continue
		}
		p := ch.Panels[1] // PyTorch, whose cell of 256 and 12 is missing in the file
		if !slices.Contains(p.Categories, "1024") || !slices.Contains(p.Rows, "64") {
			t.Errorf("the map has batches %v and workers %v, want the whole grid", p.Categories, p.Rows)
		}
		at := [2]float64{float64(slices.Index(p.Categories, "256")), float64(slices.Index(p.Rows, "12"))}
		for _, point := range p.Series[0].Points {
			if [2]float64(point[:2]) == at {
				t.Errorf("%s: a regret of %v where nothing was measured", p.Title, point[2])
			}
		}
		if n := len(p.Series[0].Points); n != 14 {
			t.Errorf("%d fields, want 14", n)
		}
		return
	}
	t.Error("no map")
}

func TestTheStudysSettingIsConfirmedOrContradicted(t *testing.T) {
	for lost, want := range map[float64]string{1.01: "costs 1.0 % here: confirmed", 1.25: "costs 25.0 % here: contradicted"} {
		in := &inventor{}
		for _, workers := range []int{1, 12} {
			seconds := 10.0
			if workers == 12 {
				seconds *= lost
			}
			in.record(result.EndToEnd, base, 0, result.Config{Batch: 128, Workers: workers, Data: "photos", Model: "vit"}, result.Measured{Samples: 1000, Seconds: seconds, EndToEnd: seconds})
		}
		findings := newReport(in.records, nil).Sections[0].Findings
		if !slices.ContainsFunc(findings, func(f string) bool {
			return strings.Contains(f, "the study's batch 128, 12 workers, with a regret below 2 %, "+want)
		}) {
			t.Errorf("%q\nwant %q", findings, want)
		}
	}
}

func TestASectionNamesTheStudiesOfItsData(t *testing.T) {
	for want, data := range map[string][]string{
		"; go run ./bench/studies -studies photos":                {"photos, training"},
		"; go run ./bench/studies -studies clips,decoding,tokens": {"rows of tokens, cold", "photos, decoded", "clips of VP9, GOP 30"},
		"; 2026-11-21": {"photos"}, // which are of other studies
	} {
		in := &inventor{}
		for _, d := range data {
			in.record(result.Throughput, base, 0, result.Config{Batch: 128, Workers: 2, Data: d}, result.Measured{Samples: 1000, Seconds: 1})
		}
		if where := newReport(in.records, nil).Sections[0].Where; !strings.HasSuffix(where, want) {
			t.Errorf("%q: got %q, want %q at the end", data, where, want)
		}
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
	for _, want := range []string{"### Speed compared with other libraries, simulated", "| photos | PyTorch with PIL "} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	if err := os.WriteFile(readme, []byte("nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(filepath.Join(dir, "out"), readme, []string{file}, io.Discard); err == nil || read(t, readme) != "nothing\n" {
		t.Errorf("a README without the two lines: got %v", err)
	}
}

func TestEpochsTooShortForPeaksAreNotCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loading.jsonl")
	for _, r := range invent() {
		if r.Study != result.Loading {
			continue
		}
		if r.Config.Workers == 8 {
			r.Measured.Waits = r.Measured.Waits[:16]
		}
		if err := result.AppendFile(file, r); err != nil {
			t.Fatal(err)
		}
	}
	// Three batch sizes with 2 and 4 workers.
	if want := "penstock without Help in 6 of 6 configurations"; !strings.Contains(made(t, file), want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestTheReadmeShowsTheKeptResults(t *testing.T) {
	files, err := filepath.Glob("../results/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of results, %v", len(files), err)
	}
	want := read(t, "../README.md")
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.TempDir(), file, files, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); got != want {
		t.Error("bench/README.md differs: go run ./bench/report -readme bench/README.md bench/results/*.jsonl")
	}
}

func TestThePageReachesNoNetwork(t *testing.T) {
	text := made(t, madeUp(t))
	data := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(text, "")
	if found := regexp.MustCompile(`(?i)(src|href)="(https?:)?//[^"]*"`).FindString(data); found != "" {
		t.Errorf("the page names %s", found)
	}
	if !strings.Contains(text, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-`) {
		t.Error("the page does not forbid other sources")
	}
}

func TestTextsOfResultsAreEscaped(t *testing.T) {
	text := made(t, hostile(t))
	for _, bad := range []string{"<script>window.owned", `<img src="x"`, "<b>\""} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := len(chartsOf(t, text)); n < 8 {
		t.Errorf("%d charts in the page's data", n)
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
	err := run(filepath.Join(dir, "out"), "", []string{path, filepath.Join(dir, "missing.jsonl")}, &log)
	for _, want := range []string{"bad.jsonl:4: invalid character '<'", "missing.jsonl"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
	if !strings.Contains(log.String(), ": 40 records of 2 files") {
		t.Errorf("got %q, want all 40 records", log.String())
	}
	if text := read(t, filepath.Join(dir, "out", "index.html")); !strings.Contains(text, "bad.jsonl:4: invalid character &#39;&lt;&#39;") {
		t.Error("the page does not name the bad line")
	}
}

func TestNoResultsAreAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := run(dir, "", []string{os.DevNull}, io.Discard); err == nil || err.Error() != "report: no results" {
		t.Errorf("got %v, want report: no results", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	if err := run(dir, "", []string{missing}, io.Discard); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v, want one line with the file's name", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// Sparse results are drawn: one record of each study, no more than it needs.
func TestASingleRecordIsDrawn(t *testing.T) {
	for _, study := range result.Studies() {
		r := result.Record{Study: study, Side: "other", Date: invent()[0].Date,
			Config:  result.Config{Batch: 1, Data: "d", Model: "m", Span: result.Epoch},
			Machine: result.Machine{CPU: "c", Processors: 1},
			Measured: result.Measured{Samples: 1, Seconds: 1, EndToEnd: 1, PerItem: 1, Waits: []float64{0},
				Stages: []result.Stage{{Name: "s"}}, Usage: []result.Usage{{}, {}}}}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		page, err := newReport([]result.Record{r}, nil).page()
		if err != nil || !bytes.Contains(page, []byte("<td>")) {
			t.Errorf("%s: nothing is drawn: %v", study, err)
		}
	}
}
