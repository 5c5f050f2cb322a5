//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"
	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/gpu"
)

// fake is the driver of testdata/fake: its file, and how tests control it.
var fake struct {
	file    string
	missing error

	Reset   func()
	Devices func(n int32)
	Speed   func(latency, jitter, bytesPerMicrosecond int64) // ns
	Fail    func(call string, n int64, code int32)
	Live    func(account int32) int64
	Faults  func() int64
	// Failures counts the calls that failed because Fail asked for it.
	Failures func() int64
	Uploads  func() int64
	Upload   func(i int64, entry *[3]uint64) // source, destination, bytes
	Calls    func(call string) int64
	Forget   func(account int32)

	Stream    func() uintptr
	EndStream func(stream uintptr)
	Drain     func(stream uintptr)
	Hold      func(stream uintptr) // until Release
	Release   func()
	Sum       func(stream, src uintptr, n uintptr, out *uint64, delay int64)
}

// Accounts of fake.Live.
var accounts = []string{"page-locked bytes", "device bytes", "streams", "events", "contexts"}

const (
	outOfMemory  = 2
	launchFailed = 719
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fake-cuda")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		fake.missing = build(filepath.Join(dir, "libcuda.so.1"))
		return m.Run()
	}())
}

// build compiles and loads the fake driver.
func build(file string) error {
	sources, err := filepath.Glob("testdata/fake/*.c")
	if err != nil {
		return err
	}
	args := append([]string{"-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread", "-o", file}, sources...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, out)
	}
	handle, err := purego.Dlopen(file, purego.RTLD_NOW)
	if err != nil {
		return err
	}
	for name, f := range map[string]any{
		"fake_reset": &fake.Reset, "fake_devices": &fake.Devices, "fake_speed": &fake.Speed,
		"fake_fail": &fake.Fail, "fake_live": &fake.Live, "fake_faults": &fake.Faults,
		"fake_uploads": &fake.Uploads, "fake_upload": &fake.Upload, "fake_calls": &fake.Calls,
		"fake_sum": &fake.Sum, "fake_stream": &fake.Stream, "fake_end_stream": &fake.EndStream,
		"fake_failures": &fake.Failures, "fake_hold": &fake.Hold, "fake_release": &fake.Release, "fake_drain": &fake.Drain,
	} {
		purego.RegisterLibFunc(f, handle, name)
	}
	fake.file = file
	return nil
}

// needFake resets the fake driver, and afterwards sees that nothing is left.
func needFake(t testing.TB) {
	t.Helper()
	switch {
	case errors.Is(fake.missing, exec.ErrNotFound):
		t.Skip("needs gcc, to build the fake CUDA driver")
	case fake.missing != nil:
		t.Fatal(fake.missing)
	}
	fake.Reset()
	t.Cleanup(func() {
		for i, what := range accounts {
			if n := fake.Live(int32(i)); n != 0 {
				t.Errorf("%d %s are left", n, what)
			}
		}
		if n := fake.Faults(); n != 0 {
			t.Errorf("the driver saw %d faults", n)
		}
		if t, ok := t.(*testing.T); ok {
			goleak.VerifyNone(t)
		}
	})
}

// open is a device of the fake driver, closed at the end of the test.
func open(t testing.TB, options ...gpu.Option) *gpu.Device {
	t.Helper()
	needFake(t)
	d, err := gpu.Open(append(options, gpu.Library(fake.file))...)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, d)
	return d
}

// closed closes c at the end of the test.
func closed(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}
