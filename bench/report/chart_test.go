package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

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

func TestAChartsFileDoesNotDependOnTheOthers(t *testing.T) {
	d, err := newDrawer()
	if err != nil {
		t.Fatal(err)
	}
	ch := &chart{ID: "first", Kind: lines, X: axis{Name: "x"}, Y: axis{Name: "y"},
		Panels: []*panel{{Series: []*series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}, {Name: "b", Colour: 1, X: []float64{1, 2}, Y: []float64{5, 4}}}}}}
	first, err := d.svg(ch, false)
	if err != nil {
		t.Fatal(err)
	}
	ch.ID = "second"
	if second, err := d.svg(ch, false); err != nil || second != first {
		t.Errorf("the same chart, drawn later: got %v and another file", err)
	}
}
