package cache

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// A folder holds blocks, and what several processes need to agree on them:
//
//	CACHEDIR.TAG           says that the folder is a cache, and of what
//	lock                   is locked while the folder is changed, and holds the state
//	<key>.<random>.part    is a block that is being written, locked by its process
//	<two digits>/<rest>    is a block, under its key
//
// Files with other names are not touched and not counted.
type folder struct {
	dir   *private.Folder
	limit int64
	own   string // of the names of parts

	mu      sync.Mutex // is held while the folder is changed, and guards these:
	lock    *os.File
	closed  bool
	gaveUp  time.Time // when another process held the folder for too long
	victims []key     // those with the highest keys, in ascending order
}

const (
	tagName  = "CACHEDIR.TAG"
	lockName = "lock"
	mostTag  = 4 << 10 // bytes

	// The first line makes programs for backups leave the folder out:
	// https://bford.info/cachedir/
	tag = "Signature: 8a477f597d28d172789f06886806bc55\n# blocks of penstock, format 1\n"
)

var (
	isPart      = regexp.MustCompile(`^[0-9a-f]{32}\.[0-9a-f]{16}\.part$`)
	isSubfolder = regexp.MustCompile(`^[0-9a-f]{2}$`)
	isBlock     = regexp.MustCompile(`^[0-9a-f]{30}$`)
)

// openFolder makes a folder, or opens one that exists.
func openFolder(dir string, limit int64) (*folder, error) {
	if err := private.Supported(); err != nil {
		return nil, err
	}
	opened, err := private.Open(dir)
	if err != nil {
		return nil, files.Cause(err)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	f := &folder{dir: opened, limit: limit, own: hex.EncodeToString(id[:])}
	if err = f.claim(); err == nil {
		f.lock, err = opened.OpenFile(lockName, os.O_RDWR|os.O_CREATE)
	}
	if err != nil {
		return nil, errors.Join(files.Cause(err), opened.Close())
	}
	err = private.Lock(f.lock)
	if err == nil {
		err = f.change(func(s *state) error { return f.clean(s, time.Now().Add(-unused)) })
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// claim checks that the folder is a cache, or makes it one if it is empty. Several processes may do
// so at once: each writes the same tag, before it writes anything else.
func (f *folder) claim() error {
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return files.Cause(err)
	}
	text, err := f.dir.ReadFile(tagName, mostTag) // after the list: what a cache holds is younger than its tag
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return files.Cause(err)
	case !strings.HasPrefix(tag, string(text)): // a prefix is of a process that was killed, or has not finished
		return fmt.Errorf("%s is of another program or another version", tagName)
	case len(text) == len(tag):
		return nil
	}
	for _, e := range entries {
		if e.Name() != tagName && e.Name() != lockName {
			return fmt.Errorf("holds %s and no valid %s: want an empty folder, or one that New has made", e.Name(), tagName)
		}
	}
	file, err := f.dir.OpenFile(tagName, os.O_WRONLY|os.O_CREATE) // without O_TRUNC: others may read it
	if err != nil {
		return files.Cause(err)
	}
	_, err = file.WriteString(tag)
	return files.Cause(errors.Join(err, file.Close()))
}

// close ends the use of the folder. What is being written is not stored.
func (f *folder) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return errors.Join(f.lock.Close(), f.dir.Close())
}

// clean deletes what dead processes have left and blocks that were last used before
// that time, and counts all others. The folder is locked.
func (f *folder) clean(s *state, before time.Time) error {
	*s = state{}
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return files.Cause(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case isPart.MatchString(name):
			err = f.countPart(s, name)
		case isSubfolder.MatchString(name) && e.IsDir():
			err = f.countBlocks(s, name, before)
		}
		if err != nil {
			return files.Cause(err)
		}
	}
	_, _, err = f.makeRoom(s, "", 0)
	return err
}

