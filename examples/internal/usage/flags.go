package usage

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Int declares a flag that is a number of at least least.
func Int(p *int, name string, value, least int, text string) {
	*p = value
	flag.Var(&number{p, least}, name, text)
}

type number struct {
	p     *int
	least int
}

func (n *number) String() string {
	if n.p == nil {
		return "" // package flag asks a zero value
	}
	return strconv.Itoa(*n.p)
}

func (n *number) Set(s string) (err error) {
	if *n.p, err = strconv.Atoi(s); err != nil || *n.p < n.least {
		return fmt.Errorf("want a number from %d on", n.least)
	}
	return nil
}

// Folder declares a flag that is an existing folder. It is empty by default.
func Folder(p *string, name, text string) {
	flag.Var(&checked{p, isFolder}, name, text)
}

// NewFolder declares a flag that is a folder, which the program makes if it does not exist.
func NewFolder(p *string, name, value, text string) {
	*p = value
	flag.Var(&checked{p, isNewFolder}, name, text)
}

func isNewFolder(path string) error {
	if path == "" {
		return errors.New("want a folder")
	}
	if err := isFolder(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// File declares a flag that is an existing file. It is empty by default.
func File(p *string, name, text string) {
	flag.Var(&checked{p, isFile}, name, text)
}

func isFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return fmt.Errorf("want a file: %w", cause(err))
	}
	return nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return fmt.Errorf("want a folder: %w", cause(err))
	}
	return nil
}

// Output declares a flag that is a file to write. Its name must end in one of the extensions,
// where there are some. "" among them allows an empty name. A file that is there stays as it is.
func Output(p *string, name, value, text string, extensions ...string) {
	*p = value
	flag.Var(&checked{p, func(path string) error { return isWritable(path, extensions) }}, name, text)
}

func isWritable(path string, extensions []string) error {
	if path == "" && slices.Contains(extensions, "") {
		return nil
	}
	if ext := strings.ToLower(filepath.Ext(path)); len(extensions) > 0 && (ext == "" || !slices.Contains(extensions, ext)) {
		return fmt.Errorf("want a name that ends in %s", strings.TrimSuffix(strings.Join(extensions, " or "), " or "))
	}
	info, missing := os.Stat(path)
	if missing == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // a pipe would notice that it is opened
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("want a file to write: %w", cause(err))
	}
	err = f.Close()
	if missing != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Choice declares a flag that is one of several words.
func Choice(p *string, name, value, text string, words ...string) {
	*p = value
	flag.Var(&checked{p, func(word string) error {
		if slices.Contains(words, word) {
			return nil
		}
		return fmt.Errorf("want %s", strings.Join(words, " or "))
	}}, name, text)
}

// checked is a text that is checked when it is set.
type checked struct {
	p     *string
	check func(string) error
}

func (c *checked) String() string {
	if c.p == nil {
		return "" // package flag asks a zero value
	}
	return *c.p
}

func (c *checked) Set(s string) error {
	*c.p = s
	return c.check(s)
}

// cause is an error of a file without the file's name, which package flag prints.
func cause(err error) error {
	if path := new(os.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}
