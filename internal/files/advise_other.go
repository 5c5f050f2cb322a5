//go:build !linux && !darwin

package files

import "os"

// advise does nothing: this system takes no such advice.
func advise(*os.File, int64, int64) {}
