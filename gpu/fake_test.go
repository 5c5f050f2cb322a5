//go:build linux && (amd64 || arm64)

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/penstock-go/penstock/gpu"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
)

// fake is the driver that tests run on.
var fake struct {
	*driver.Driver
	missing error
}

const (
	outOfMemory  = driver.OutOfMemory
	osError      = driver.OSError
	launchFailed = driver.LaunchFailed // sticky
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fake-cuda")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		fake.Driver, fake.missing = driver.Build(dir)
		return m.Run()
	}())
}

// needFake resets the fake driver, and checks after the test that nothing is left.
func needFake(t testing.TB) {
	t.Helper()
	switch {
	case errors.Is(fake.missing, exec.ErrNotFound):
		t.Skip("needs gcc, to build the fake CUDA driver")
	case fake.missing != nil:
		t.Fatal(fake.missing)
	}
	fake.Use(t)
	fake.Restart()
	t.Cleanup(func() {
		if t, ok := t.(*testing.T); ok {
			goleak.VerifyNone(t)
		}
	})
}

// open is a device of the fake driver, closed at the end of the test.
func open(t testing.TB, options ...gpu.Option) *gpu.Device {
	t.Helper()
	needFake(t)
	d, err := gpu.Open(append(options, gpu.Library(fake.File))...)
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

// another is a device of a fake driver that was reset before.
func another(t testing.TB, ordinal int) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Library(fake.File), gpu.Ordinal(ordinal))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, d)
	return d
}
