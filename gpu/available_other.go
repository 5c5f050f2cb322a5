//go:build !linux

package gpu

// available is not known here, where no driver loads either.
func available() (n int64, known bool) { return 0, false }
