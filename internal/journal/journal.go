// Package journal writes and reads the notes of a program that may be killed while it
// writes them. A journal is text. Every line begins with the CRC-32C (RFC 3720, section
// 12.1) of what follows its first space, so that a line that is cut short is noticed.
package journal

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

func sum(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
}

// Append appends a line, which has no line feed of its own.
func Append(to []byte, format string, args ...any) []byte {
	start := len(to)
	to = fmt.Appendf(append(to, "01234567 "...), format, args...)
	copy(to[start:], sum(to[start+9:]))
	return append(to, '\n')
}

// Next returns the text of the next line, which begins at byte start, and where it ends.
// ok is false if the line is not whole, or longer than the reader's buffer.
func Next(lines *bufio.Reader, start int64) (text string, end int64, ok bool) {
	line, err := lines.ReadSlice('\n')
	if err != nil {
		return "", start, false // what lines that cannot be read have noted is done again
	}
	want, text, ok := strings.Cut(string(line[:len(line)-1]), " ")
	if !ok || want != sum([]byte(text)) {
		return "", start, false
	}
	return text, start + int64(len(line)), true
}

// Cut truncates a file to size and seeks to its end.
func Cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}
