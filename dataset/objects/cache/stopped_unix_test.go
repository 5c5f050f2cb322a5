//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cache_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSeveralProcessesStayBelowTheLimitTogether(t *testing.T) {
	s, dir := newSource(killedBlocks), t.TempDir()
	var kills []func() string
	var children []*os.Process
	for range 3 {
		cmd, kill := child(t, dir)
		kills, children = append(kills, kill), append(children, cmd.Process)
	}
	signal := func(s os.Signal) {
		for _, p := range children {
			if err := p.Signal(s); err != nil {
				t.Error(err)
			}
		}
	}
	c := open(t, s, dir, s.room()/3)
	for range 20 {
		work(t, s, c, 2)
		signal(unix.SIGSTOP) // else files would come and go while they are counted
		for k, p := range children {
			var status unix.WaitStatus
			if _, err := unix.Wait4(p.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("process %d has not stopped: status %d, %v: %s", p.Pid, status, err, kills[k]())
			}
		}
		if _, _, used := tree(t, dir); used > s.room()/3 {
			t.Errorf("%d bytes, the limit is %d", used, s.room()/3)
		}
		signal(unix.SIGCONT)
	}
	for _, kill := range kills {
		if text := kill(); strings.Contains(text, "FAIL") {
			t.Error(text)
		}
	}
}
