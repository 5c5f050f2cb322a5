//go:build !linux || (!amd64 && !arm64)

package gpu

import (
	"fmt"
	"runtime"
)

func open(string) (func(name string) (uintptr, error), error) {
	return nil, fmt.Errorf("%w: %s/%s", errSystem, runtime.GOOS, runtime.GOARCH)
}

// invoke is never called, because open always fails.
func invoke(uintptr, ...uintptr) int32 { return -1 }
