package shards

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
)

// The journal of a TarWriter is lines of package journal:
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
	tarJournal = "penstock shards 1 "
	noteEvery  = 4 << 20 // bytes that may be lost
	tarEnd     = 2 * tarBlock
	longLine   = 256
	newJournal = ".journal.new" // before it replaces the journal
)

// identity is a hash of what all samples depend on.
func (w *TarWriter) identity() (string, error) {
	var columns []string
	for _, c := range w.columns {
		columns = append(columns, c.field.Name, c.extension)
	}
	text, err := json.Marshal([]any{w.spec.String(), columns, w.limit, w.source})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// notedPart is a line about the part.
type notedPart struct {
	finishedShard
	sum uint32
	end int64 // of the line
}

// open opens the part and the journal, and finds the samples that they have.
func (w *TarWriter) open(ctx context.Context) (err error) {
	identity, err := w.identity()
	if err != nil {
		return err
	}
	if w.journal, err = os.OpenFile(w.path+".journal", os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	head := journal.Append(nil, "%s", tarJournal+identity)
	lines := bufio.NewReaderSize(w.journal, longLine)
	text, kept, ok := journal.Next(lines, 0)
	if !ok {
		if err := w.beginsAnew(int64(len(head))); err != nil {
			return err
		}
		_, err = w.journal.WriteAt(head, 0)
		kept = int64(len(head))
	} else if text != tarJournal+identity {
		err = errors.New("its journal is that of another source, other fields, columns or another shard size: remove it and the .part to start again")
	}
	if err != nil {
		return err
	}
	kept, parts := w.readJournal(lines, kept)
	if err := w.nameLast(); err != nil {
		return err
	}
	if err := w.openPart(); err != nil {
		return err
	}
	if kept, err = w.resume(ctx, parts, kept); err != nil {
		return err
	}
	if w.next > 0 {
		w.last = w.keys(w.next - 1)
	}
	w.noted = w.size
	return errors.Join(journal.Cut(w.journal, kept), journal.Cut(w.part, w.size))
}

// readJournal reads the lines after the first one. It returns where those about shards
// end, and those about the part.
func (w *TarWriter) readJournal(lines *bufio.Reader, kept int64) (int64, []notedPart) {
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

func (w *TarWriter) openPart() (err error) {
	if w.part, err = os.OpenFile(w.path+".part", os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		w.out = bufio.NewWriterSize(w.part, 256<<10)
	}
	return err
}

// beginsAnew refuses to write over what has no journal. line is the length of a journal's
// first line.
func (w *TarWriter) beginsAnew(line int64) error {
	if info, err := w.journal.Stat(); err != nil || info.Size() >= line {
		return errors.Join(err, errors.New("its .journal exists already, but is not that of shards: remove it to start again"))
	}
	first := w.shardPath(0)
	if _, err := os.Stat(first); err == nil {
		return fmt.Errorf("%s exists already, and there is no journal to continue: remove it to start again", first)
	}
	if info, err := os.Stat(w.path + ".part"); err == nil && info.Size() > 0 {
		return errors.New("its .part exists already, and there is no journal to continue: remove it to start again")
	}
	return nil
}

func (w *TarWriter) shardPath(k int) string { return w.name.Name(int64(k)) }

// nameLast gives the last complete shard its name, if the program was killed before that,
// and looks for the others.
func (w *TarWriter) nameLast() error {
	for k, shard := range w.finished {
		info, err := os.Stat(w.shardPath(k))
		if errors.Is(err, os.ErrNotExist) && k == len(w.finished)-1 {
			if info, err = os.Stat(w.path + ".part"); err == nil && info.Size() == shard.size {
				err = os.Rename(w.path+".part", w.shardPath(k))
				syncFolder(w.path)
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
func (w *TarWriter) resume(ctx context.Context, parts []notedPart, kept int64) (int64, error) {
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
func (w *TarWriter) note() error {
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
func (w *TarWriter) finishShard() error {
	_, err := w.out.Write(make([]byte, tarEnd))
	if err := errors.Join(err, w.out.Flush()); err != nil {
		return err
	}
	if err := w.part.Sync(); err != nil {
		return err
	}
	if err := w.part.Close(); err != nil {
		return err
	}
	w.part = nil
	w.finished = append(w.finished, finishedShard{w.next, w.size + tarEnd})
	if err := w.writeJournal(); err != nil {
		return err
	}
	if err := os.Rename(w.path+".part", w.shardPath(len(w.finished)-1)); err != nil {
		return err
	}
	syncFolder(w.path)
	w.size, w.noted, w.sum = 0, 0, 0
	return w.openPart()
}

// writeJournal replaces the journal by one that lists the complete shards.
func (w *TarWriter) writeJournal() error {
	identity, err := w.identity()
	if err != nil {
		return err
	}
	text := journal.Append(nil, "%s", tarJournal+identity)
	for _, shard := range w.finished {
		text = journal.Append(text, "shard %d %d", shard.next, shard.size)
	}
	fresh := w.path + newJournal
	if err := writeSynced(fresh, text); err != nil {
		return err
	}
	if err := w.journal.Close(); err != nil {
		return err
	}
	w.journal = nil
	if err := os.Rename(fresh, w.path+".journal"); err != nil {
		return err
	}
	w.journal, err = os.OpenFile(w.path+".journal", os.O_WRONLY|os.O_APPEND, 0)
	return err
}

func writeSynced(name string, text []byte) error {
	f, err := os.Create(name)
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
