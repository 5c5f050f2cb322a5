package objects

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"strconv"
	"strings"
)

// mostLine is how many bytes a line of an index may have.
const mostLine = 64 << 10

// List yields the objects of the listing or the index, in its order, and the zero
// Object for those that it leaves out.
func (s *server) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		skip := after != ""
		for o, err := range s.all(ctx, after) {
			switch {
			case err != nil:
				yield(Object{}, err)
				return
			case skip || !strings.HasPrefix(o.Name, prefix):
				skip = skip && o.Name != after
				o = Object{}
			}
			if !yield(o, nil) {
				return
			}
		}
		if skip {
			yield(Object{}, Permanent(fmt.Errorf("the listing no longer has %s, where it goes on", after)))
		}
	}
}

func (s *server) all(ctx context.Context, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		switch {
		case s.listed:
			for _, o := range s.listing {
				if !yield(o, nil) {
					return
				}
			}
		case s.index != "":
			s.readIndex(ctx, after != "", yield)
		default:
			yield(Object{}, Permanent(errors.New("the server has no listing: want Index, Listing or Names")))
		}
	}
}

// readIndex yields the objects of the index while it is downloaded. again says that the
// index was read before, up to an object after which the listing goes on.
func (s *server) readIndex(ctx context.Context, again bool, yield func(Object, error) bool) {
	fail := func(err error) { yield(Object{}, fmt.Errorf("index %s: %w", s.index, err)) }
	want, _ := s.indexVersion.Load().(string)
	resp, err := s.send(ctx, Object{Name: s.index, Version: want}, "")
	if err != nil {
		fail(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		fail(refused(resp))
		return
	}
	if err := errors.Join(identity(resp.Header), bounded(resp)); err != nil {
		fail(err)
		return
	}
	switch version, err := s.version(resp.Header, want); {
	case err != nil && (again || want != ""):
		fail(err)
		return
	case err == nil && version != "" && !s.indexVersion.CompareAndSwap(nil, version) && s.indexVersion.Load() != version:
		fail(ErrReplaced) // another listing has begun with that version
		return
	}
	lines := bufio.NewReaderSize(resp.Body, mostLine)
	for n, ended := 1, false; !ended; n++ {
		// Part of a line counts only if the index ends there: the connection may have broken.
		line, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF:
			ended = true
		case err == bufio.ErrBufferFull:
			fail(Permanent(fmt.Errorf("line %d has more than %d bytes", n, mostLine)))
			return
		case err != nil:
			fail(err)
			return
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		o, err := parseLine(string(line))
		if err != nil {
			fail(Permanent(fmt.Errorf("line %d: %w", n, err)))
			return
		}
		if o.Name != s.index && !yield(o, nil) {
			return
		}
	}
}

// bounded refuses a response that ends where the connection does, because it may have broken.
func bounded(resp *http.Response) error {
	if resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
		return Permanent(errors.New("the response does not tell where it ends"))
	}
	return nil
}

// parseLine reads a line of an index: a name, and after tabs a size and a version.
func parseLine(line string) (Object, error) {
	name, rest, _ := strings.Cut(line, "\t")
	size, version, _ := strings.Cut(rest, "\t")
	o := Object{Name: strings.TrimPrefix(name, "./"), Size: -1, Version: version}
	if !fs.ValidPath(o.Name) || o.Name == "." {
		return o, fmt.Errorf("%.200q is not a path", name)
	}
	if size != "" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || len(size) > len("9223372036854775807") { // the name shares its memory
			return o, fmt.Errorf("size %.200q: want a number of bytes", size)
		}
		o.Size = n
	}
	return o, nil
}
