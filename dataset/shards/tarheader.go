package shards

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	tarBlock = 512
	// maxSpecial limits the bytes of a long name or of pax records, as in package
	// archive/tar.
	maxSpecial  = 1 << 20
	maxSpecials = 8 // that describe one file; GNU tar writes at most two
)

// errTarEnd is the error of the zeros after the last file.
var errTarEnd = errors.New("end of the archive")

// A tarReader reads the headers of an archive: POSIX.1-2001 (pax), POSIX.1-1988 (ustar)
// and GNU.
type tarReader struct {
	taker
	name []byte // memory
}

// A member is a file in an archive.
type member struct {
	name    []byte // valid until the next one
	size    int64  // bytes of data
	regular bool
}

// padded is the number of bytes of data with what fills the last 512 of them.
func (m *member) padded() int64 { return (m.size + tarBlock - 1) / tarBlock * tarBlock }

// next reads the headers of the next file. It returns io.EOF if there are no more bytes.
func (t *tarReader) next() (member, error) {
	var long []byte   // the name, if it is not in the header
	size := int64(-1) // if it is not in the header
	for headers := 0; ; headers++ {
		h, err := t.take(tarBlock)
		switch {
		case err == io.EOF && headers > 0:
			return member{}, io.ErrUnexpectedEOF
		case err != nil:
			return member{}, err
		case isZero(h) && headers == 0:
			return member{}, errTarEnd
		case headers > maxSpecials:
			return member{}, fmt.Errorf("more than %d headers without a file", maxSpecials)
		}
		n, err := checkTarHeader(h)
		if err != nil {
			return member{}, err
		}
		flag := h[156]
		switch flag {
		case 'x', 'g', 'L', 'K':
			data, err := t.special(n)
			if err != nil {
				return member{}, err
			}
			switch flag {
			case 'L':
				long = cString(data)
			case 'x':
				if long, size, err = paxRecords(data, long, size); err != nil {
					return member{}, err
				}
			}
			continue
		case 'S':
			return member{}, errors.New("a sparse file")
		case '1', '2', '3', '4', '5', '6':
			n = 0 // these have no data
		default:
			if size >= 0 {
				n = size
			}
		}
		m := member{name: long, size: n}
		if long == nil {
			m.name = t.shortName(h)
		}
		m.regular = (flag == '0' || flag == 0 || flag == '7') && !bytes.HasSuffix(m.name, []byte("/"))
		return m, nil
	}
}

// special reads the data of a header that describes the next one.
func (t *tarReader) special(n int64) ([]byte, error) {
	if n > maxSpecial {
		return nil, fmt.Errorf("header of %d bytes, want at most %d", n, maxSpecial)
	}
	m := member{size: n}
	data, err := t.take(int(m.padded()))
	if err != nil {
		return nil, bulk.Unexpected(err)
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
	if !ok || size > math.MaxInt64-tarBlock {
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
func (t *tarReader) shortName(h []byte) []byte {
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
			if size, err = strconv.ParseInt(string(value), 10, 64); err != nil || size < 0 || size > math.MaxInt64-tarBlock {
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

// part is the key of the sample that the file belongs to, and its column. ok is false
// if it belongs to none.
func (m *member) part() (key, column []byte, ok bool) {
	if !m.regular || isMeta(m.name) {
		return nil, nil, false
	}
	base := bytes.LastIndexByte(m.name, '/') + 1
	dot := bytes.IndexByte(m.name[base:], '.')
	if dot < 1 {
		return nil, nil, false
	}
	return m.name[:base+dot], m.name[base+dot+1:], true
}

// isMeta reports whether the first folder of a path, or all of it, is like "__meta__".
func isMeta(name []byte) bool {
	top, _, _ := bytes.Cut(name, []byte("/"))
	return len(top) >= 4 && bytes.HasPrefix(top, []byte("__")) && bytes.HasSuffix(top, []byte("__"))
}
