package writing

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/internal/journal"
	"github.com/penstock-go/penstock/internal/private"
)

// The journal of a Writer is lines of package journal:
//
//	penstock shards 1 <SHA-256 of fields, columns, shard size and source>
//	shard 4511 268430336          the first shard is complete: the index after its last
//	                              sample, and its bytes
//	part 4520 1048576 21bd94e0    the part has these bytes: the index after the last
//	                              sample, their number, and the CRC-32C of those since
//	                              the line before
//
// It is written anew whenever a shard is complete, before the part gets its name.
const (
	journalHead = "penstock shards 1 "
	noteEvery   = 4 << 20 // bytes that may be lost
	longLine    = 256
	newJournal  = ".journal.new" // before it replaces the journal
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// identity is a hash of what all samples depend on.
func (w *Writer) identity() (string, error) {
	text, err := json.Marshal([]any{w.Spec.String(), w.Options, w.Limit})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// notedPart is a line about the part.
type notedPart struct {
	finishedShard
	sum uint32
	end int64 // of the line
}

// open opens the part and the journal, and finds the samples that they have.
func (w *Writer) open(ctx context.Context) (err error) {
	identity, err := w.identity()
	if err != nil {
		return err
	}
	if w.journal, err = private.OpenFile(w.Path+".journal", os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	head := journal.Append(nil, "%s", journalHead+identity)
	lines := bufio.NewReaderSize(w.journal, longLine)
	text, kept, ok := journal.Next(lines, 0)
	if !ok {
		if err := w.beginsAnew(int64(len(head))); err != nil {
			return err
		}
		_, err = w.journal.WriteAt(head, 0)
		kept = int64(len(head))
	} else if text != journalHead+identity {
		err = errors.New("its journal is that of another source, other fields, columns or another shard size: remove it and the .part to start again")
	}
	if err != nil {
		return err
	}
	kept, parts := w.readJournal(lines, kept)
	if err := w.nameLast(); err != nil {
		return err
	}
	if err := w.refuseOthers(); err != nil {
		return err
	}
	if err := w.openPart(); err != nil {
		return err
	}
	if kept, err = w.resume(ctx, parts, kept); err != nil {
		return err
	}
	w.noted = w.size
	return errors.Join(journal.Cut(w.journal, kept), journal.Cut(w.part, w.size))
}

// readJournal reads the lines after the first one. It returns where those about shards
// end, and those about the part.
func (w *Writer) readJournal(lines *bufio.Reader, kept int64) (int64, []notedPart) {
	var parts []notedPart
	for at := kept; ; {
		text, end, ok := journal.Next(lines, at)
		if !ok {
			return kept, parts
		}
		p := notedPart{end: end}
		if _, err := fmt.Sscanf(text, "part %d %d %x", &p.next, &p.size, &p.sum); err == nil {
			parts = append(parts, p)
		} else if _, err := fmt.Sscanf(text, "shard %d %d", &p.next, &p.size); err == nil && len(parts) == 0 && p.next > w.next {
			w.finished, w.next, kept = append(w.finished, p.finishedShard), p.next, end
		} else {
			return kept, parts
		}
		at = end
	}
}

func (w *Writer) openPart() (err error) {
	if w.part, err = private.OpenFile(w.Path+".part", os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		w.out = bufio.NewWriterSize(w.part, 256<<10)
	}
	return err
}

// beginsAnew refuses to write over what has no journal. line is the length of a journal's
// first line.
func (w *Writer) beginsAnew(line int64) error {
	if info, err := w.journal.Stat(); err != nil || info.Size() >= line {
		return errors.Join(err, errors.New("its .journal exists already, but is not that of shards: remove it to start again"))
	}
	if info, err := os.Stat(w.Path + ".part"); err == nil && info.Size() > 0 {
		return errors.New("its .part exists already, and there is no journal to continue: remove it to start again")
	}
	return nil
}

// refuseOthers looks for files with names of shards that are still to be written.
func (w *Writer) refuseOthers() error {
	entries, err := os.ReadDir(filepath.Dir(w.Path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if k, ok := w.name.Number(filepath.Join(filepath.Dir(w.Path), e.Name())); ok && k >= int64(len(w.finished)) {
			return fmt.Errorf("%s exists already, and there is no journal that has it: remove it first", e.Name())
		}
	}
	return nil
}

func (w *Writer) shardPath(k int) string { return w.name.Name(int64(k)) }

// nameLast gives the last complete shard its name, if the program was killed before that,
// and looks for the others.
func (w *Writer) nameLast() error {
	for k, shard := range w.finished {
		info, err := os.Stat(w.shardPath(k))
		if errors.Is(err, os.ErrNotExist) && k == len(w.finished)-1 {
			complete := w.Format.Complete(w.Path)
			if info, err = os.Stat(complete); err == nil && info.Size() == shard.size {
				err = os.Rename(complete, w.shardPath(k))
				syncFolder(w.Path)
			}
		}
		if err != nil {
			return err
		}
		if info.Size() != shard.size {
			return fmt.Errorf("%s has %d bytes, %d were written", w.shardPath(k), info.Size(), shard.size)
		}
	}
	return nil
}

// resume compares the part with the lines about it. It returns where the last line that is
// right ends.
func (w *Writer) resume(ctx context.Context, parts []notedPart, kept int64) (int64, error) {
	in := bufio.NewReaderSize(w.part, 256<<10)
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if p.next <= w.next || p.size <= w.size {
			return kept, nil
		}
		sum := crc32.New(castagnoli())
		switch _, err := io.CopyN(sum, in, p.size-w.size); {
		case err == io.EOF:
			return kept, nil
		case err != nil:
			return 0, err
		case sum.Sum32() != p.sum:
			return kept, nil
		}
		w.next, w.size, kept = p.next, p.size, p.end
	}
	return kept, nil
}

// note makes what was appended survive a kill of the program. The journal must list only
// what is in the part.
func (w *Writer) note() error {
	if w.size == w.noted {
		return nil
	}
	err := w.out.Flush()
	if err == nil {
		_, err = w.journal.Write(journal.Append(nil, "part %d %d %08x", w.next, w.size, w.sum))
	}
	if err != nil {
		w.err = w.wrote(err)
		return w.err
	}
	w.noted, w.sum = w.size, 0
	return nil
}

// finishShard completes the part and begins another one. The journal calls it a shard
// before it has its name.
func (w *Writer) finishShard() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	size, err := w.Format.Finish(w.part, w.size, w.Path)
	if err != nil {
		return err
	}
	if err := w.part.Close(); err != nil {
		return err
	}
	w.part = nil
	w.finished = append(w.finished, finishedShard{w.next, size})
	if err := w.writeJournal(); err != nil {
		return err
	}
	if err := os.Rename(w.Format.Complete(w.Path), w.shardPath(len(w.finished)-1)); err != nil {
		return err
	}
	syncFolder(w.Path)
	w.size, w.noted, w.sum = 0, 0, 0
	if err := w.openPart(); err != nil {
		return err
	}
	return journal.Cut(w.part, 0)
}

// writeJournal replaces the journal by one that lists the complete shards.
func (w *Writer) writeJournal() error {
	identity, err := w.identity()
	if err != nil {
		return err
	}
	text := journal.Append(nil, "%s", journalHead+identity)
	for _, shard := range w.finished {
		text = journal.Append(text, "shard %d %d", shard.next, shard.size)
	}
	fresh := w.Path + newJournal
	if err := writeSynced(fresh, text); err != nil {
		return err
	}
	if err := w.journal.Close(); err != nil {
		return err
	}
	w.journal = nil
	if err := os.Rename(fresh, w.Path+".journal"); err != nil {
		return err
	}
	w.journal, err = private.OpenFile(w.Path+".journal", os.O_WRONLY|os.O_APPEND, 0)
	return err
}

func writeSynced(name string, text []byte) error {
	f, err := private.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes names durable, on systems that can.
func syncFolder(path string) {
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
}
