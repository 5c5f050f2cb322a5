//go:build linux && (amd64 || arm64)

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/bench/result"
)

// short returns options for a fast run.
func short(t *testing.T) options {
	return options{results: filepath.Join(t.TempDir(), "results.jsonl"), parts: []string{"copy", "loop", "vm", "item"},
		rounds: 2, copies: 3, batches: 8, sizes: []int{1, 5000}, batch: []int{2, 3}, workers: []int{1, 2},
		side: 8, compute: 100 * time.Microsecond, hidden: 4}
}

// fakeDriver is the fake driver of gpu's tests, with the benchmark's kernel. The tests check that
// the program works on it; its times mean nothing.
func fakeDriver(t *testing.T) string {
	t.Helper()
	for _, compiler := range []string{"gcc", "g++"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Skipf("needs %s, to build the fake CUDA driver", compiler)
		}
	}
	file := filepath.Join(t.TempDir(), "libcuda.so.1")
	if out, err := exec.Command("bash", "../../gpu/internal/fake/build", file, "spin.cu").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

func TestEveryRoundLeavesARecord(t *testing.T) {
	o := short(t)
	o.library = fakeDriver(t)
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	records, err := result.ReadFile(o.results)
	if err != nil {
		t.Fatal(err)
	}
	count, hidden := map[string]int{}, map[string]float64{}
	for _, r := range records {
		count[r.Side]++
		if r.Machine.GPU == "" {
			t.Fatalf("%+v names no GPU", r)
		}
		if r.Study == result.EndToEnd && (len(r.Measured.Waits) != o.batches || r.Measured.Samples != int64(o.batches*r.Config.Batch)) {
			t.Errorf("%s: got %d waits and %d samples of %d batches of %d", r.Side, len(r.Measured.Waits), r.Measured.Samples, o.batches, r.Config.Batch)
		}
		if least := o.compute.Seconds() * float64(r.Measured.Samples); r.Study == result.EndToEnd && r.Measured.Compute < least {
			t.Errorf("%s: got %v s of computing, want %v or more", r.Side, r.Measured.Compute, least)
		}
		hidden[r.Side] += r.Measured.HiddenShare
	}
	copies, loops := o.rounds*len(o.sizes), o.rounds*len(o.batch)*len(o.workers)
	for side, want := range map[string]int{
		"penstock, Go's memory": copies, "penstock, page-locked": copies, "penstock, Stage": loops,
		"penstock, copies from Go's memory": loops, "penstock, copies from page-locked memory": loops,
	} {
		if count[side] != want {
			t.Errorf("%s: got %d records, want %d", side, count[side], want)
		}
		if hides := side == "penstock, Stage"; (hidden[side] > 0) != hides {
			t.Errorf("%s: the hidden shares of its copies add up to %v, want more than 0: %v", side, hidden[side], hides)
		}
	}
}

// TestACopyIsMeasuredToItsEnd: calls that copy from Go's memory return before the copy ends.
func TestACopyIsMeasuredToItsEnd(t *testing.T) {
	file := fakeDriver(t)
	d, err := openDriver(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	handle, err := purego.Dlopen(file, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	var speed func(latency, jitter, bytesPerMicrosecond int64)
	purego.RegisterLibFunc(&speed, handle, "fake_speed")
	const lasts = 20 * time.Millisecond
	speed(int64(lasts), 0, 0)
	defer speed(0, 0, 0)
	for _, bytes := range []int{1, 64 << 10, 1 << 20} {
		target, err := d.alloc(bytes)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		seconds, err := d.upload(target, unsafe.Pointer(unsafe.SliceData(make([]byte, bytes))), bytes)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < lasts || seconds < lasts.Seconds() {
			t.Errorf("%d bytes: got %v s by the events, %v in all, want %v or more", bytes, seconds, took, lasts)
		}
		if err := d.free(target); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADriverThatIsNotThereIsAnError(t *testing.T) {
	o := short(t)
	o.library = "/nowhere/libcuda.so.1"
	if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), o.library) {
		t.Errorf("got %v, want an error that names %s", err, o.library)
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	for _, change := range []func(*options){
		func(o *options) { o.parts = []string{"copy", "paste"} }, func(o *options) { o.rounds = 0 }, func(o *options) { o.compute = -1 },
	} {
		o := short(t)
		change(&o)
		if o.validate() == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	if got, err := numbers("batch", "1,20"); err != nil || !slices.Equal(got, []int{1, 20}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "0", "1,,2", "x"} {
		if _, err := numbers("batch", text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
