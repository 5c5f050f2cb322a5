package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A key names a block. It is the beginning of a hash over all that the bytes depend on,
// in hexadecimal digits. The order of keys is the order in which blocks are kept.
type key string

const (
	keyDigits = 32
	trailer   = 4 // bytes: CRC-32C (RFC 3720) of the key and the block, little-endian
	maxBlock  = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("the checksum is wrong")

func (c *Cache) keyOf(o objects.Object, off, n int64) key {
	text := make([]byte, 0, 256)
	for _, part := range []string{c.identity, o.Name, o.Version} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.LittleEndian.AppendUint64(text, uint64(off))
	text = binary.LittleEndian.AppendUint64(text, uint64(n))
	sum := sha256.Sum256(text)
	return key(hex.EncodeToString(sum[:keyDigits/2]))
}

// sum is the checksum of a block. It covers the key, so a file under a wrong name does
// not match.
func (k key) sum(p []byte) uint32 {
	var name [keyDigits]byte
	copy(name[:], k)
	return crc32.Update(crc32.Checksum(name[:], castagnoli), castagnoli, p)
}

// read reads a block from its file.
func (k key) read(f *os.File, p []byte) error {
	if _, err := f.ReadAt(p, 0); err != nil {
		return whole(err)
	}
	var end [trailer]byte
	if _, err := f.ReadAt(end[:], int64(len(p))); err != nil {
		return whole(err)
	}
	if binary.LittleEndian.Uint32(end[:]) != k.sum(p) {
		return errDamaged
	}
	return nil
}

// whole is the error of a file that is too short, or another one.
func whole(err error) error {
	if err == io.EOF {
		return errDamaged
	}
	return err
}

// write writes a block to its file.
func (k key) write(f *os.File, p []byte) error {
	if _, err := f.WriteAt(p, 0); err != nil {
		return err
	}
	var end [trailer]byte
	binary.LittleEndian.PutUint32(end[:], k.sum(p))
	_, err := f.WriteAt(end[:], int64(len(p)))
	return err
}
