package photo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"
	"testing"
)

func TestWindowReadsOnlyItsRows(t *testing.T) {
	data := find(t, testImages(t), "progressive-restart-2x2-40x70-q75.jpg")
	for name, level := range levels {
		record := pack(t, data, level)
		d := newDecoder()
		c, pixels, err := whole(d, record)
		if err != nil {
			t.Fatal(err)
		}
		w := image.Rect(0, c.Height/2, c.Width, c.Height/2+1)
		from, to := rowsOf(t, record, w)
		for i := range record { // everything between the header and the rows, and after them, is damaged
			if i >= headerSize(record) && (i < from || i >= to) {
				record[i] ^= 0xff
			}
		}
		part := make([]byte, 4*w.Dx())
		if _, err := d.Header(record); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(c, pixels, w)) {
			t.Errorf("%s: a row of pixels reads more than its rows: %v", name, err)
		}
		want := fmt.Sprintf("photo: MCU row 0 at byte %d: damaged: its CRC-32C is ", headerSize(record))
		if err := d.Decode(part, 4*w.Dx(), image.Rect(0, 0, 1, 1)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: damaged row: got %v, want %s…", name, err, want)
		}
	}
}

// rowsOf are the bytes of the rows of MCUs that a window with all columns needs, and the
// pixels above and below it.
func rowsOf(tb testing.TB, record []byte, w image.Rectangle) (from, to int) {
	x := indexOf(record)
	at := x.header
	entry := record[at-4-x.rows*4*(x.components+1):]
	for row := range x.rows {
		if row == (w.Min.Y-1)/x.high {
			from = at
		}
		for i := range x.components {
			at += int(binary.LittleEndian.Uint32(entry[4*i:]))
		}
		entry = entry[4*(x.components+1):]
		if row == w.Max.Y/x.high {
			return from, at
		}
	}
	tb.Fatal("the record ends before the window")
	return 0, 0
}

// noting is a record in storage, which notes what is read.
type noting struct {
	record []byte
	read   [][2]int
	wrong  error
}

func (n *noting) ReadAt(to []byte, offset int64) (int, error) {
	n.read = append(n.read, [2]int{int(offset), int(offset) + len(to)})
	return copy(to, n.record[offset:]), n.wrong
}

func TestPartsAreReadAsWindowsNeedThem(t *testing.T) {
	data := find(t, testImages(t), "progressive-restart-2x2-40x70-q75.jpg")
	for name, level := range levels {
		record := pack(t, data, level)
		c, pixels, err := whole(newDecoder(), record)
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []int{0, 10, 24, 100, headerSize(record), headerSize(record) + 50, len(record)} {
			d, storage := newDecoder(), &noting{record: record}
			room := bytes.Repeat([]byte{0xa5}, len(record))
			copy(room, record[:first])
			if _, err := d.HeaderOf(room, first, storage); err != nil {
				t.Fatal(err)
			}
			for _, w := range []image.Rectangle{image.Rect(3, 35, 9, 36), image.Rect(0, 40, 5, 41), image.Rect(0, 0, 1, 1), image.Rect(0, 0, c.Width, c.Height)} {
				storage.read = nil
				part := make([]byte, 4*w.Dx()*w.Dy())
				if err := d.Decode(part, 4*w.Dx(), w); err != nil || !bytes.Equal(part, crop(c, pixels, w)) {
					t.Fatalf("%s: window %v after %d bytes differs: %v", name, w, first, err)
				}
				if w.Dy() > 1 || w.Min.Y == 0 {
					continue
				}
				from, to := rowsOf(t, record, w)
				want := fmt.Sprint([][2]int{{max(from, first), to}})
				if w.Min.Y == 40 || first == len(record) { // the rows of the first window, or all, are there
					want = "[]"
				}
				if got := fmt.Sprint(storage.read); got != want {
					t.Errorf("%s: window %v after %d bytes reads %s, want %s", name, w, first, got, want)
				}
			}
		}
		storage := &noting{record: record, wrong: io.ErrClosedPipe}
		if _, err := newDecoder().HeaderOf(make([]byte, len(record)), 0, storage); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: header: error %v", name, err)
		}
		d := newDecoder()
		if _, err := d.HeaderOf(bytes.Clone(record), headerSize(record), storage); err != nil {
			t.Fatal(err)
		}
		if err := d.Decode(make([]byte, 4), 4, image.Rect(0, 0, 1, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: rows: error %v", name, err)
		}
	}
}
