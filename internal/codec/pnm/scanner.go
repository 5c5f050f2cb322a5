package pnm

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A scanner reads decimal numbers between white space and comments. A comment begins
// with # and ends at the end of the line. As in Pillow, a comment does not end a
// number, and a number has at most 10 digits.
type scanner struct {
	data  []byte
	at    int
	token [10]byte
}

func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// next returns the bytes up to the next white space, which it skips. They are
// valid until the next call.
func (s *scanner) next() ([]byte, error) {
	n := 0
	for s.at < len(s.data) {
		b := s.data[s.at]
		s.at++
		switch {
		case b == '#':
			s.skipComment()
		case !space(b):
			if n == len(s.token) {
				return nil, fmt.Errorf("%q… is too long for a number", s.token[:])
			}
			s.token[n] = b
			n++
		case n > 0:
			return s.token[:n], nil
		}
	}
	if n == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return s.token[:n], nil
}

func (s *scanner) skipComment() {
	if i := bytes.IndexAny(s.data[s.at:], "\r\n"); i >= 0 {
		s.at += i + 1
	} else {
		s.at = len(s.data)
	}
}

// number reads a number of at most limit.
func (s *scanner) number(limit int) (int, error) {
	token, err := s.next()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, b := range token {
		if b < '0' || b > '9' {
			return 0, fmt.Errorf("%q is not a number", token)
		}
		if n = 10*n + int(b-'0'); n > limit {
			return 0, fmt.Errorf("%s is more than %d", token, limit)
		}
	}
	return n, nil
}

func (s *scanner) float() (float64, error) {
	token, err := s.next()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(string(token), 64)
	if err != nil || bytes.ContainsAny(token, "xX_") {
		return math.NaN(), fmt.Errorf("%q is not a number", token)
	}
	return v, nil
}

// bit reads a digit of 0 or 1, which needs no white space around it.
func (s *scanner) bit() (int, error) {
	for s.at < len(s.data) {
		b := s.data[s.at]
		s.at++
		switch {
		case b == '#':
			s.skipComment()
		case b == '0' || b == '1':
			return int(b - '0'), nil
		case !space(b):
			return 0, fmt.Errorf("%q is neither 0 nor 1", b)
		}
	}
	return 0, io.ErrUnexpectedEOF
}
