package shards

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

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
