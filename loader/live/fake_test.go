package live_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader/live"
)

// fake is a dataset of samples with these names, which take some time to decode.
func fake(names []string, took func(i int) time.Duration) dataset.Dataset {
	return datatest.Named(datatest.Numbers(len(names), func(i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageDecode)
		time.Sleep(took(i))
		if names[i] == "bad" {
			return errors.New("https://bucket/bad?signature=secret")
		}
		return nil
	}), func(i int) string { return names[i] })
}

func steady(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// get asks the view for its page or, by a query, for something else.
func get(t testing.TB, v *live.View, query string) (body string, resp *http.Response) {
	t.Helper()
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/loader?"+query, nil))
	return w.Body.String(), w.Result()
}

// A report is what tests read of the JSON.
type report struct {
	Name                      string
	Closed                    bool
	Verdict                   string
	Samples, Batches, Dropped int64
	Rate                      float64 `json:"samples_per_second"`
	Wait, Busy                float64
	Stages                    []struct {
		Name        string
		Share, Call float64
	}
	Working []struct {
		Worker               int
		Doing, Sample, Stage string
		For                  float64
	}
	Slowest []struct {
		Name, Stage string
		Took        float64
	}
	Failed []struct {
		Name  string
		Epoch int
	}
}

func reports(t testing.TB, v *live.View) []report {
	t.Helper()
	text, resp := get(t, v, "format=json")
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Fatalf("got %s: %s", got, text)
	}
	var all struct{ Loaders []report }
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all.Loaders
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.02*math.Abs(b) }
