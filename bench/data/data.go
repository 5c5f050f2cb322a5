// Package data makes the benchmarks' default data: photos, preprocessed images, images in
// CIFAR-100's format, medical volumes, tokens, and videos.
//
// Every folder is made once, with all processors, and is the same in every run. On another
// architecture, or with another version of Go, a sine may be rounded and a file compressed
// slightly differently. A folder appears under its name only when it is complete, so a folder
// that exists can be used. If two processes make it at the same time, one of them discards its
// own. The name says how much the folder contains.
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

// version is part of every name. It changes when the same call makes other data.
const version = 1

// Root is the default folder of the benchmarks' data: penstock-bench in the user's cache
// folder.
func Root() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("data: %w", err)
	}
	return filepath.Join(cache, "penstock-bench"), nil
}

// made returns the folder in root for n things of a kind. If it does not exist, fill makes it.
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

// complete fills a folder of another name and then renames it.
func complete(root, dir string, fill func(dir string) error) error {
	if err := os.MkdirAll(root, 0o777); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(root, "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(unfinished) // after success it no longer exists
	if err := fill(unfinished); err != nil {
		return err
	}
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return err
	}
	err = os.Rename(unfinished, dir)
	if _, there := os.Stat(dir); err != nil && there == nil {
		return nil // another process was faster and has made the same data
	}
	return err
}

// each calls do for 0 to n-1, with as many calls at once as there are processors.
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

// create creates a file, and its folder if needed.
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
