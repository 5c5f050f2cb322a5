package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// TarBlock is of what an archive consists.
const TarBlock = 512

const (
	// maxSpecial limits the bytes of a long name or of pax records, as in package
	// archive/tar.
	maxSpecial  = 1 << 20
	maxSpecials = 8 // that describe one file; GNU tar writes at most two
)

// ErrTarEnd is the error of the zeros after the last file.
var ErrTarEnd = errors.New("end of the archive")

// A Tar reads the headers of an archive: POSIX.1-2001 (pax), POSIX.1-1988 (ustar) and GNU. Package archive/tar would
// also look up users and groups, for which every program that imports it needs a C library.
type Tar struct {
	// Take returns the next n bytes, which stay valid until the header after the next. It returns
	// io.EOF if there are none, and io.ErrUnexpectedEOF if there are fewer.
	Take func(n int) ([]byte, error)

	name []byte // memory
}

// A Member is a file in an archive.
type Member struct {
	Name    []byte // valid until the next one
	Size    int64  // bytes of data
	Regular bool
}

// Padded is the number of bytes of data with what fills the last 512 of them.
func (m *Member) Padded() int64 { return (m.Size + TarBlock - 1) / TarBlock * TarBlock }

// Next reads the headers of the next file, whose data comes next. It returns io.EOF if there are no more bytes.
func (t *Tar) Next() (Member, error) {
	var long []byte   // the name, if it is not in the header
	size := int64(-1) // if it is not in the header
	for headers := 0; ; headers++ {
		h, err := t.Take(TarBlock)
		switch {
		case err == io.EOF && headers > 0:
			return Member{}, io.ErrUnexpectedEOF
		case err != nil:
			return Member{}, err
		case isZero(h) && headers == 0:
			return Member{}, ErrTarEnd
		case headers > maxSpecials:
			return Member{}, fmt.Errorf("more than %d headers without a file", maxSpecials)
		}
		n, err := checkTarHeader(h)
		if err != nil {
			return Member{}, err
		}
		flag := h[156]
		switch flag {
		case 'x', 'g', 'L', 'K':
			data, err := t.special(n)
			if err != nil {
				return Member{}, err
			}
			switch flag {
			case 'L':
				long = cString(data)
			case 'x':
				if long, size, err = paxRecords(data, long, size); err != nil {
					return Member{}, err
				}
			}
			continue
		case 'S':
			return Member{}, errors.New("a sparse file")
		case '1', '2', '3', '4', '5', '6':
			n = 0 // these have no data
		default:
			if size >= 0 {
				n = size
			}
		}
		m := Member{Name: long, Size: n}
		if long == nil {
			m.Name = t.shortName(h)
		}
		m.Regular = (flag == '0' || flag == 0 || flag == '7') && !bytes.HasSuffix(m.Name, []byte("/"))
		return m, nil
	}
}

// special reads the data of a header that describes the next one.
func (t *Tar) special(n int64) ([]byte, error) {
	if n > maxSpecial {
		return nil, fmt.Errorf("header of %d bytes, want at most %d", n, maxSpecial)
	}
	m := Member{Size: n}
	data, err := t.Take(int(m.Padded()))
	if err != nil {
		return nil, Ended(err)
	}
	return data[:n], nil
}

// checkTarHeader compares the checksum of a header and returns the size of the data.
func checkTarHeader(h []byte) (int64, error) {
	want, ok := tarNumber(h[148:156])
	var unsigned, signed int64
	for i, c := range h {
		if 148 <= i && i < 156 {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c)) // as some old programs computed it
	}
	if !ok || want != unsigned && want != signed {
		return 0, errors.New("want the header of a tar file: its checksum is wrong")
	}
	size, ok := tarNumber(h[124:136])
	if !ok || size > math.MaxInt64-TarBlock {
		return 0, fmt.Errorf("size %q: want a number of bytes", h[124:136])
	}
	return size, nil
}

// tarNumber reads a number of 0 or more: in octal, or big-endian if its first bit is set.
func tarNumber(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
		n := uint64(b[0] & 0x7f)
		for _, c := range b[1:] {
			if n>>55 != 0 {
				return 0, false
			}
			n = n<<8 | uint64(c)
		}
		return int64(n), true
	}
	var n int64
	for _, c := range bytes.Trim(cString(b), " ") {
		if c < '0' || c > '7' || n>>59 != 0 {
			return 0, false
		}
		n = n<<3 | int64(c-'0')
	}
	return n, true
}

// shortName is the name in a header.
func (t *Tar) shortName(h []byte) []byte {
	name, prefix := cString(h[:100]), cString(h[345:500])
	if string(h[257:263]) != "ustar\x00" || len(prefix) == 0 {
		return name
	}
	t.name = append(append(append(t.name[:0], prefix...), '/'), name...)
	return t.name
}

// paxRecords reads "length key=value\n", as often as it stands there.
func paxRecords(data, name []byte, size int64) ([]byte, int64, error) {
	wrong := errors.New("want pax records")
	for len(data) > 0 {
		digits, _, ok := bytes.Cut(data, []byte(" "))
		n, err := strconv.ParseUint(string(digits), 10, 31)
		if !ok || err != nil || int(n) > len(data) || int(n) < len(digits)+2 || data[n-1] != '\n' {
			return nil, 0, wrong
		}
		key, value, ok := bytes.Cut(data[len(digits)+1:n-1], []byte("="))
		data = data[n:]
		if !ok {
			return nil, 0, wrong
		}
		switch {
		case string(key) == "path":
			name = value
		case string(key) == "size":
			if size, err = strconv.ParseInt(string(value), 10, 64); err != nil || size < 0 || size > math.MaxInt64-TarBlock {
				return nil, 0, fmt.Errorf("size %.40q: want a number of bytes", value)
			}
		case bytes.HasPrefix(key, []byte("GNU.sparse.")):
			return nil, 0, errors.New("a sparse file")
		}
	}
	return name, size, nil
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// cString is b up to its first zero.
func cString(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i:i]
	}
	return b
}
