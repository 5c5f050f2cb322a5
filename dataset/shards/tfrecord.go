package shards

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// TFRecord is the format of TensorFlow's record files, with a tf.Example in each record.
// The columns are the names of its features. Lists of int64 and float are lists of these.
// A list of bytes has one element: a file or a text.
//
// The checksum of a record is compared whenever it is read. A file that is compressed
// as a whole, by gzip or zstd, is one block.
//
// Sources: https://www.tensorflow.org/tutorials/load_data/tfrecord and TensorFlow's
// example.proto and feature.proto.
func TFRecord(options ...FormatOption) Format { return &tfRecord{formatOf(options)} }

type tfRecord struct{ formatConfig }

const (
	tfHead = 12 // bytes before the data of a record: its length, and the CRC of that
	tfTail = 4  // bytes after the data: its CRC
)

func (*tfRecord) String() string { return "tfrecord" }

func (t *tfRecord) Layout([]byte) (shardfmt.Layout, error) { return t, t.check() }

func (t *tfRecord) Split(ctx context.Context, s objects.Store, name string, size int64, emit func(shardfmt.Shard) error) error {
	if err := t.check(); err != nil {
		return err
	}
	shard, err := split(ctx, s, name, size, t.blockLimit(), tfCompressed, walkTFRecord)
	if err != nil {
		return err
	}
	return emit(shard)
}

// tfCompressed tells how a file is compressed. The length of a first record may begin
// like a compressed file.
func tfCompressed(first []byte) shardfmt.Compression {
	if len(first) >= tfHead {
		if _, err := tfLength(first); err == nil {
			return shardfmt.Plain
		}
	}
	return compressedBy(first)
}

func walkTFRecord(c *cutter) error {
	for {
		c.mark()
		head, err := c.take(tfHead)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := tfLength(head)
		if err != nil {
			return err
		}
		c.sample()
		if err := c.skip(n + tfTail); err != nil {
			return err
		}
	}
}

// maxRecord limits the bytes of a record, so that offsets cannot overflow.
const maxRecord = 1 << 56

// tfLength reads the head of a record and returns the length of its data.
func tfLength(head []byte) (int64, error) {
	n := binary.LittleEndian.Uint64(head)
	if sum, want := maskedSum(head[:8]), binary.LittleEndian.Uint32(head[8:]); sum != want {
		return 0, fmt.Errorf("want a TFRecord: the checksum of its length is %08x, want %08x", sum, want)
	}
	if n > maxRecord {
		return 0, fmt.Errorf("a record of %d bytes", n)
	}
	return int64(n), nil
}

// maskedSum is a CRC-32C, rotated, plus a constant, so that the checksum of data with
// checksums in it is no special one.
func maskedSum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli())
	return (sum>>15 | sum<<17) + 0xa282ead8
}

func (*tfRecord) Rows(block []byte, _ int64, dst []shardfmt.Row) ([]shardfmt.Row, error) {
	for at := 0; at < len(block); {
		rest := block[at:]
		if len(rest) < tfHead {
			return dst, fmt.Errorf("byte %d: %w", at, io.ErrUnexpectedEOF)
		}
		n, err := tfLength(rest)
		if err != nil {
			return dst, fmt.Errorf("byte %d: %w", at, err)
		}
		if n > int64(len(rest)-tfHead-tfTail) {
			return dst, fmt.Errorf("byte %d: a record of %d bytes: %w", at, n, io.ErrUnexpectedEOF)
		}
		dst = append(dst, shardfmt.Row{Off: at, Len: tfHead + int(n) + tfTail})
		at += tfHead + int(n) + tfTail
	}
	return dst, nil
}

func (*tfRecord) Key([]byte) string { return "" }

func (*tfRecord) Decoder(columns []string) (shardfmt.Decoder, error) {
	return &exampleDecoder{columns: columns, lists: make([][]byte, len(columns))}, nil
}

func (d *exampleDecoder) Decode(sample []byte, dst []shardfmt.Value) error {
	end := len(sample) - tfTail
	data := sample[tfHead:end]
	if sum, want := maskedSum(data), binary.LittleEndian.Uint32(sample[end:]); sum != want {
		return fmt.Errorf("the record is damaged: its checksum is %08x, want %08x", sum, want)
	}
	clear(dst)
	return d.example(data, dst)
}

// An exampleDecoder reads the protocol buffers of tf.Example:
//
//	Example   features = 1: Features
//	Features  feature = 1: map of string to Feature
//	Feature   bytes_list = 1, float_list = 2 or int64_list = 3, each with value = 1, repeated
type exampleDecoder struct {
	columns []string
	lists   [][]byte // memory for int64 and float, by column
}

