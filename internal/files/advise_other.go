//go:build !linux && !darwin

package files

import "os"

// advise does nothing: this system has no such call.
func advise(*os.File, int64, int64) {}
