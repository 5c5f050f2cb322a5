package main

import (
	"errors"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// start starts a process there.
func (p place) start(c *exec.Cmd) error {
	if p == anywhere {
		return c.Start()
	}
	// A process inherits the processors of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	if all.Count() < 2 {
		return errors.New("want two processors, so that a side and the server have their own")
	}
	lastOne := 0
	for k := range len(all) * 64 {
		if all.IsSet(k) {
			lastOne = k
		}
	}
	if some = all; p == last {
		some.Zero()
		some.Set(lastOne)
	} else {
		some.Clear(lastOne)
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return err
	}
	return errors.Join(c.Start(), unix.SchedSetaffinity(0, &all))
}
