package journal

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/penstock-go/penstock/internal/files"
)

// A Writing is what the writers over a Log have in common: after an error nothing more is written, errors name the file,
// and what is not finished is continued by the next one.
type Writing struct {
	Log      *Log
	prefix   string // of errors: the package
	path     string
	err      error // the first one of writing, or why nothing more may be written
	finished bool
}

// Begin opens the log of a path for a package that writes it: see [Open]. Errors name the file of the system that they
// concern, or else path.
func Begin(ctx context.Context, prefix, path, log, head string, ready func() error, replay func(Note) bool) (*Writing, error) {
	w := &Writing{prefix: prefix, path: path}
	var err error
	if w.Log, err = Open(ctx, log, head, ready, replay); err != nil {
		return nil, w.Wrap(err)
	}
	return w, nil
}

// Wrap adds the name of the file to an error.
func (w *Writing) Wrap(err error) error {
	name := w.path
	if e, ok := errors.AsType[*os.PathError](err); ok {
		name = e.Path
	}
	return fmt.Errorf("%s: write %s: %w", w.prefix, name, files.Cause(err))
}

// Err is the error after which nothing more is written.
func (w *Writing) Err() error { return w.err }

// Do writes something. If it fails, nothing more is written.
func (w *Writing) Do(write func() error) error {
	if w.err == nil {
		if err := write(); err != nil {
			w.err = w.Wrap(err)
		}
	}
	return w.err
}

// Finish writes the last things, which end the log.
func (w *Writing) Finish(write func() error) error {
	if w.err != nil {
		return w.err
	}
	if err := w.Do(write); err != nil {
		return errors.Join(err, w.Log.Close())
	}
	w.finished = true
	w.err = w.Wrap(errors.New("finished"))
	return nil
}

// Close closes the files, unless Finish did.
func (w *Writing) Close() error {
	if w.finished {
		return nil
	}
	if w.err == nil {
		w.err = w.Wrap(errors.New("closed"))
	}
	if err := w.Log.Close(); err != nil {
		return w.Wrap(err)
	}
	return nil
}