// example reads an Example.
func (d *exampleDecoder) example(data []byte, dst []shardfmt.Value) error {
	return fields(data, func(number int, message []byte, _ uint64) error {
		if number != 1 || message == nil {
			return nil
		}
		return fields(message, func(number int, entry []byte, _ uint64) error {
			if number != 1 || entry == nil {
				return nil
			}
			return d.feature(entry, dst)
		})
	})
}

// feature reads an entry of the map: key = 1, value = 2. If a key stands there twice, the
// last one counts.
func (d *exampleDecoder) feature(entry []byte, dst []shardfmt.Value) error {
	var key, feature []byte
	err := fields(entry, func(number int, data []byte, _ uint64) error {
		switch {
		case number == 1:
			key = data
		case number == 2:
			feature = data
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k, c := range d.columns {
		if c != string(key) {
			continue
		}
		if dst[k], err = d.value(k, feature); err != nil {
			return fmt.Errorf("feature %q: %w", c, err)
		}
	}
	return nil
}

// value reads a Feature.
func (d *exampleDecoder) value(k int, feature []byte) (v shardfmt.Value, err error) {
	err = fields(feature, func(number int, list []byte, _ uint64) error {
		if list == nil {
			return nil
		}
		var err error
		switch number {
		case 1:
			v, err = bytesList(list)
		case 2:
			d.lists[k], err = floatList(list, d.lists[k][:0])
			v = shardfmt.Value{Dtype: dataset.Float32, Shape: oneDimension, Data: d.lists[k]}
		case 3:
			d.lists[k], err = int64List(list, d.lists[k][:0])
			v = shardfmt.Value{Dtype: dataset.Int64, Shape: oneDimension, Data: d.lists[k]}
		}
		return err
	})
	return v, err
}

func bytesList(list []byte) (shardfmt.Value, error) {
	var one []byte
	n := 0
	err := fields(list, func(number int, data []byte, _ uint64) error {
		if number == 1 && data != nil {
			one = data
			n++
		}
		return nil
	})
	if err == nil && n != 1 {
		err = fmt.Errorf("a list of %d byte strings, want 1", n)
	}
	return bytesValue(one), err
}

// floatList appends the values, which are packed or one by one.
func floatList(list, to []byte) ([]byte, error) {
	err := fields(list, func(number int, data []byte, word uint64) error {
		switch {
		case number != 1:
		case data == nil:
			to = binary.LittleEndian.AppendUint32(to, uint32(word))
		case len(data)%4 != 0:
			return errors.New("a list of floats with a part of one")
		default:
			to = append(to, data...)
		}
		return nil
	})
	return to, err
}

func int64List(list, to []byte) ([]byte, error) {
	err := fields(list, func(number int, data []byte, word uint64) error {
		switch {
		case number != 1:
			return nil
		case data == nil:
			to = binary.LittleEndian.AppendUint64(to, word)
			return nil
		}
		for len(data) > 0 {
			v, n := binary.Uvarint(data)
			if n <= 0 {
				return errBadMessage
			}
			to, data = binary.LittleEndian.AppendUint64(to, v), data[n:]
		}
		return nil
	})
	return to, err
}

var errBadMessage = errors.New("the record is not a tf.Example: want a protocol buffer")

// fields calls use for every field of a message: with the bytes of a field that has a
// length, and otherwise with nil and the number.
//
// Source: https://protobuf.dev/programming-guides/encoding/.
func fields(message []byte, use func(number int, data []byte, word uint64) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return errBadMessage
		}
		message = message[n:]
		var data []byte
		var word uint64
		switch tag & 7 {
		case 0:
			if word, n = binary.Uvarint(message); n <= 0 {
				return errBadMessage
			}
			message = message[n:]
		case 1:
			if len(message) < 8 {
				return errBadMessage
			}
			word, message = binary.LittleEndian.Uint64(message), message[8:]
		case 2:
			size, n := binary.Uvarint(message)
			if n <= 0 || size > uint64(len(message)-n) {
				return fmt.Errorf("%w: %w", errBadMessage, io.ErrUnexpectedEOF)
			}
			end := n + int(size)
			data, message = message[n:end:end], message[end:]
		case 5:
			if len(message) < 4 {
				return errBadMessage
			}
			word, message = uint64(binary.LittleEndian.Uint32(message)), message[4:]
		default:
			return errBadMessage
		}
		if err := use(int(tag>>3), data, word); err != nil {
			return err
		}
	}
	return nil
}
