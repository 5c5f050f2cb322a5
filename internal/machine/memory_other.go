//go:build !linux && !darwin

// Package machine finds out how much memory this program may use, and how much processor time
// it has used, for loader and gpu.
package machine

import "math"

// Memory is not known here.
func Memory() int { return math.MaxInt }
