//go:build !linux && !darwin

package files

import "os"

// TakesAdvice says whether the operating system can be asked to read files ahead.
const TakesAdvice = false

func advise(*os.File, int64, int64) {}

func resident(*os.File, int64) bool { return false }
