package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

// launch is a launcher of its own: it starts four ranks, kills them in the middle of the
// epoch, and goes on with three.
func launch(step time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "ranks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")

	four, err := startRanks(ctx, 4, "-out", first, "-step", step.String())
	if err != nil {
		return err
	}
	begun := waitForSamples(ctx, first, samples/3)
	for _, cmd := range four {
		cmd.Process.Kill() // its error says that the process has ended by itself
	}
	for _, cmd := range four {
		cmd.Wait() // its error says that the process was killed
	}
	if begun != nil {
		return begun
	}
	fmt.Println("four ranks were killed")

	three, err := startRanks(ctx, 3, "-out", second, "-after", first, "-step", step.String())
	if err != nil {
		return err
	}
	var failed error
	for rank, cmd := range three {
		if err := cmd.Wait(); err != nil && failed == nil {
			failed = fmt.Errorf("rank %d of 3: %w", rank, err)
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	if failed != nil {
		return failed
	}
	return checkOnce(second, first)
}

var errInterrupted = errors.New("interrupted; the next run begins anew")

// startRanks starts this program once for each rank, with the variables that torchrun sets.
// The ranks are killed when ctx is done.
func startRanks(ctx context.Context, world int, args ...string) ([]*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	for rank := range world {
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Env = append(os.Environ(), fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", world))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			for _, other := range all {
				other.Process.Kill()
				other.Wait()
			}
			return nil, err
		}
		all = append(all, cmd)
	}
	return all, nil
}

// waitForSamples waits until the ranks of a run have recorded this number of samples.
func waitForSamples(ctx context.Context, dir string, want int) error {
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			return errInterrupted
		}
		ranks, err := readRecords(dir)
		if err != nil {
			continue // no rank has begun
		}
		n := 0
		for _, list := range ranks {
			for _, r := range list {
				n += len(r.Indices)
			}
		}
		if n >= want {
			return nil
		}
	}
	return errors.New("the ranks have not loaded a third of the epoch in 30 seconds")
}
