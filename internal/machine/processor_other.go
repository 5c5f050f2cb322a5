//go:build !unix && !windows

package machine

import "time"

// ProcessTime is not known here.
func ProcessTime() (used time.Duration, known bool) { return 0, false }
