//go:build !linux && !darwin

package guard

import "testing"

// pages returns n bytes, without forbidden pages on this system.
func pages(_ testing.TB, n int) []byte { return make([]byte, n) }
