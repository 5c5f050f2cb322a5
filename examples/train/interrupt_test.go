package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestInterruptedRunKeepsItsLastStep(t *testing.T) {
	dir := drawn(t, images)
	want := train(t, tiny(filepath.Join(t.TempDir(), "c")), dir)

	o := tiny(filepath.Join(t.TempDir(), "interrupted"))
	for _, at := range []int{1, 5, 6, 11, 17} { // 6 is the last step of an epoch
		r, err := newTrainer(o, dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = r.train(ctx, func(bool) {
			if r.Adam.Steps == at {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || r.Adam.Steps != at {
			t.Errorf("got %v after step %d, want context.Canceled after %d", err, r.Adam.Steps, at)
		}
		cancel()
		r.Close()
	}
	if got := train(t, o, dir); !bytes.Equal(got, want) {
		t.Error("the checkpoint differs from that of the run that was not interrupted")
	}
}

// The step is made and cannot be undone, but is in no checkpoint before the validation.
func TestRunInterruptedDuringValidationKeepsItsLastStep(t *testing.T) {
	dir := drawn(t, images)
	for range 5 {
		o := tiny(filepath.Join(t.TempDir(), "c"))
		o.every, o.epochs = 1<<20, 1<<20 // the interrupt ends it
		r, err := newTrainer(o, dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for r.validLoader.Stats().Samples == 0 && ctx.Err() == nil {
				runtime.Gosched()
			}
			cancel()
		}()
		if err := r.train(ctx, func(bool) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		cancel()
		r.Close()
		again, err := newTrainer(o, dir)
		if err != nil {
			t.Fatal(err)
		}
		if again.Adam.Steps != r.Adam.Steps || len(again.Epochs) == 0 {
			t.Errorf("%d steps and %d validated epochs are saved, %d steps were made", again.Adam.Steps, len(again.Epochs), r.Adam.Steps)
		}
		again.Close()
	}
}

// Otherwise the printed command to resume would hide the error.
func TestInterruptedRunSaysThatItCouldNotSave(t *testing.T) {
	o := tiny(filepath.Join(t.TempDir(), "folder", "c"))
	if err := os.Mkdir(filepath.Dir(o.checkpoint), 0o777); err != nil {
		t.Fatal(err)
	}
	r, err := newTrainer(o, drawn(t, images))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = r.train(ctx, func(bool) {
		if err := os.RemoveAll(filepath.Dir(o.checkpoint)); err != nil {
			t.Error(err)
		}
		cancel()
	})
	if !errors.Is(err, os.ErrNotExist) || errors.Is(err, context.Canceled) || r.Adam.Steps != 1 {
		t.Errorf("got %v after %d steps", err, r.Adam.Steps)
	}
}
