//go:build unix

package ffmpeg

import (
	"os/exec"
	"syscall"
)

// Outputs is how many outputs a program may have.
const Outputs = 16

// alone puts a process into a group of its own, all of which ends when it is cancelled: also what a script has started.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
