package shards

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

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
