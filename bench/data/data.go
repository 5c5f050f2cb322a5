// Package data makes what the benchmarks load where nothing is given: photos,
// preprocessed images, CIFAR-100's format and medical volumes.
//
// Every folder is made once, by all processors, and is the same in every run; on
// another architecture, or by another version of Go, a sine may be rounded and a
// file compressed a little differently. It appears under its name when it is
// complete, so that whoever finds it may use it: of two processes that make it at
// once, one throws its own away. Its name says how much lies in it.
package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// version is part of every name: another one where the same call makes something
// else.
const version = 1

// Root is where the benchmarks' data lies by default: penstock-bench in the
// user's cache folder.
func Root() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("data: %w", err)
	}
	return filepath.Join(cache, "penstock-bench"), nil
}

// made is the folder in root of a kind and a number of things, which fill makes
// if it is not there.
func made(root, kind string, n, most int, fill func(dir string) error) (string, error) {
	if n < 1 || n > most {
		return "", fmt.Errorf("data: %d %s: want 1 to %d", n, kind, most)
	}
	dir := filepath.Join(root, fmt.Sprintf("%s-%d-v%d", kind, n, version))
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	if err := complete(root, dir, fill); err != nil {
		return "", fmt.Errorf("data: make %s: %w", dir, err)
	}
	return dir, nil
}

// complete fills a folder of another name and renames it.
func complete(root, dir string, fill func(dir string) error) error {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(root, "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(unfinished) // is gone when all went well
	if err := fill(unfinished); err != nil {
		return err
	}
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return err
	}
	err = os.Rename(unfinished, dir)
	if _, there := os.Stat(dir); err != nil && there == nil {
		return nil // another process was faster, with the same
	}
	return err
}

// each calls do for 0 to n-1, as many at once as there are processors.
func each(ctx context.Context, n int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// create makes a file and its folder.
func create(path string, fill func(w io.Writer) error) error {
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
