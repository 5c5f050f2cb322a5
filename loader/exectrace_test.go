package loader_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

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

func TestExecutionTracesShowBatchesWaitsAndStages(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	var events bytes.Buffer
	if err := trace.Start(&events); err != nil {
		t.Fatal(err)
	}
	ds := &fake{n: 1, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage("thinking")
		return nil
	}}
	collect(t, loadertest.New(t, ds, loader.Workers(1)), 0, 1)
	trace.Stop()
	for _, name := range []string{"loader.wait", "loader.build", "loader.batch", "epoch 0, batch 0", "loader.draw", "thinking", "loader.finish", "loader.body"} {
		if !bytes.Contains(events.Bytes(), []byte(name)) {
			t.Errorf("no task, region or log %q in the trace", name)
		}
	}
}

// TestStagesBelongToTheirBatchInExecutionTraces: also those of a worker that helps.
func TestStagesBelongToTheirBatchInExecutionTraces(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go command, which reads execution traces")
	}
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	path := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	ds := &fake{n: 8, place: func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(fmt.Sprintf("batch-%d", i/4))
		time.Sleep(time.Millisecond)
		return nil
	}}
	collect(t, loadertest.New(t, ds, loader.Workers(2), loader.BatchSize(4)), 0, 1)
	trace.Stop()
	text, err := exec.CommandContext(t.Context(), goTool, "tool", "trace", "-d=parsed", path).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: go tool trace does not work here: %v\n%s", err, text)
	}
	for batch := range 2 {
		logged := regexp.MustCompile(fmt.Sprintf(`Log .*Task=(\d+) .*Message="epoch 0, batch %d"`, batch)).FindSubmatch(text)
		if logged == nil {
			t.Fatalf("no task of batch %d in\n%s", batch, text)
		}
		stage := regexp.MustCompile(fmt.Sprintf(`RegionBegin .*Task=%s Type="batch-%d"`, logged[1], batch))
		if got := len(stage.FindAll(text, -1)); got != 4 {
			t.Errorf("%d stages belong to batch %d, want 4", got, batch)
		}
	}
}
