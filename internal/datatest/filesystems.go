package datatest

import (
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// An OpenedFS counts how often its files are opened.
type OpenedFS struct {
	fs.FS
	mu    sync.Mutex
	opens map[string]int
}

// Open opens a file.
func (o *OpenedFS) Open(name string) (fs.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.opens == nil {
		o.opens = map[string]int{}
	}
	o.opens[name]++
	return o.FS.Open(name)
}

// Opens is how often each file has been opened, by name, since the last call.
func (o *OpenedFS) Opens() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	opens := o.opens
	o.opens = nil
	return opens
}

// A PipeFS has a pipe under every name. No pipe may be opened.
type PipeFS struct {
	fstest.MapFS
	T testing.TB
}

// Open fails the test.
func (p PipeFS) Open(name string) (fs.File, error) {
	p.T.Errorf("%s was opened: a pipe waits for a writer", name)
	return nil, fs.ErrInvalid
}

// Stat says that the file is a pipe.
func (p PipeFS) Stat(name string) (fs.FileInfo, error) {
	return fstest.MapFS{name: {Mode: fs.ModeNamedPipe}}.Stat(name)
}

// Promising is a file system in which every file with a dot in its name holds
// Content and claims to have Size bytes.
type Promising struct {
	fs.FS
	Content string
	Size    int64
}

// Open opens a file.
func (p Promising) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if err != nil || !strings.Contains(name, ".") || name == "." {
		return f, err
	}
	return &promisingFile{f, strings.NewReader(p.Content), p.Size}, nil
}

type promisingFile struct {
	fs.File
	content  *strings.Reader
	promised int64
}

func (f *promisingFile) Read(p []byte) (int, error) { return f.content.Read(p) }
func (f *promisingFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *promisingFile) Name() string               { return "" }
func (f *promisingFile) Size() int64                { return f.promised }
func (f *promisingFile) Mode() fs.FileMode          { return 0 }
func (f *promisingFile) ModTime() time.Time         { return time.Time{} }
func (f *promisingFile) IsDir() bool                { return false }
func (f *promisingFile) Sys() any                   { return nil }

// A SeekOnly file system hides ReadAt of its files and leaves them Seek.
type SeekOnly struct{ fs.FS }

// Open opens a file.
func (s SeekOnly) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct {
		fs.File
		io.Seeker
	}{f, f.(io.Seeker)}, nil
}
