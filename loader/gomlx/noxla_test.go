//go:build !(cgo && linux && amd64 && !noxla)

package gomlx_test

import (
	"testing"

	"github.com/gomlx/compute"
)

func xlaBackend(t testing.TB) compute.Backend {
	t.Helper()
	t.Skip("XLA is not in this build: it needs cgo on linux/amd64, without the tag noxla")
	return nil
}
