package tokens

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/journal"
	"github.com/penstock-go/penstock/internal/private"
)

// A Writer writes a pair of files for Megatron and [Open], path.bin and path.idx, step by step. Without the other one, path.bin is a
// file for nanoGPT and [Raw]. If the program is killed, what was appended remains in path.bin.part and
// path.bin.journal, and the next Writer of that path continues after it. Only [Writer.Finish] gives the files their names. Their
// bytes do not depend on interruptions.
//
// It takes 4 bytes of memory per document. Only one Writer at a time may write a path, and only one goroutine at a time may use it.
type Writer struct {
	path    string
	dtype   dataset.Dtype
	file    *journal.Writing
	lengths []int32
	next    int
	bytes   []byte
	note    []byte
}

// Create begins the files of a path, which has no extension, or continues them. dt is the dtype of the stored tokens: uint16 is enough
// for a vocabulary of 65,536, and Megatron also reads uint8, int8, int16, int32 and int64.
//
// origin is of what the tokens are made, such as the names of the texts and of the tokenizer. It is an error if
// an unfinished file has another origin or dtype. To continue, Create reads what exists and keeps it up to the first
// documents with a wrong checksum. [Writer.Next] then says where to continue.
func Create(ctx context.Context, path string, dt dataset.Dtype, origin string) (*Writer, error) {
	w := &Writer{path: path, dtype: dt}
	if w.code() == 0 {
		return nil, fmt.Errorf("tokens: write %s: dtype %v: want uint8, uint16, int8, int16, int32 or int64", path, dt)
	}
	var err error
	head := fmt.Sprintf("tokens 1 %x", sha256.Sum256([]byte(dt.String()+"\n"+origin)))
	if w.file, err = journal.Begin(ctx, "tokens", path, path+".bin", head, nil, w.restore); err != nil {
		return nil, err
	}
	return w, nil
}

// code is Megatron's code of the dtype.
func (w *Writer) code() byte {
	for code, dt := range megatronDtypes {
		if dt == w.dtype {
			return code
		}
	}
	return 0
}

// restore adds the documents of an earlier Append. Its note is the place to continue, and the documents' lengths.
func (w *Writer) restore(n journal.Note) bool {
	words := strings.Fields(n.Text)
	if len(words) == 0 || len(words) > 1+maxDocuments {
		return false
	}
	next, err := strconv.Atoi(words[0])
	if err != nil || next < w.next {
		return false
	}
	lengths, sum := make([]int32, 0, len(words)-1), int64(0)
	for _, word := range words[1:] {
		length, err := strconv.ParseInt(word, 10, 32)
		if err != nil || length < 0 {
			return false
		}
		lengths, sum = append(lengths, int32(length)), sum+length
	}
	if sum*int64(w.dtype.Size()) != n.Bytes {
		return false
	}
	w.lengths, w.next = append(w.lengths, lengths...), next
	return true
}

// Next is where in the source to continue: what the last Append was told, or 0.
func (w *Writer) Next() int { return w.next }

// Len is the number of appended documents, including those before an interruption.
func (w *Writer) Len() int { return len(w.lengths) }

// maxDocuments is how many documents an Append may have. Their lengths are in one line of the journal.
const maxDocuments = 5000

// Append writes up to 5,000 documents, or none. next is where in the source the documents after them begin, such as the number of a
// line. It must not decrease. When Append returns, the documents survive a kill of the program, but not a crash of the machine.
// A token that the dtype has no place for is an error, and nothing is written.
func (w *Writer) Append(next int, documents ...[]int32) error {
	if err := w.file.Err(); err != nil {
		return err
	}
	if err := w.check(next, documents); err != nil {
		return w.file.Wrap(err)
	}
	return w.file.Do(func() error { return w.append(next, documents) })
}

func (w *Writer) check(next int, documents [][]int32) error {
	if next < w.next {
		return fmt.Errorf("next is %d, but was %d", next, w.next)
	}
	if len(documents) > maxDocuments {
		return fmt.Errorf("%d documents: want %d at most", len(documents), maxDocuments)
	}
	least, most := int32(math.MinInt32), int32(math.MaxInt32)
	switch w.dtype {
	case dataset.Uint8:
		least, most = 0, math.MaxUint8
	case dataset.Uint16:
		least, most = 0, math.MaxUint16
	case dataset.Int8:
		least, most = math.MinInt8, math.MaxInt8
	case dataset.Int16:
		least, most = math.MinInt16, math.MaxInt16
	}
	for k, d := range documents {
		if len(d) > math.MaxInt32 {
			return fmt.Errorf("document %d: %d tokens: want %d at most", w.Len()+k, len(d), math.MaxInt32)
		}
		for i, v := range d {
			if v < least || v > most {
				return fmt.Errorf("document %d: token %d is %d: want %d to %d for %v", w.Len()+k, i, v, least, most, w.dtype)
			}
		}
	}
	return nil
}

func (w *Writer) append(next int, documents [][]int32) error {
	w.note = strconv.AppendInt(w.note[:0], int64(next), 10)
	for _, d := range documents {
		w.note = strconv.AppendInt(append(w.note, ' '), int64(len(d)), 10)
		w.bytes = w.bytes[:0]
		for _, v := range d {
			switch w.dtype.Size() {
			case 1:
				w.bytes = append(w.bytes, byte(v))
			case 2:
				w.bytes = binary.LittleEndian.AppendUint16(w.bytes, uint16(v))
			case 4:
				w.bytes = binary.LittleEndian.AppendUint32(w.bytes, uint32(v))
			default:
				w.bytes = binary.LittleEndian.AppendUint64(w.bytes, uint64(v))
			}
		}
		if _, err := w.file.Log.Write(w.bytes); err != nil {
			return err
		}
		w.lengths = append(w.lengths, int32(len(d)))
	}
	w.next = next
	w.file.Log.Note("%s", w.note)
	return w.file.Log.Flush()
}

// Finish writes the index, gives the files their names and closes the Writer. Every document is one sequence of Megatron's index.
func (w *Writer) Finish() error {
	return w.file.Finish(func() error {
		if err := w.index(w.path + ".idx.part"); err != nil {
			return err
		}
		if err := os.Rename(w.path+".idx.part", w.path+".idx"); err != nil {
			return err
		}
		return w.file.Log.Finish(w.path + ".bin") // from here on, nothing is continued
	})
}

// index writes the .idx file.
func (w *Writer) index(name string) error {
	f, err := private.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	var word [8]byte
	put := func(v uint64, width int) {
		binary.LittleEndian.PutUint64(word[:], v)
		out.Write(word[:width]) // Flush has the first error
	}
	out.WriteString(megatronMagic)
	put(1, 8)
	put(uint64(w.code()), 1)
	put(uint64(len(w.lengths)), 8)
	put(uint64(len(w.lengths)+1), 8)
	for _, n := range w.lengths {
		put(uint64(n), 4)
	}
	offset := uint64(0)
	for _, n := range w.lengths {
		put(offset, 8)
		offset += uint64(n) * uint64(w.dtype.Size())
	}
	for i := range len(w.lengths) + 1 {
		put(uint64(i), 8)
	}
	err = out.Flush()
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Close closes the files. If the Writer is not finished, the next one continues. Close after Finish does nothing.
func (w *Writer) Close() error { return w.file.Close() }
