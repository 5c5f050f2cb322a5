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
	if err := s.write(s.greeting()); err != nil {
		return err
	}
	q, err := s.question(ctx)
	for err == nil {
		switch q.Do {
		case "begin":
			q, err = s.loop(ctx, q)
		case "stop":
			q, err = s.question(ctx) // the loop has ended by itself
		default:
			err = fmt.Errorf("share: reader: request %q, but no loop runs", q.Do)
		}
	}
	return err
}

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
		if err := s.send(batch); err != nil {
			return q, err
		}
		if q, err = s.question(ctx); err != nil || q.Do != "next" {
			return q, err
		}
	}
	return s.answer(ctx, ending{s.l.Position(from.Epoch + 1)})
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
	n, err := s.l.Len(epoch)
	if err != nil {
		return failed(err)
	}
	return length{n}
}

// send sends a batch, after the blocks in which it lies.
func (s *server) send(b *loader.Batch) error {
	h := held{release: b.Keep()}
	line := batchLine{Position: b.Position()}
	for _, f := range b.Spec() {
		out, err := s.field(b, f, &h)
		if err != nil {
			h.release()
			return err
		}
		line.Fields = append(line.Fields, out)
	}
	line.Number, line.Gone = s.give(h), s.memory.unannounced()
	return s.write(line)
}

// field describes one field in the line of a batch.
func (s *server) field(b *loader.Batch, f dataset.Field, h *held) (fieldLine, error) {
	bytes := b.Bytes(f.Name)
	out := fieldLine{field: newField(f), Bytes: len(bytes)}
	n := b.Len()
	if f.Ragged {
		out.Offsets = b.Offsets(f.Name)
		n = out.Offsets[n]
	}
	out.Shape = append([]int{n}, out.Shape...)
	if len(bytes) == 0 {
		return out, nil
	}
	var block *block
	block, out.Block, out.Offset = s.memory.find(bytes)
	if block == nil {
		return out, fmt.Errorf("share: field %q is not in the Memory that is served: make the loader with loader.Memory of it", f.Name)
	}
	if !slices.Contains(h.blocks, block) {
		h.blocks = append(h.blocks, block)
	}
	return out, s.announce(block)
}

// announce sends a block that the reader does not know. The batch in it is kept, so
// the block is not freed meanwhile.
func (s *server) announce(b *block) error {
	file, id := s.memory.takeFile(b)
	if file == nil {
		return nil
	}
	defer file.Close()
	text, err := json.Marshal(blockLine{id, len(b.bytes)})
	if err != nil {
		return err
	}
	text = append(text, '\n')
	n, _, err := s.conn.WriteMsgUnix(text, rights(file), nil)
	if err == nil && n < len(text) {
		_, err = s.conn.Write(text[n:])
	}
	return written(err)
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
