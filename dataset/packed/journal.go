package packed

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
	"strconv"
	"strings"
)

// The journal of a Writer is text. Every line begins with the CRC-32C of what
// follows its first space, so that a line that is cut short is noticed:
//
//	8f3a00c1 penstock journal 1 <SHA-256 of fields, classes and source>
//	21bd94e0 0 5a3c0f77                      the source's sample 0, and its CRC-32C
//	97c36b12 1 skipped "unexpected EOF"
const (
	journalName = "penstock journal 1 "
	maxReason   = 4 << 10          // bytes
	maxLine     = 4*maxReason + 64 // a byte takes four where it is quoted
)

func appendLine(to []byte, format string, args ...any) []byte {
	start := len(to)
	to = fmt.Appendf(append(to, "01234567 "...), format, args...)
	copy(to[start:], fmt.Appendf(nil, "%08x", crc32.Checksum(to[start+9:], castagnoli())))
	return append(to, '\n')
}

// identity is a hash of the fields, classes and source.
func (p *Writer) identity() (string, error) {
	end, err := (&trailer{spec: p.spec, record: p.record, classes: p.classes}).encode()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal([]string{string(end), p.source})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// resume reads the journal and the samples that it lists, up to the first one whose
// checksum is wrong, and cuts both files there.
func (p *Writer) resume(ctx context.Context) error {
	identity, err := p.identity()
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(p.journal, maxLine)
	text, kept, ok := nextLine(lines, 0)
	if ok && text != journalName+identity {
		return errors.New("its .part and .journal exist already, with other fields, classes or another source: remove them to start again")
	}
	if !ok {
		if err := p.beginsAnew(int64(len(journalName) + len(identity) + 10)); err != nil {
			return err
		}
	}
	if ok {
		if kept, err = p.resumeSamples(ctx, lines, kept); err != nil {
			return err
		}
	}
	end := int64(len(p.sums)) * p.record
	if err := errors.Join(cut(p.journal, kept), cut(p.part, end)); err != nil {
		return err
	}
	if !ok {
		_, err = p.journal.Write(appendLine(nil, "%s", journalName+identity))
	}
	return err
}

// beginsAnew refuses to overwrite earlier work or a foreign file if the journal
// does not begin with a whole line. line is the size of that line in bytes.
func (p *Writer) beginsAnew(line int64) error {
	samples, err := p.part.Stat()
	if err != nil {
		return err
	}
	journal, err := p.journal.Stat()
	if err != nil {
		return err
	}
	if samples.Size() > 0 || journal.Size() >= line {
		return errors.New("its .part and .journal exist already, but the journal is not that of a packed file: remove them to start again")
	}
	return nil
}

// resumeSamples restores the samples that the lines list. It returns where the last
// valid line ends.
func (p *Writer) resumeSamples(ctx context.Context, lines *bufio.Reader, kept int64) (int64, error) {
	samples := bufio.NewReaderSize(p.part, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		text, end, ok := nextLine(lines, kept)
		if !ok {
			return kept, nil
		}
		entry, ok := parseEntry(text)
		if !ok || entry.index < p.next {
			return kept, nil
		}
		if entry.skipped {
			p.skipped = append(p.skipped, SkippedSample{entry.index, entry.reason})
		} else {
			sum := crc32.New(castagnoli())
			switch _, err := io.CopyN(sum, samples, p.record); {
			case err == io.EOF:
				return kept, nil
			case err != nil:
				return 0, err
			case sum.Sum32() != entry.sum:
				return kept, nil
			}
			p.sums = append(p.sums, entry.sum)
		}
		p.next, kept = entry.index+1, end
	}
}

// nextLine returns the text of the next line, which begins at start, and where it
// ends. ok is false if the line is not whole.
func nextLine(lines *bufio.Reader, start int64) (text string, end int64, ok bool) {
	line, err := lines.ReadSlice('\n')
	if err != nil {
		return "", start, false // samples of lines that cannot be read are written again
	}
	sum, text, ok := strings.Cut(string(line[:len(line)-1]), " ")
	if !ok || sum != fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli())) {
		return "", start, false
	}
	return text, start + int64(len(line)), true
}

type journalEntry struct {
	index   int
	sum     uint32
	skipped bool
	reason  string
}

func parseEntry(text string) (e journalEntry, ok bool) {
	index, rest, _ := strings.Cut(text, " ")
	var err error
	if e.index, err = strconv.Atoi(index); err != nil || e.index < 0 || e.index+1 < 0 {
		return e, false
	}
	if reason, ok := strings.CutPrefix(rest, "skipped "); ok {
		e.skipped = true
		e.reason, err = strconv.Unquote(reason)
		return e, err == nil
	}
	sum, err := strconv.ParseUint(rest, 16, 32)
	e.sum = uint32(sum)
	return e, err == nil
}

// cut truncates the file to size and seeks to its end.
func cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}
