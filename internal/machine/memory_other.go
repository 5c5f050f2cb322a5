//go:build !linux && !darwin

// Package machine tells what this program may use of the machine.
package machine

import "math"

// Memory is not known here.
func Memory() int { return math.MaxInt }
