//go:build !unix

package ffmpeg

import "os/exec"

// Outputs is how many outputs a program may have: on Windows it inherits no more.
const Outputs = 1

// alone leaves a process as it is: when it is cancelled, it alone ends.
func alone(*exec.Cmd) {}
