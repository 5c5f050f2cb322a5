package nrrd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
)

const (
	maxHeader = 16 << 20 // bytes of a header
	maxAxes   = 16       // Teem's NRRD_DIM_MAX
	maxWorld  = 8        // Teem's NRRD_SPACE_DIM_MAX
)

// A parser reads a header line by line.
type parser struct {
	budget.Budget
	r    *bufio.Reader
	read int64 // bytes of lines so far
	line int   // the current line, from 1
	h    *Header
	axes int            // the value of dimension, 0 before it is read
	seen map[string]int // by field or key: its line
}

// parse reads a header up to the data, of a file of size bytes.
func parse(r *bufio.Reader, size int64) (*Header, error) {
	p := &parser{Budget: budget.For(size), r: r, h: &Header{}, seen: map[string]int{}}
	attached, err := p.header()
	if err != nil {
		if p.line > 0 {
			err = fmt.Errorf("line %d: %w", p.line, err)
		}
		return nil, err
	}
	if p.axes > 0 && p.h.Sizes == nil {
		return nil, errors.New("sizes are missing")
	}
	if err := p.h.check(); err != nil {
		return nil, err
	}
	if !p.h.DataFiles.Attached() {
		return p.h, p.blank()
	}
	if !attached {
		return nil, errors.New("the header has neither a data file nor an empty line at its end")
	}
	p.h.data = p.read
	return p.h, nil
}

// header reads all lines, and reports whether an empty line ended the header.
func (p *parser) header() (empty bool, err error) {
	if magic, err := p.r.Peek(4); err != nil || string(magic) != "NRRD" {
		return false, errors.New("not a NRRD file: it does not begin with NRRD")
	}
	text, _, err := p.next()
	if err != nil {
		return false, err
	}
	if p.h.Version, err = version(text); err != nil {
		return false, err
	}
	for {
		text, last, err := p.next()
		if err != nil {
			return false, err
		}
		if strings.TrimSpace(text) == "" {
			return !last || text != "", nil
		}
		if err := p.statement(text); err != nil {
			return false, err
		}
		if p.h.DataFiles.listed {
			return p.list()
		}
	}
}

func version(magic string) (int, error) {
	switch v := strings.TrimPrefix(strings.TrimRight(magic, " \t"), "NRRD"); v {
	case "00.01":
		return 0, nil
	case "0001", "0002", "0003", "0004", "0005", "0006":
		return int(v[3] - '0'), nil
	default:
		return 0, fmt.Errorf("magic: version %.20q is not one of 0001 to 0006", v)
	}
}

// next reads a line, without the line break. last is true at the end of the file.
func (p *parser) next() (text string, last bool, err error) {
	p.line++
	var long []byte
	for {
		part, err := p.r.ReadSlice('\n')
		if p.read += int64(len(part)); p.read > maxHeader {
			return "", false, fmt.Errorf("the header has more than %d bytes", maxHeader)
		}
		if err := p.Memory(int64(len(part))); err != nil {
			return "", false, err
		}
		if err == bufio.ErrBufferFull {
			long = append(long, part...)
			continue
		}
		if err != nil && err != io.EOF {
			return "", false, err
		}
		if long != nil {
			part = append(long, part...)
		}
		text = strings.TrimSuffix(string(part), "\n")
		return strings.TrimSuffix(text, "\r"), err == io.EOF, nil
	}
}

// statement reads a comment, a field, or a key and its value. As in Teem, the text before a colon is a field if there is a
// field of that name. Otherwise it is a key if ":=" follows.
func (p *parser) statement(text string) error {
	if text[0] == '#' {
		p.h.Comments = append(p.h.Comments, strings.TrimSpace(strings.TrimLeft(text, "# ")))
		return nil
	}
	const kept = 128 // bytes of what is remembered of a field or key, besides its text
	if err := p.Memory(kept); err != nil {
		return err
	}
	name, value, colon := strings.Cut(text, ":")
	if f, ok := fieldOf(strings.TrimSpace(name)); colon && ok && !strings.HasPrefix(value, "=") {
		if err := p.once("field", f.name); err != nil {
			return err
		}
		if err := f.parse(p, strings.Trim(value, " \t")); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return nil
	}
	key, value, ok := strings.Cut(text, ":=")
	if !ok && colon {
		return fmt.Errorf("there is no field %.60q", name)
	}
	if !ok {
		return fmt.Errorf("%.60q is neither a field nor a key and its value", text)
	}
	key = unescape(key)
	if err := p.once("key", key); err != nil {
		return err
	}
	p.h.KeyValues = append(p.h.KeyValues, KeyValue{key, unescape(value)})
	return nil
}

// once remembers the line of a field or key. A second one is an error.
func (p *parser) once(what, name string) error {
	if line := p.seen[what+name]; line != 0 {
		return fmt.Errorf("%s %q is on line %d already", what, name, line)
	}
	p.seen[what+name] = p.line
	return nil
}

// unescape replaces the two escapes of keys and values. Any other backslash stays.
func unescape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

// list reads the names of data files, up to the end of the header.
func (p *parser) list() (empty bool, err error) {
	d := &p.h.DataFiles
	most := p.h.pieces()
	seen := map[string]bool{}
	for {
		text, last, err := p.next()
		if err != nil {
			return false, err
		}
		if text = strings.TrimRight(text, " \t"); text == "" {
			return !last, nil
		}
		if d.skipped {
			skip, name, ok := strings.Cut(text, " ")
			n, err := parseInt(skip)
			if err != nil || !ok {
				return false, fmt.Errorf("data file: SKIPLIST: %.60q, want a number of bytes and a name", text)
			}
			if n < -1 {
				return false, fmt.Errorf("data file: skip of %d bytes", n)
			}
			d.Skips = append(d.Skips, n)
			text = name
		}
		const kept = 64 // bytes of what is remembered of a name, besides its text
		if err := p.Memory(kept); err != nil {
			return false, err
		}
		if name := path.Clean(text); seen[name] {
			return false, fmt.Errorf("data file: %q is in the list already", text)
		} else {
			seen[name] = true
		}
		if d.Names = append(d.Names, text); int64(len(d.Names)) > most {
			return false, fmt.Errorf("data file: more files than the %d that sizes require", most)
		}
	}
}

// blank checks that only white space follows a detached header.
func (p *parser) blank() error {
	for ; p.read <= maxHeader; p.read++ {
		c, err := p.r.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			return fmt.Errorf("byte %d: bytes follow the header, but the data are in another file", p.read)
		}
	}
	return fmt.Errorf("the header has more than %d bytes", maxHeader)
}
