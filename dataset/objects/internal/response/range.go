package response

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Range is what a header field Content-Range says.
type Range struct {
	Begin, End int64 // of the bytes in the body; End is the byte after them
	Size       int64 // of the object; -1 if it is not told
}

// ContentRange parses "bytes 0-99/1234" and "bytes */1234", which has no bytes.
func ContentRange(field string) (r Range, err error) {
	wrong := Permanent(fmt.Errorf("the response has Content-Range %.100q", field))
	rest, ok := strings.CutPrefix(field, "bytes ")
	bytes, total, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return r, wrong
	}
	if r.Size = -1; total != "*" {
		if r.Size, err = number(total); err != nil {
			return r, wrong
		}
	}
	if bytes == "*" {
		return r, nil
	}
	first, last, ok := strings.Cut(bytes, "-")
	if r.Begin, err = number(first); err != nil || !ok {
		return r, wrong
	}
	if r.End, err = number(last); err != nil || r.End < r.Begin || r.Size >= 0 && r.End >= r.Size {
		return r, wrong
	}
	r.End++
	return r, nil
}

// number parses digits. Another byte follows the one of that number, so it is not the
// largest int64.
func number(digits string) (int64, error) {
	n, err := strconv.ParseUint(digits, 10, 63)
	if n == math.MaxInt64 {
		return 0, strconv.ErrRange
	}
	return int64(n), err
}
