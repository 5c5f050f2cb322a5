package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// AnyName lets an [os.DirFS] open files whose names are not UTF-8. Linux has such
// names and [fs.ReadDir] lists them, but package io/fs treats them as invalid.
// Other file systems stay as they are.
func AnyName(fsys fs.FS) fs.FS {
	if reflect.TypeOf(fsys) != reflect.TypeOf(os.DirFS(".")) {
		return fsys
	}
	root := reflect.ValueOf(fsys).String()
	if root == "" {
		return fsys
	}
	return dir(root)
}

// dir is a folder of the operating system, as os.DirFS is.
type dir string

func (d dir) Open(name string) (fs.File, error) {
	full, err := d.join("open", name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, renamed(err, name)
	}
	return f, nil
}

func (d dir) ReadDir(name string) ([]fs.DirEntry, error) {
	full, err := d.join("readdir", name)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(full)
	return entries, renamed(err, name)
}

func (d dir) Stat(name string) (fs.FileInfo, error) {
	full, err := d.join("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(full)
	return info, renamed(err, name)
}

// join is the path of a name that is valid except that it need not be UTF-8.
func (d dir) join(op, name string) (string, error) {
	valid := strings.ToValidUTF8(name, "_")
	local, err := filepath.Localize(valid)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if valid != name {
		local = name // systems with such names separate paths by slashes
	}
	return string(d) + string(filepath.Separator) + local, nil
}

// renamed is err with the requested name as its path.
func renamed(err error, name string) error {
	if p, ok := err.(*fs.PathError); ok {
		p.Path = name
	}
	return err
}
