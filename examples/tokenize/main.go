// Tokenize turns texts in JSONL files, which may be compressed by gzip or zstd, and in Parquet files into a pair of files for
// Megatron and package tokens, on all processors. If it is killed, the same command goes on where it was.
//
//	go run ./examples/tokenize [-out PATH] [-field NAME] [-tokenizer gpt2|bytes] [FILE.jsonl[.gz|.zst] FILE.parquet ...]
//
// Without files it writes some and takes these: sample.jsonl.gz, in the current folder.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"runtime"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/tiktoken-go/tokenizer"
)

var (
	out   = flag.String("out", "sample", "`path` of the files to write, without .bin and .idx")
	field = flag.String("field", "text", "`key` of the text in every line, or its column")
	kind  = flag.String("tokenizer", "gpt2", "gpt2 or bytes")
)

// An Encoder appends the tokens of a text to dst.
type Encoder interface {
	Encode(dst []int32, text []byte) []int32
}

// Gpt2 is GPT-2's tokenizer, and ends every text with its token <|endoftext|>.
type gpt2 struct{ tokenizer.Codec }

func (e gpt2) Encode(dst []int32, text []byte) []int32 {
	ids, _, err := e.Codec.Encode(string(text))
	if err != nil {
		log.Fatal(err) // never: it takes any text
	}
	for _, id := range ids {
		dst = append(dst, int32(id))
	}
	return append(dst, 50256)
}

// RawBytes has a token for every byte, and 256 at the end.
type rawBytes struct{}

func (rawBytes) Encode(dst []int32, text []byte) []int32 {
	for _, b := range text {
		dst = append(dst, int32(b))
	}
	return append(dst, 256)
}

func encoder() (Encoder, error) {
	switch *kind {
	case "bytes":
		return rawBytes{}, nil
	case "gpt2":
		codec, err := tokenizer.Get(tokenizer.R50kBase) // which is GPT-2's
		return gpt2{codec}, err
	}
	return nil, fmt.Errorf("-tokenizer %s: want gpt2 or bytes", *kind)
}

// A job is some lines, or texts of a Parquet file, and then their documents.
type job struct {
	name      string // of the file
	first     int    // how many lines of it come before
	lines     []string
	next      int // how many lines of all files come before what follows
	documents [][]int32
	err       error
	done      chan struct{}
}

func (j *job) encode(e Encoder) {
	defer close(j.done)
	for i, line := range j.lines {
		text, err := j.textOf(line)
		if err != nil {
			j.err = fmt.Errorf("%s: line %d: %w", j.name, j.first+i+1, err)
			return
		}
		if text != "" {
			j.documents = append(j.documents, e.Encode(nil, []byte(text)))
		}
	}
}

// textOf is the text of a line, or "" if the line is empty.
func (j *job) textOf(line string) (string, error) {
	if line == "" || isParquet(j.name) {
		return line, nil
	}
	var row map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &row); err != nil {
		return "", err
	}
	var text *string
	if err := json.Unmarshal(row[*field], &text); err != nil || text == nil {
		return "", fmt.Errorf("no text %q", *field)
	}
	return *text, nil
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(context.Background(), flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = []string{"sample.jsonl.gz"}
		if err := writeSample(names[0]); err != nil {
			return err
		}
	}
	e, err := encoder()
	if err != nil {
		return err
	}
	w, err := tokens.Create(ctx, *out, dataset.Uint16, fmt.Sprint(*kind, *field, names))
	if err != nil {
		return err
	}
	defer w.Close()
	skip := w.Next()
	if skip > 0 {
		log.Printf("goes on after line %d", skip)
	}
	begun, last, count := time.Now(), time.Now(), 0
	report := func() {
		log.Printf("%d texts, %.0f tokens/s on %d processors", w.Len(), float64(count)/time.Since(begun).Seconds(), runtime.GOMAXPROCS(0))
	}

	// The queue is in the order of the lines; the workers take jobs from the other channel.
	ctx, cancel := context.WithCancel(ctx)
	queue, jobs := make(chan *job, 4*runtime.GOMAXPROCS(0)), make(chan *job)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		defer close(queue)
		defer close(jobs)
		read(ctx, names, skip, queue, jobs)
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for j := range jobs {
				j.encode(e)
			}
		})
	}
	for j := range queue {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil {
			return j.err
		}
		if err := w.Append(j.next, j.documents...); err != nil {
			return err
		}
		for _, d := range j.documents {
			count += len(d)
		}
		if time.Since(last) > 5*time.Second {
			report()
			last = time.Now()
		}
	}
	if err := ctx.Err(); err != nil {
		return err // not all lines were read
	}
	report()
	return w.Finish()
}
