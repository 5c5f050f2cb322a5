package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// converse answers requests until the reader is gone.
func (s *server) converse(ctx context.Context) error {
	q, err := s.question(ctx)
	for err == nil {
		switch q.Do {
		case "begin":
			q, err = s.loop(ctx, q)
		case "next":
			q, err = s.answer(ctx, failed(errEnded))
		default:
			err = fmt.Errorf("share: reader: request %q", q.Do)
		}
	}
	return err
}

// errEnded is the reader's error if it asks for the next batch of another loop than the
// one that runs.
var errEnded = errors.New("share: this loop has ended, or another loop has begun")

// loop sends one batch per request. It returns the first request that is not for the
// next batch.
func (s *server) loop(ctx context.Context, q question) (question, error) {
	from := q.From
	if from.Version == 0 {
		from = s.l.Position(from.Epoch)
	}
	for batch, err := range s.l.From(ctx, from, from.Epoch+1) {
		if err != nil {
			return s.answer(ctx, failed(err))
		}
		number, err := s.send(batch)
		if err != nil {
			return q, err
		}
		if q, err = s.after(ctx, number); err != nil || q.Do != "next" {
			return q, err
		}
	}
	return s.answer(ctx, ending{s.l.Position(from.Epoch + 1)})
}

// after waits for a request of the loop whose last batch has that number, or for one
// that begins another loop.
func (s *server) after(ctx context.Context, number int) (q question, err error) {
	q, err = s.question(ctx)
	for err == nil && q.Do == "next" && q.After != number {
		q, err = s.answer(ctx, failed(errEnded))
	}
	return q, err
}

// answer sends a line, and waits for the next request.
func (s *server) answer(ctx context.Context, line any) (question, error) {
	if err := s.write(line); err != nil {
		return question{}, err
	}
	return s.question(ctx)
}

// question waits for a request about loops, and answers other requests itself.
func (s *server) question(ctx context.Context) (q question, err error) {
	for err == nil {
		select {
		case q = <-s.questions:
		case <-ctx.Done():
			return q, context.Cause(ctx)
		}
		switch q.Do {
		case "hello":
			err = s.write(s.greeting(q.Version))
		case "len":
			err = s.write(s.length(q.Epoch))
		case "stats":
			err = s.write(statistics{s.l.Stats().String()})
		default:
			return q, nil
		}
	}
	return q, err
}

func (s *server) length(epoch int) any {
	n, err := s.l.Len(s.l.Position(epoch))
	if err != nil {
		return failed(err)
	}
	return length{n}
}

// send sends a batch, and returns the number that it gives to it.
func (s *server) send(b *loader.Batch) (number int, err error) {
	h := &held{release: b.Keep()}
	s.last++
	line := batchLine{Number: s.last, Fields: []fieldLine{}, Gone: []int{}, Position: b.Position()}
	for _, f := range b.Spec() {
		out, err := s.field(b, f, h)
		if err != nil {
			h.release()
			return 0, err
		}
		line.Fields = append(line.Fields, out)
	}
	many := s.give(h)
	for i := range line.Fields {
		line.Fields[i].Copy = many || line.Fields[i].Bytes < small
	}
	line.Gone = append(line.Gone, s.memory.unannounced()...)
	return line.Number, s.write(line)
}

// field describes one field in the line of a batch.
func (s *server) field(b *loader.Batch, f dataset.Field, h *held) (fieldLine, error) {
	bytes := b.Bytes(f.Name)
	out := fieldLine{Name: f.Name, Dtype: dtypeName(f.Dtype), Bytes: len(bytes)}
	n := b.Len()
	if f.Ragged {
		out.Offsets = b.Offsets(f.Name)
		n = out.Offsets[n]
	}
	out.Shape = append([]int{n}, f.Shape...)
	if len(bytes) == 0 {
		return out, nil
	}
	var block *block
	block, out.Offset = s.memory.find(bytes)
	if block == nil {
		return out, fmt.Errorf("share: field %q is not in the Memory that is served: make the loader with loader.Memory of it", f.Name)
	}
	if !slices.Contains(h.blocks, block) {
		h.blocks = append(h.blocks, block)
	}
	out.Block, out.File = s.memory.show(block)
	return out, nil
}

func (s *server) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("share: %w", err) // what Info was given
	}
	_, err = s.conn.Write(append(text, '\n'))
	return written(err)
}

// written is the error of a write. If the reader has ended, it is errGone.
func written(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return errGone
	}
	return fmt.Errorf("share: reader: %w", err)
}

// version is that of the protocol.
const version = 2

// small is how many bytes a field has at least that the reader is not told to copy: a
// reader that keeps labels should not keep the memory of the images.
const small = 64 << 10

// A question is a request of the reader.
type question struct {
	Do      string          `json:"do"`
	Version int             `json:"version"`
	From    loader.Position `json:"from"` // of begin; without a version it is an epoch's beginning
	After   int             `json:"after"`
	Epoch   int             `json:"epoch"`
	Held    []int           `json:"held"` // blocks; nil where the reader does not say
	Forks   int             `json:"forks"`
}

// These are the lines of this side.
type (
	greeting struct {
		Names []string       `json:"names"` // of the fields
		Info  map[string]any `json:"info"`
	}
	batchLine struct {
		Number   int             `json:"batch"`
		Fields   []fieldLine     `json:"fields"`
		Gone     []int           `json:"gone"`
		Position loader.Position `json:"position"`
	}
	fieldLine struct {
		Name    string `json:"name"`
		Dtype   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Bytes   int    `json:"bytes"`
		Block   int    `json:"block"` // 0 where there are no bytes
		File    string `json:"file"`
		Offset  int    `json:"offset"`
		Copy    bool   `json:"copy"`
		Offsets []int  `json:"offsets,omitempty"`
	}
	ending struct {
		Position loader.Position `json:"end"`
	}
	failure struct {
		Error string `json:"error"`
		Name  string `json:"name,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	length struct {
		Batches int `json:"len"`
	}
	statistics struct {
		Text string `json:"stats"`
	}
)

// greeting is the answer to a reader that speaks the given version of the protocol.
func (s *server) greeting(readers int) any {
	if readers != version {
		return failed(fmt.Errorf("share: the program speaks version %d of the protocol, the reader version %d", version, readers))
	}
	g := greeting{Names: []string{}, Info: s.info}
	for _, f := range s.l.Spec() {
		g.Names = append(g.Names, f.Name)
	}
	return g
}

// keep is how many batches the reader may hold without copying them, so that it does
// not slow the loader down: all slabs but one per worker. It is at least two, because the
// next batch comes before the reader frees the one of its loop body. With ragged fields it
// is not more than two, because more could fill the memory to which the loader limits
// itself. One slab is always left for the loader.
func keep(s loader.Stats, ragged bool) int {
	n := 2
	if !ragged {
		n = max(n, s.Slabs-s.Workers)
	}
	return min(n, s.Slabs-1)
}

// dtypeName is the dtype's name with its size, as in other languages.
func dtypeName(d dataset.Dtype) string {
	switch d {
	case dataset.Int, dataset.Uint:
		return fmt.Sprintf("%v%d", d, 8*d.Size())
	}
	return d.String()
}

func failed(err error) failure {
	line := failure{Error: err.Error()}
	if sample := (*loader.SampleError)(nil); errors.As(err, &sample) {
		line.Name, line.Index = sample.Name, &sample.Index
	}
	return line
}
