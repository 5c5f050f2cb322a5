package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	jobLines = 256
	jobBytes = 1 << 20
	maxLine  = 64 << 20 // bytes
)

// read makes jobs of the lines of all files, without those that were done. An error is a job, too.
func read(ctx context.Context, names []string, skip int, queue, jobs chan<- *job) {
	line := 0 // the number of lines read
	send := func(j *job) bool {
		j.next, j.done = line, make(chan struct{})
		for _, to := range []chan<- *job{queue, jobs} {
			select {
			case to <- j:
			case <-ctx.Done():
				return false
			}
		}
		return true
	}
	for _, name := range names {
		err := each(name, func(in *bufio.Scanner) bool {
			for more := in.Scan(); more; {
				j := &job{name: name, first: max(line, skip)}
				for size := 0; more && len(j.lines) < jobLines && size < jobBytes; more = in.Scan() {
					if line++; line > skip {
						j.lines = append(j.lines, in.Text())
						size += len(in.Bytes())
					}
				}
				if len(j.lines) > 0 && !send(j) {
					return false
				}
			}
			return true
		})
		if err != nil {
			send(&job{err: fmt.Errorf("%s: %w", name, err)})
			return
		}
	}
}

// each calls do with the lines of a file.
func each(name string, do func(*bufio.Scanner) bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := io.Reader(f)
	switch {
	case strings.HasSuffix(name, ".gz"):
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	case strings.HasSuffix(name, ".zst"):
		d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer d.Close()
		in = d
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), maxLine)
	if do(lines) {
		return lines.Err()
	}
	return nil
}

// writeSample writes a file of some thousand texts, unless it exists.
func writeSample(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	for i := range 5000 {
		fmt.Fprintf(z, "{\"id\": %d, \"text\": \"A penstock carries water from the reservoir to turbine %d%s.\"}\n", i, i, strings.Repeat(", and on to the next", i%50))
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