// countPart adds a part whose process lives, and deletes any other one.
func (f *folder) countPart(s *state, name string) error {
	file, err := f.dir.OpenFile(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dead, err := private.TryLock(file)
	if err = errors.Join(err, file.Close()); err == nil && dead {
		return f.unlink(name)
	}
	s.used += f.sizeOf(name)
	return err
}

// countBlocks adds the blocks of a subfolder and deletes those that were last used before that
// time.
func (f *folder) countBlocks(s *state, sub string, before time.Time) error {
	entries, err := f.dir.ReadDir(sub)
	if err != nil {
		return err
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
			s.used += info.Size()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeRoom deletes blocks until there is room for n more bytes. It deletes only blocks
// with keys above k. It reports false if that is not enough. The folder is locked.
func (f *folder) makeRoom(s *state, k key, n int64) (ok bool, evicted int, err error) {
	for s.used+n > f.limit {
		victim, err := f.highest()
		if err != nil || victim <= k {
			return false, evicted, err
		}
		f.victims = f.victims[:len(f.victims)-1]
		if err := f.remove(s, victim.name()); err != nil {
			return false, evicted, err
		}
		evicted++
	}
	return true, evicted, nil
}

// highest is the highest key of all blocks, or "" if there is none, as far as this process knows:
// another one may have deleted it, and stored a higher one. The folder is locked.
func (f *folder) highest() (key, error) {
	for first := 255; first >= 0 && len(f.victims) == 0; first-- {
		sub := hex.EncodeToString([]byte{byte(first)})
		entries, err := f.dir.ReadDir(sub)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", files.Cause(err)
		}
		for _, e := range entries {
			if isBlock.MatchString(e.Name()) {
				f.victims = append(f.victims, key(sub+e.Name()))
			}
		}
		slices.Sort(f.victims)
	}
	if len(f.victims) == 0 {
		return "", nil
	}
	return f.victims[len(f.victims)-1], nil
}

// save stores a block, if there is room for it or a block with a higher key.
func (f *folder) save(k key, p []byte) (stored bool, evicted int, err error) {
	n := int64(len(p)) + trailer
	part, evicted, err := f.reserve(k, n)
	if part == nil {
		return false, evicted, err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	if err = k.write(part, p); err == nil {
		err = f.with(func(s *state) (err error) {
			if f.has(k) { // another process was faster
				return f.remove(s, f.part(k))
			}
			stored = true
			return f.publish(k)
		})
	}
	if err != nil { // if it cannot be put away, it counts until the folder is opened anew
		return false, evicted, errors.Join(err, f.with(func(s *state) error { return f.remove(s, f.part(k)) }))
	}
	return stored, evicted, nil
}

func (f *folder) part(k key) string { return string(k) + "." + f.own + ".part" }

// reserve takes room for a block and makes its part, which is locked as long as it is open, or
// returns nil if it is not to be stored.
func (f *folder) reserve(k key, n int64) (part *os.File, evicted int, err error) {
	err = f.with(func(s *state) (err error) {
		ok := !f.has(k)
		if ok {
			ok, evicted, err = f.makeRoom(s, k, n)
		}
		if !ok || err != nil {
			return err
		}
		// From here on the room is taken, even if the process is killed now.
		s.used += n
		if err := f.write(*s); err != nil {
			return err
		}
		part, err = f.create(f.part(k), n)
		if part == nil {
			s.used -= n
		}
		return err
	})
	return part, evicted, err
}

// create makes a file of n bytes. It returns nil if another goroutine of this process
// writes the same block.
func (f *folder) create(name string, n int64) (*os.File, error) {
	part, err := f.dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	if err != nil {
		return nil, files.Cause(err)
	}
	_, err = private.TryLock(part)
	if err == nil {
		err = part.Truncate(n) // so that clean counts all of it
	}
	if err != nil {
		return nil, files.Cause(errors.Join(err, part.Close(), f.unlink(name)))
	}
	return part, nil
}

// publish gives a part its place. The folder is locked.
func (f *folder) publish(k key) error {
	err := f.dir.Rename(f.part(k), k.name())
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.dir.Mkdir(string(k[:2])); err == nil || errors.Is(err, fs.ErrExist) {
			err = f.dir.Rename(f.part(k), k.name())
		}
	}
	if err != nil {
		return files.Cause(err)
	}
	if len(f.victims) > 0 && k > f.victims[0] {
		f.victims = nil // they lack a block
	}
	return nil
}

// unused is the time without a read after which a block is deleted by the next New, so that data of
// earlier work makes room.
const unused = 72 * time.Hour

// noteAfter is how old the time of a block's last use may be that its file has.
const noteAfter = time.Hour

// load reads a block into p. The error satisfies [fs.ErrNotExist] if it is not there, and
// is errDamaged if its bytes are not those that were stored.
func (f *folder) load(k key, p []byte) error {
	file, err := f.dir.Open(k.name())
	if err != nil {
		return files.Cause(err)
	}
	defer file.Close()
	if err := k.read(file, p); err != nil {
		return files.Cause(err)
	}
	if info, err := file.Stat(); err == nil && time.Since(info.ModTime()) > noteAfter {
		_ = f.dir.Touch(k.name()) // it may have been evicted
	}
	return nil
}

// has reports whether a block is there.
func (f *folder) has(k key) bool {
	_, err := f.dir.Lstat(k.name())
	return err == nil
}

func (f *folder) sizeOf(name string) int64 {
	info, err := f.dir.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// unlink deletes a file that does not count, or not yet.
func (f *folder) unlink(name string) error {
	if err := f.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files.Cause(err)
	}
	return nil
}

// A state is what the processes share. It is in the file that they lock.
type state struct {
	used int64 // bytes of blocks and parts, or more if a process was killed
}

const stateBytes = 8

// remove deletes a file that counts. Its size is subtracted only when it is gone, so that
// used is never too low.
func (f *folder) remove(s *state, name string) error {
	n := f.sizeOf(name)
	err := f.dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // by another process, which has subtracted it
	}
	if err == nil {
		s.used = max(0, s.used-n)
	}
	return files.Cause(err)
}

func (f *folder) read() (s state, err error) {
	var b [stateBytes]byte
	if _, err := f.lock.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return s, files.Cause(err)
	}
	s.used = max(0, int64(binary.LittleEndian.Uint64(b[:])))
	return s, nil
}

