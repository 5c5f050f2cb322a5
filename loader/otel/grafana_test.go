package otel_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A panel is a panel of the dashboard in grafana.json.
type panel struct {
	ID      int
	Type    string
	Title   string
	Targets []struct{ Expr string }
	GridPos struct{ H, W, X, Y int }
}

func dashboard(t *testing.T) (panels []panel) {
	t.Helper()
	text, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Panels []panel }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"expr"`)); n < 25 {
		t.Fatalf("the dashboard has %d expressions", n)
	}
	return d.Panels
}

var metricName = regexp.MustCompile(`\bpenstock_[a-z_]+`)

// labels are the names in expressions that are no metrics.
var labels = []string{"penstock_loader_name", "penstock_source_name", "penstock_stage", "penstock_result", "penstock_loop_state", "penstock_worker_state"}

func TestTheDashboardShowsEveryMetricAndNoOther(t *testing.T) {
	l, server := everything(t)
	epoch(t, t.Context(), l, 0)
	text := scrape(t, server)
	exported := slices.DeleteFunc(series(text), func(name string) bool { return name == "target_info" })
	var shown []string
	for _, p := range dashboard(t) {
		for _, target := range p.Targets {
			shown = append(shown, metricName.FindAllString(target.Expr, -1)...)
		}
	}
	slices.Sort(shown)
	shown = slices.Compact(slices.DeleteFunc(shown, func(name string) bool { return slices.Contains(labels, name) }))
	if !slices.Equal(shown, exported) {
		t.Errorf("the dashboard shows\n%s\nexported are\n%s", strings.Join(shown, "\n"), strings.Join(exported, "\n"))
	}
	for _, label := range labels {
		if !strings.Contains(text, label+`="`) {
			t.Errorf("no series has the label %s", label)
		}
	}
}

func TestPanelsOfTheDashboardDoNotOverlap(t *testing.T) {
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	for _, p := range dashboard(t) {
		if ids[p.ID] {
			t.Errorf("two panels have the ID %d", p.ID)
		}
		ids[p.ID] = true
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%s is on %s at %d, %d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}
