package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
)

const (
	jobLines = 256
	jobBytes = 1 << 20
	maxLine  = 64 << 20 // bytes
)

// read makes jobs of the lines of all files, without those that were done. An error is a job, too.
func read(ctx context.Context, names []string, skip int, queue, jobs chan<- *job) {
	line := 0 // the number of lines read
	send := func(j *job) error {
		j.next, j.done = line, make(chan struct{})
		for _, to := range []chan<- *job{queue, jobs} {
			select {
			case to <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	for _, name := range names {
		scan := scanLines
		if isParquet(name) {
			scan = scanRows
		}
		before, size := line, 0
		var j *job
		err := scan(ctx, name, func(text string) error {
			if line++; line <= skip {
				return ctx.Err()
			}
			if j == nil {
				j, size = &job{name: name, first: line - 1 - before}, 0
			}
			j.lines = append(j.lines, text)
			if size += len(text); len(j.lines) < jobLines && size < jobBytes {
				return ctx.Err()
			}
			full := j
			j = nil
			return send(full)
		})
		if j != nil {
			_ = send(j) // unless nobody waits for it
		}
		if err != nil {
			_ = send(&job{err: err})
			return
		}
	}
	if line < skip {
		_ = send(&job{err: fmt.Errorf("the files have %d lines, and %d were done before: want the same files", line, skip)})
	}
}

// scanLines calls do with the lines of a file, without the space around them.
func scanLines(_ context.Context, name string, do func(string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := io.Reader(f)
	switch {
	case strings.HasSuffix(name, ".gz"):
		if in, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	case strings.HasSuffix(name, ".zst"):
		d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer d.Close()
		in = d
	}
	lines, n := bufio.NewScanner(in), 0
	lines.Buffer(make([]byte, 1<<20), maxLine)
	for ; lines.Scan(); n++ {
		if err := do(strings.TrimSpace(lines.Text())); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: after line %d: %w", name, n, err)
	}
	return nil
}

func isParquet(name string) bool { return strings.HasSuffix(name, ".parquet") }

// scanRows calls do with the texts of a Parquet file.
func scanRows(ctx context.Context, name string, do func(string) error) error {
	store := objects.Folder(filepath.Dir(name))
	index, err := shards.Scan(ctx, store, parquet.Format(parquet.Columns(*field)), []string{filepath.Base(name)})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ds, err := shards.Open(store, index, []shards.Field{shards.Bytes("text", *field)})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range ds.Len() {
		row, err := dataset.At(ctx, ds, i)
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", name, i+1, err)
		}
		if err := do(string(row["text"].Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// writeSample writes a file of some thousand texts, unless it exists.
func writeSample(name string) error {
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	for i := range 5000 {
		fmt.Fprintf(z, "{\"id\": %d, \"text\": \"A penstock carries water from the reservoir to turbine %d%s.\"}\n", i, i, strings.Repeat(", and on to the next", i%50))
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(name+".part", file.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(name+".part", name) // a kill leaves no half of it
}