func (f *folder) write(s state) error {
	var b [stateBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.used))
	_, err := f.lock.WriteAt(b[:], 0)
	return files.Cause(err)
}

// errHeld is the error if another process holds the folder for longer than a change takes, because
// it looks at all files or was stopped.
var errHeld = errors.New("the folder is held by another process")

const (
	leastWait = 100 * time.Microsecond // between two attempts to lock the file: a change takes as long
	mostWait  = 50 * time.Millisecond
)

// with calls do while no other process changes the folder. The error is errHeld, or [fs.ErrClosed]
// if the folder is closed. Whoever waits for the mutex while another goroutine gives up does not wait
// once more.
func (f *folder) with(do func(*state) error) error {
	begin := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.gaveUp.After(begin):
		return errHeld
	}
	for wait := leastWait; ; wait *= 2 {
		if ok, err := private.TryLock(f.lock); err != nil {
			return err
		} else if ok {
			return f.change(do)
		}
		if wait > mostWait {
			f.gaveUp = time.Now()
			return errHeld
		}
		time.Sleep(wait)
	}
}

// change calls do with the state, and unlocks the file.
func (f *folder) change(do func(*state) error) (err error) {
	defer func() { err = errors.Join(err, private.Unlock(f.lock)) }()
	s, err := f.read()
	if err != nil {
		return err
	}
	before := s
	err = do(&s)
	if s != before {
		err = errors.Join(err, f.write(s))
	}
	return err
}

// used is the number of bytes in the folder, or 0 if it is closed.
func (f *folder) used() int64 {
	s, _ := f.read()
	return s.used
}

// A key names a block. It is the beginning of a hash over all that the bytes depend on,
// in hexadecimal digits. The order of keys is the order in which blocks are kept.
type key string

const (
	keyDigits = 32
	trailer   = 4 // bytes: CRC-32C (RFC 3720) of the key and the block, little-endian
	maxBlock  = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("the checksum is wrong")

func (c *Cache) keyOf(o objects.Object, off, n int64) key {
	text := make([]byte, 0, 256)
	for _, part := range []string{c.identity, o.Name, o.Version} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.LittleEndian.AppendUint64(text, uint64(off))
	text = binary.LittleEndian.AppendUint64(text, uint64(n))
	sum := sha256.Sum256(text)
	return key(hex.EncodeToString(sum[:keyDigits/2]))
}

// name is the block's path in the folder.
func (k key) name() string { return filepath.Join(string(k[:2]), string(k[2:])) }

// sum is the checksum of a block. It covers the key, so a file under a wrong name does
// not match.
func (k key) sum(p []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(k), castagnoli), castagnoli, p)
}

// read reads a block from its file.
func (k key) read(f *os.File, p []byte) error {
	var end [trailer]byte
	_, err := f.ReadAt(p, 0)
	if err == nil {
		_, err = f.ReadAt(end[:], int64(len(p)))
	}
	if err == io.EOF || err == nil && binary.LittleEndian.Uint32(end[:]) != k.sum(p) {
		return errDamaged
	}
	return err
}

// write writes a block to its file.
func (k key) write(f *os.File, p []byte) error {
	if _, err := f.WriteAt(p, 0); err != nil {
		return err
	}
	_, err := f.WriteAt(binary.LittleEndian.AppendUint32(nil, k.sum(p)), int64(len(p)))
	return err
}
