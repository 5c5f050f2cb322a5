//go:build !linux && !darwin

package resize

import "testing"

// guarded returns n bytes, without guard pages on this system.
func guarded(_ testing.TB, n int) []byte { return make([]byte, n) }
