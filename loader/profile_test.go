package loader_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestProfilesShowWorkerAndStage(t *testing.T) {
	for _, stage := range []string{"", dataset.StageRead} {
		var profile bytes.Buffer
		ds := &fake{n: 1, place: func(_ context.Context, i int, dst dataset.Slot) error {
			if stage != "" {
				dst.Stage(stage)
			}
			return pprof.Lookup("goroutine").WriteTo(&profile, 1)
		}}
		want := `"worker":"0"`
		if stage != "" {
			want = `"stage":"read", ` + want
		}
		collect(t, loadertest.New(t, ds, loader.Workers(1)), 0, 1)
		if !strings.Contains(profile.String(), want) {
			t.Errorf("stage %q: no goroutine has the labels %s:\n%s", stage, want, &profile)
		}
	}
}
