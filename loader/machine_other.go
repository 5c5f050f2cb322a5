//go:build !linux && !darwin

package loader

import "math"

// machineMemory is not known here.
func machineMemory() int { return math.MaxInt }
