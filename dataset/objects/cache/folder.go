package cache

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// A folder holds blocks, and what several processes need to agree on them:
//
//	CACHEDIR.TAG           says that the folder is a cache, and of what
//	lock                   is locked while the folder is changed, and holds the state
//	<session>.session      is locked as long as the process lives that made it
//	<key>.<session>.part   is a block that this process writes
//	<two digits>/<rest>    is a block, under its key
//
// Files with other names are not touched and not counted.
type folder struct {
	dir     *private.Folder
	limit   int64
	session string

	lock    *os.File
	alive   *os.File      // the session's file
	turn    chan struct{} // has room for the goroutine that may lock the file
	closing chan struct{} // is closed when nobody may wait for the lock any longer

	// Who has the turn uses these.
	closed  bool
	listed  int   // the state's top when victims were listed
	victims []key // in ascending order
}

const (
	tagName       = "CACHEDIR.TAG"
	lockName      = "lock"
	sessionEnd    = ".session"
	sessionDigits = 16
	mostTag       = 4 << 10 // bytes

	// The first line makes programs for backups leave the folder out:
	// https://bford.info/cachedir/
	tag = "Signature: 8a477f597d28d172789f06886806bc55\n# blocks of penstock, format 1\n"
)

var (
	isSession   = regexp.MustCompile(`^[0-9a-f]{16}\.session$`)
	isPart      = regexp.MustCompile(`^[0-9a-f]{32}\.[0-9a-f]{16}\.part$`)
	isSubfolder = regexp.MustCompile(`^[0-9a-f]{2}$`)
	isBlock     = regexp.MustCompile(`^[0-9a-f]{30}$`)
)

// openFolder makes a folder, or opens one that exists.
func openFolder(dir string, limit int64, unused time.Duration) (*folder, error) {
	if err := private.Supported(); err != nil {
		return nil, err
	}
	opened, err := private.Open(dir)
	if err != nil {
		return nil, files.Cause(err)
	}
	f := &folder{dir: opened, limit: limit, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	if err = f.claim(); err == nil {
		f.lock, err = opened.OpenFile(lockName, os.O_RDWR|os.O_CREATE)
	}
	if err != nil {
		return nil, errors.Join(files.Cause(err), opened.Close())
	}
	err = f.with(context.Background(), func(s *state) error {
		if err := f.begin(); err != nil {
			return err
		}
		return f.clean(s, time.Now().Add(-unused))
	})
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func blockName(k key) string { return filepath.Join(string(k[:2]), string(k[2:])) }

func (f *folder) part(k key) string { return string(k) + "." + f.session + ".part" }

// claim checks that the folder is a cache, or makes it one if it is empty.
func (f *folder) claim() error {
	if tagged, err := f.tagged(); tagged || err != nil {
		return err
	}
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return files.Cause(err)
	}
	for _, e := range entries {
		name := e.Name()
		if name == tagName || name == lockName || isSession.MatchString(name) { // another process may be ahead
			continue
		}
		if tagged, err := f.tagged(); tagged || err != nil { // far ahead: it tagged the folder before it wrote blocks
			return err
		}
		return fmt.Errorf("holds %s and no valid %s: want an empty folder, or one that New has made", name, tagName)
	}
	file, err := f.dir.OpenFile(tagName, os.O_WRONLY|os.O_CREATE) // without O_TRUNC: others may read it
	if err != nil {
		return files.Cause(err)
	}
	_, err = file.WriteString(tag)
	return files.Cause(errors.Join(err, file.Close()))
}

// tagged reports whether the folder has a whole tag. One of something else is an error.
func (f *folder) tagged() (bool, error) {
	text, err := f.dir.ReadFile(tagName, mostTag)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, files.Cause(err)
	case !strings.HasPrefix(tag, string(text)): // a prefix is of a process that was killed, or has not finished
		return false, fmt.Errorf("%s is of another program or another version", tagName)
	}
	return len(text) == len(tag), nil
}

// begin makes the file that says that this process lives. The folder is locked.
func (f *folder) begin() error {
	var id [sessionDigits / 2]byte
	_, _ = rand.Read(id[:]) // never fails
	f.session = hex.EncodeToString(id[:])
	alive, err := f.dir.OpenFile(f.session+sessionEnd, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return files.Cause(err)
	}
	f.alive = alive
	ok, err := private.TryLock(alive)
	if err == nil && !ok {
		err = errors.New("a new file is locked")
	}
	return err
}

// close ends the session. Blocks that are being written are not stored.
func (f *folder) close() (err error) {
	if f.alive != nil {
		err = f.soon(f.bury)
	}
	if errors.Is(err, errHeld) { // then the next process that opens the folder does it
		err = nil
	}
	close(f.closing)
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	f.closed = true
	if f.alive != nil {
		err = errors.Join(err, f.alive.Close())
	}
	return errors.Join(err, f.lock.Close(), f.dir.Close())
}

// bury deletes what the session has left. The folder is locked.
func (f *folder) bury(s *state) error {
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return files.Cause(err)
	}
	for _, e := range entries {
		if name := e.Name(); isPart.MatchString(name) && sessionOf(name) == f.session {
			if err := f.remove(s, name); err != nil {
				return err
			}
		}
	}
	return f.remove(s, f.session+sessionEnd)
}

// sessionOf is the session of a part.
func sessionOf(part string) string { return part[keyDigits+1:][:sessionDigits] }

// clean deletes what dead processes have left and blocks that were last used before
// that time, and counts all others. The folder is locked.
func (f *folder) clean(s *state, before time.Time) error {
	*s = state{}
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return files.Cause(err)
	}
	living := map[string]bool{}
	for _, e := range entries {
		if name := e.Name(); isSession.MatchString(name) {
			if living[name[:sessionDigits]], err = f.lives(name); err != nil {
				return err
			}
		}
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case isSession.MatchString(name) && !living[name[:sessionDigits]],
			isPart.MatchString(name) && !living[sessionOf(name)]:
			err = f.unlink(name)
		case isPart.MatchString(name):
			s.used += f.sizeOf(name)
		case isSubfolder.MatchString(name) && e.IsDir():
			err = f.count(s, name, before)
		}
		if err != nil {
			return err
		}
	}
	_, _, err = f.makeRoom(s, "", 0)
	return err
}

// lives reports whether the process lives that made a session's file.
func (f *folder) lives(name string) (bool, error) {
	file, err := f.dir.OpenFile(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, files.Cause(err)
	}
	free, err := private.TryLock(file)
	return !free, errors.Join(err, file.Close())
}

// count adds the blocks of a subfolder and deletes those that were last used before that
// time.
func (f *folder) count(s *state, sub string, before time.Time) error {
	entries, err := f.dir.ReadDir(sub)
	if err != nil {
		return files.Cause(err)
	}
	for _, e := range entries {
		if !isBlock.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && info.ModTime().Before(before):
			err = f.unlink(filepath.Join(sub, e.Name()))
		case err == nil:
			s.add(key(sub+e.Name()), info.Size())
		}
		if err != nil {
			return files.Cause(err)
		}
	}
	return nil
}
