package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/private"
)

// The folder of a spool holds
//
//	spool.json       what the records are, and their order
//	lock             is locked as long as a process uses the spool
//	<number>.block   is a block, under the number of its first record
//	end.json         exists if the source has ended
//	<name>.part      is a file that is being written
//
// Files with other names are not touched.
const (
	describedName = "spool.json"
	lockName      = "lock"
	endName       = "end.json"
	partEnd       = ".part"
	mostJSON      = 1 << 20 // bytes
)

var (
	isBlock = regexp.MustCompile(`^([0-9]{20})\.block$`)
	isPart  = regexp.MustCompile(`^([0-9]{20}\.block|spool\.json|end\.json)\.part$`)
)

func blockName(first int) string { return fmt.Sprintf("%020d.block", first) }

// A description is what all processes that use a spool must agree on.
type description struct {
	Format  int      `json:"format"` // 2
	Fields  []string `json:"fields"`
	IntBits int      `json:"int_bits"` // of values of dtype int and uint
	Window  int      `json:"window"`
	Seed    uint64   `json:"seed"`
}

func describe(spec dataset.Spec, c config) description {
	d := description{Format: 2, IntBits: strconv.IntSize, Window: c.window, Seed: c.seed}
	for _, f := range spec {
		d.Fields = append(d.Fields, f.String())
	}
	return d
}

// differs reports an error if the spool belongs to another stream.
func (d description) differs(want description) error {
	switch {
	case d.Format != want.Format:
		return fmt.Errorf("has format %d, this program writes %d", d.Format, want.Format)
	case !slices.Equal(d.Fields, want.Fields):
		return fmt.Errorf("holds records of the fields %v, the source has %v", d.Fields, want.Fields)
	case d.IntBits != want.IntBits:
		return fmt.Errorf("was written where an int has %d bits, here it has %d", d.IntBits, want.IntBits)
	case d.Window != want.Window || d.Seed != want.Seed:
		return fmt.Errorf("was made with Window(%d) and Seed(%d), want Window(%d) and Seed(%d)", d.Window, d.Seed, want.Window, want.Seed)
	}
	return nil
}

// An ending is what is known when the source has ended.
type ending struct {
	Records int `json:"records"`
}

// A folder is the folder of a spool, which this process has locked.
type folder struct {
	dir  *private.Folder
	sync bool
	lock *os.File
}

// openFolder makes the folder or opens one that exists, locks it, and removes what a
// process has left that was killed.
func openFolder(dir string, want description, sync bool) (*folder, error) {
	if err := private.Supported(); err != nil {
		return nil, err
	}
	opened, err := private.Open(dir)
	if err != nil {
		return nil, files.Cause(err)
	}
	f := &folder{dir: opened, sync: sync}
	if err := f.begin(want); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *folder) begin(want description) error {
	names, err := f.names()
	if err != nil {
		return err
	}
	if foreign := slices.IndexFunc(names, func(n string) bool { return n != lockName && !isPart.MatchString(n) }); foreign >= 0 && !slices.Contains(names, describedName) {
		return fmt.Errorf("holds %s and no %s: want an empty folder, or a spool", names[foreign], describedName)
	}
	if f.lock, err = f.dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE); err != nil {
		return files.Cause(err)
	}
	free, err := private.TryLock(f.lock)
	if err == nil && !free {
		err = errors.New("another process uses it, or another Dataset of this one")
	}
	if err == nil {
		err = f.prepare(names, want)
	}
	return err
}

// close gives the folder to others.
func (f *folder) close() error {
	if f.lock == nil {
		return f.dir.Close()
	}
	return errors.Join(f.lock.Close(), f.dir.Close())
}

func (f *folder) prepare(names []string, want description) error {
	for _, name := range names {
		if isPart.MatchString(name) {
			if err := f.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return files.Cause(err)
			}
		}
	}
	var found description
	switch ok, err := f.load(describedName, &found); {
	case err != nil:
		return err
	case ok:
		return found.differs(want)
	}
	return f.save(describedName, want)
}

// names lists the files.
func (f *folder) names() ([]string, error) {
	entries, err := f.dir.ReadDir(".")
	if err != nil {
		return nil, files.Cause(err)
	}
	names := make([]string, len(entries))
	for k, e := range entries {
		names[k] = e.Name()
	}
	return names, nil
}

// load reads a file of JSON. It reports false if there is none.
func (f *folder) load(name string, to any) (ok bool, err error) {
	text, err := f.dir.ReadFile(name, mostJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, files.Cause(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return true, nil
}

// save writes a file of JSON, which appears as a whole.
func (f *folder) save(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.appear(name, func(part string) error { return f.write(part, text, []byte("\n")) })
}

// appear writes a file under another name, and gives it its own when it is whole.
func (f *folder) appear(name string, write func(part string) error) error {
	part := name + partEnd
	err := write(part)
	if err == nil {
		err = f.rename(part, name)
	}
	if err != nil {
		_ = f.dir.Remove(part) // else the next process does it
		return fmt.Errorf("write %s: %w", name, files.Cause(err))
	}
	return nil
}

// write writes a file of these parts, through to the device with Sync.
func (f *folder) write(name string, parts ...[]byte) (err error) {
	file, err := f.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, part := range parts {
		if _, err := file.Write(part); err != nil {
			return err
		}
	}
	if f.sync {
		return file.Sync()
	}
	return nil
}

func (f *folder) rename(from, to string) error {
	if f.sync {
		return f.dir.RenameSynced(from, to)
	}
	return f.dir.Rename(from, to)
}

// remove removes a block.
func (f *folder) remove(b block) error {
	err := f.dir.Remove(blockName(b.first))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", blockName(b.first), files.Cause(err))
	}
	return nil
}

// contents reads a block's table and marks.
func (f *folder) contents(first int) (c contents, file *os.File, err error) {
	name := blockName(first)
	file, err = f.dir.Open(name)
	if err != nil {
		return c, nil, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	c, err = readContents(file)
	if err == nil && c.first != first {
		err = fmt.Errorf("%w: its first record is %d", errDamaged, c.first)
	}
	if err != nil {
		_ = file.Close() // it was only read
		return c, nil, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	return c, file, nil
}

// blocks lists the blocks, and returns the mark after the last one. They follow one another without a
// gap.
func (f *folder) blocks() (all []block, mark []byte, err error) {
	names, err := f.names() // in ascending order
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		match := isBlock.FindStringSubmatch(name)
		if match == nil {
			continue
		}
		first, err := strconv.Atoi(match[1])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		c, file, err := f.contents(first)
		if err != nil {
			return nil, nil, err
		}
		if err := file.Close(); err != nil {
			return nil, nil, files.Cause(err)
		}
		if k := len(all); k > 0 && all[k-1].end() != first {
			return nil, nil, fmt.Errorf("%s: %w: the block before ends with record %d", name, errDamaged, all[k-1].end()-1)
		}
		all, mark = append(all, c.block), c.after
	}
	return all, mark, nil
}
