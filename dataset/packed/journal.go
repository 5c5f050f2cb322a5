package packed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/journal"
)

// The journal of a Writer is text. Every line begins with the CRC-32C of what
// follows its first space, so that a line that is cut short is noticed:
//
//	8f3a00c1 penstock journal 1 <SHA-256 of fields, classes and source>
//	21bd94e0 0 5a3c0f77                      the source's sample 0, and its CRC-32C
//	5f0c11aa 0 5a3c0f77 1024 17              the same, with the sizes of two ragged fields
//	97c36b12 1 skipped "unexpected EOF"
const (
	journalName = "penstock journal 1 "
	maxReason   = 4 << 10                    // bytes
	maxLine     = 4*maxReason + 24*maxFields // a byte takes four where it is quoted, and a size up to 20
)

// identity is a hash of the fields, classes and source.
func (p *Writer) identity() (string, error) {
	empty, err := p.config.trailer(p.trailer.spec)
	if err != nil {
		return "", err
	}
	end, err := empty.encode()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(end)), nil
}

// resume reads the journal and the samples that it lists, up to the first one whose
// checksum is wrong, and cuts both files there.
func (p *Writer) resume(ctx context.Context) error {
	identity, err := p.identity()
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(p.journal, maxLine)
	text, kept, ok := journal.Next(lines, 0)
	switch {
	case !ok:
		err = p.beginsAnew(int64(len(journalName) + len(identity) + 10))
	case text == journalName+identity:
		kept, err = p.resumeSamples(ctx, lines, kept)
	default:
		ok, kept, err = false, 0, p.replaces(text)
	}
	if err != nil {
		return err
	}
	end := p.trailer.layout.start(p.Len())
	if err := errors.Join(journal.Cut(p.journal, kept), journal.Cut(p.part, end)); err != nil {
		return err
	}
	if !ok {
		_, err = p.journal.Write(journal.Append(nil, "%s", journalName+identity))
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

// replaces refuses to overwrite the work of a Writer with other fields, classes or another source,
// whose journal begins with that line. There is none if no sample was appended, or if the
// program was killed between the last two steps of Finish, which leaves the journal alone.
func (p *Writer) replaces(line string) error {
	samples, err := p.part.Stat()
	if err != nil {
		return err
	}
	if samples.Size() > 0 || !strings.HasPrefix(line, journalName) {
		return errors.New("its .part and .journal exist already, with other fields, classes or another source: remove them to start again")
	}
	return nil
}

// resumeSamples restores the samples that the lines list. It returns where the last
// valid line ends.
func (p *Writer) resumeSamples(ctx context.Context, lines *bufio.Reader, kept int64) (int64, error) {
	samples := bufio.NewReaderSize(p.part, 256<<10)
	part, err := p.part.Stat()
	if err != nil {
		return 0, err
	}
	left := part.Size() // bytes that no line has noted yet
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		text, end, ok := journal.Next(lines, kept)
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
			if len(entry.sizes) != p.trailer.layout.ragged {
				return kept, nil
			}
			size := p.trailer.layout.fixed
			for _, s := range entry.sizes {
				if int64(s) > left {
					return kept, nil
				}
				size += int64(s)
			}
			left -= size
			sum := crc32.New(castagnoli())
			switch _, err := io.CopyN(sum, samples, size); {
			case err == io.EOF:
				return kept, nil
			case err != nil:
				return 0, err
			case sum.Sum32() != entry.sum:
				return kept, nil
			}
			for _, s := range entry.sizes {
				p.trailer.layout.add(s)
			}
			p.added(entry.index, entry.sum)
		}
		p.next, kept = entry.index+1, end
	}
}

type journalEntry struct {
	index   int
	sum     uint32
	sizes   []int // of the ragged fields
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
	text, rest, _ = strings.Cut(rest, " ")
	sum, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return e, false
	}
	e.sum = uint32(sum)
	for _, text := range strings.Fields(rest) {
		size, err := strconv.Atoi(text)
		if err != nil || size < 0 {
			return e, false
		}
		e.sizes = append(e.sizes, size)
	}
	return e, true
}

// sizesFrom lists the sizes of the last ragged fields, from the k-th one on, with a
// space before each.
func (p *Writer) sizesFrom(k int) []byte {
	l := &p.trailer.layout
	p.sizes = p.sizes[:0]
	for ; k < len(l.ends); k++ {
		p.sizes = strconv.AppendInt(append(p.sizes, ' '), l.end(k+1)-l.end(k), 10)
	}
	return p.sizes
}
