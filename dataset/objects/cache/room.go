package cache

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/files"
)

// makeRoom deletes blocks until there is room for n more bytes. It deletes only blocks
// with keys above k. It reports false if that is not enough. The folder is locked.
func (f *folder) makeRoom(s *state, k key, n int64) (ok bool, evicted int, err error) {
	for s.used+n > f.limit {
		victim, err := f.highest(s)
		if err != nil || victim <= k {
			return false, evicted, err
		}
		f.victims = f.victims[:len(f.victims)-1]
		if err := f.remove(s, blockName(victim)); err != nil {
			return false, evicted, err
		}
		evicted++
	}
	return true, evicted, nil
}

// highest is the highest key of all blocks, or "" if there is none. Another process may
// have deleted it already. The folder is locked.
func (f *folder) highest(s *state) (key, error) {
	for s.top > 0 && (f.listed != s.top || len(f.victims) == 0) {
		sub := hex.EncodeToString([]byte{byte(s.top - 1)})
		entries, err := f.dir.ReadDir(sub)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", files.Cause(err)
		}
		f.listed, f.victims = s.top, f.victims[:0]
		for _, e := range entries {
			if isBlock.MatchString(e.Name()) {
				f.victims = append(f.victims, key(sub+e.Name()))
			}
		}
		slices.Sort(f.victims)
		if len(f.victims) == 0 {
			s.top--
		}
	}
	if s.top == 0 {
		return "", nil
	}
	return f.victims[len(f.victims)-1], nil
}

// save stores a block, if there is room for it or a block with a higher key.
func (f *folder) save(ctx context.Context, k key, p []byte) (stored bool, evicted int, err error) {
	n := int64(len(p)) + trailer
	part, evicted, err := f.reserve(ctx, k, n)
	if part == nil {
		return false, evicted, err
	}
	if err := errors.Join(k.write(part, p), part.Close()); err != nil {
		return false, evicted, errors.Join(err, f.soon(f.removal(f.part(k))))
	}
	stored, err = f.place(ctx, k, n)
	return stored, evicted, err
}

// reserve takes room for a block and makes its part, or returns nil if it is not to be stored.
func (f *folder) reserve(ctx context.Context, k key, n int64) (part *os.File, evicted int, err error) {
	err = f.with(ctx, func(s *state) (err error) {
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

// place makes a block of a part of n bytes.
func (f *folder) place(ctx context.Context, k key, n int64) (stored bool, err error) {
	err = f.with(ctx, func(s *state) error {
		if f.has(k) {
			return f.remove(s, f.part(k))
		}
		err := f.publish(s, k, n)
		stored = err == nil
		return err
	})
	if errors.Is(err, errHeld) { // if it stays, the part counts until the folder is closed or opened anew
		err = cmp.Or(f.soon(f.removal(f.part(k))), err)
	}
	return stored, err
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
	if err := part.Truncate(n); err != nil { // so that clean counts all of it
		return nil, files.Cause(errors.Join(err, part.Close(), f.unlink(name)))
	}
	return part, nil
}

// publish gives a part of n bytes its place. The folder is locked.
func (f *folder) publish(s *state, k key, n int64) error {
	err := f.dir.Rename(f.part(k), blockName(k))
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.dir.Mkdir(string(k[:2])); err == nil || errors.Is(err, fs.ErrExist) {
			err = f.dir.Rename(f.part(k), blockName(k))
		}
	}
	if err != nil {
		return errors.Join(files.Cause(err), f.remove(s, f.part(k)))
	}
	s.add(k, 0)
	if f.listed == s.top && (len(f.victims) == 0 || k > f.victims[0]) {
		f.listed = 0 // victims lacks a block
	}
	return nil
}

// noteAfter is how old the time of a block's last use may be that its file has.
const noteAfter = time.Hour

// load reads a block into p. The error satisfies [fs.ErrNotExist] if it is not there, and
// is errDamaged if its bytes are not those that were stored.
func (f *folder) load(k key, p []byte) error {
	file, err := f.dir.Open(blockName(k))
	if err != nil {
		return files.Cause(err)
	}
	defer file.Close()
	if err := k.read(file, p); err != nil {
		return files.Cause(err)
	}
	if info, err := file.Stat(); err == nil && time.Since(info.ModTime()) > noteAfter {
		_ = f.dir.Touch(blockName(k)) // it may have been evicted
	}
	return nil
}

// has reports whether a block is there.
func (f *folder) has(k key) bool {
	_, err := f.dir.Lstat(blockName(k))
	return err == nil
}

// removal deletes a file that counts.
func (f *folder) removal(name string) func(*state) error {
	return func(s *state) error { return f.remove(s, name) }
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
