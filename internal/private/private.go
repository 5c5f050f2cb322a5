// Package private keeps what other users of the machine have prepared out of the folders and files that
// packages of dataset/ write. It also has locks between the processes of the same user, which the system ends with the process that
// holds them, however that ends.
//
// A file is opened only if it is a regular file and belongs to the user, and for writing only if it has
// no other name. Symbolic links are not followed. On Windows, where folders hand their permissions down, and on systems without
// users, owners are not compared. The administrator is a user like all others: no other program's files
// are to be changed with these rights.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Folder is a folder that only its user can change. Names in it are relative, and never lead out of it. While
// a file is open, it can be renamed and removed, and its name is free at once, on Windows too.
type Folder struct{ root *os.Root }

// Open opens a folder, which it makes if need be, for its user alone. It is an error if others can
// write to it, unless it is empty: then Open takes that permission from them.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(filepath.Clean(dir)); {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0 && !trusted(info):
		return nil, errors.New("is a symbolic link of another user")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{root}
	if err := f.claim(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

const others = 0o022 // permissions to write

// claim makes sure that the folder is private.
func (f *Folder) claim() error {
	info, err := f.root.Stat(".")
	if err != nil {
		return err
	}
	if !mine(info) {
		return errors.New("belongs to another user: choose a folder of your own, for example a new one below it")
	}
	if !writable(info) {
		return nil
	}
	entries, err := f.ReadDir(".")
	if err == nil && len(entries) == 0 {
		if err = f.root.Chmod(".", info.Mode().Perm()&^others); err == nil {
			entries, err = f.ReadDir(".") // what somebody has put there in between
		}
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("other users can write to it (%v): choose a new folder, or, if you trust what is in it, change that: chmod go-w", info.Mode())
	}
	return err
}

// Name is the path with which the folder was opened.
func (f *Folder) Name() string { return f.root.Name() }

// Close closes the folder, not the files in it.
func (f *Folder) Close() error { return f.root.Close() }

// Open opens a file for reading.
func (f *Folder) Open(name string) (*os.File, error) { return f.OpenFile(name, os.O_RDONLY) }

// OpenFile opens a file as [os.OpenFile] does. If it makes it, only the user can read it.
func (f *Folder) OpenFile(name string, flag int) (*os.File, error) {
	return open(f.root, name, flag, 0o600)
}

// ReadFile reads a file of at most that many bytes.
func (f *Folder) ReadFile(name string, most int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
	}
	text := make([]byte, info.Size())
	n, err := file.ReadAt(text, 0)
	if n < len(text) {
		return nil, err
	}
	return text, nil
}

// ReadDir lists a folder, sorted by name.
func (f *Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(f.root.FS(), filepath.ToSlash(name))
}

// Lstat describes a file, without following it.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

// Mkdir makes a folder.
func (f *Folder) Mkdir(name string) error { return f.root.Mkdir(name, 0o700) }

// Remove removes a file, or an empty folder.
func (f *Folder) Remove(name string) error { return f.root.Remove(name) }

// Rename renames a file, in place of one with the new name.
func (f *Folder) Rename(from, to string) error { return f.root.Rename(from, to) }

// RenameSynced renames a file as Rename does. Its new name survives a crash of the machine, unless
// the file system writes no folders on demand, as some network file systems do not.
func (f *Folder) RenameSynced(from, to string) error { return renameSynced(f.root, from, to) }

// Touch sets the time of a file's last change to now.
func (f *Folder) Touch(name string) error {
	now := time.Now()
	return f.root.Chtimes(name, now, now)
}

// OpenFile opens a file in a folder to which others may write, as [os.OpenFile] does. The permissions
// are those of a new file. Its error has the path.
func OpenFile(path string, flag int, perm fs.FileMode) (file *os.File, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err == nil {
		defer root.Close()
		file, err = open(root, filepath.Base(path), flag, perm)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return file, nil
}

// open opens a file that exists and is the user's, or makes it. It truncates only what is the user's.
func open(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	for range 100 { // if the file is gone, there, or another one, another process of the user may just have done that
		if flag&os.O_CREATE != 0 {
			file, err := root.OpenFile(name, flag|os.O_EXCL, perm)
			if !errors.Is(err, fs.ErrExist) || flag&os.O_EXCL != 0 {
				return file, err
			}
		}
		file, err := openOwn(root, name, flag&^(os.O_CREATE|os.O_TRUNC))
		if err == nil && flag&os.O_TRUNC != 0 {
			if err = file.Truncate(0); err != nil {
				err = errors.Join(err, file.Close())
			}
		}
		if err != errReplaced && (!errors.Is(err, fs.ErrNotExist) || flag&os.O_CREATE == 0) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s changes all the time", name)
}

// openOwn opens a file of the user.
func openOwn(root *os.Root, name string, flag int) (*os.File, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := refusal(name, seen, flag); err != nil { // before the file is opened: a pipe would wait
		return nil, err
	}
	file, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case !os.SameFile(seen, info):
		file.Close()
		return nil, errReplaced
	}
	return file, nil
}

var errReplaced = errors.New("the file was replaced while it was opened")

// refusal is the error of a file that is not to be opened.
func refusal(name string, info fs.FileInfo, flag int) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: %v", name, info.Mode())
	case !mine(info):
		return fmt.Errorf("%s belongs to another user", name)
	case flag&(os.O_WRONLY|os.O_RDWR) != 0 && names(info) > 1:
		return fmt.Errorf("%s has another name, too: a hard link", name)
	}
	return nil
}
