//go:build cgo && linux && amd64 && !noxla

package gomlx_test

import (
	"os"
	"testing"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/go-xla/compute/xla"
)

// xlaBackend runs XLA's plugin for the processor that PENSTOCK_PJRT names.
func xlaBackend(t testing.TB) compute.Backend {
	t.Helper()
	plugin := os.Getenv("PENSTOCK_PJRT")
	if plugin == "" {
		t.Skip("XLA is not tested: PENSTOCK_PJRT names no plugin; ./plugin DIR fetches one")
	}
	os.Setenv("GOMLX_NO_AUTO_INSTALL", "1") // GoMLX would download a plugin of its own
	b, err := compute.NewWithConfig("xla:" + plugin + ",shared_buffers")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}
