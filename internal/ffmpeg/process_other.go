//go:build !unix

package ffmpeg

import "os/exec"

// alone leaves a process as it is: when it is cancelled, it alone ends.
func alone(*exec.Cmd) {}
