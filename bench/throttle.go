package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// A Throttle makes files as slow as over a network. Workers then wait rather than compute,
// so few processors can show how the number of workers scales. Results must be labelled
// with its String.
type Throttle struct {
	Latency        time.Duration // of opening a file
	BytesPerSecond float64       // of reading a file; 0 is no limit. Every file has its own limit
}

// String returns a text such as "files throttled to 40 ms and 100 MB/s".
func (t Throttle) String() string {
	if t.BytesPerSecond <= 0 {
		return fmt.Sprintf("files throttled to %v", t.Latency)
	}
	return fmt.Sprintf("files throttled to %v and %.0f MB/s", t.Latency, t.BytesPerSecond/1e6)
}

// FS returns fsys with throttled files. Folders are listed at full speed.
func (t Throttle) FS(fsys fs.FS) fs.FS { return throttled{fsys, t} }

type throttled struct {
	fs.FS
	Throttle
}

func (t throttled) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.IsDir() {
		return f, nil
	}
	time.Sleep(t.Latency)
	return slowFile{f, t.Throttle}, nil
}

func (t throttled) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.FS, name) }

func (t throttled) Stat(name string) (fs.FileInfo, error) { return fs.Stat(t.FS, name) }

type slowFile struct {
	fs.File
	Throttle
}

func (f slowFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.pay(n)
	return n, err
}

func (f slowFile) ReadAt(p []byte, at int64) (int, error) {
	r, ok := f.File.(io.ReaderAt)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	n, err := r.ReadAt(p, at)
	f.pay(n)
	return n, err
}

func (f slowFile) pay(n int) {
	if f.BytesPerSecond > 0 && n > 0 {
		time.Sleep(time.Duration(float64(n) / f.BytesPerSecond * float64(time.Second)))
	}
}
