package nrrd_test

import (
	"encoding/binary"
	"strconv"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
	"github.com/penstock-go/penstock/internal/bulk"
)

func TestTextLongerThanABufferIsReadWhole(t *testing.T) {
	const n = 100_000
	for _, separator := range []string{" ", "\r\n", " , "} {
		text := []byte("NRRD0001\ntype: int64\ndimension: 1\nsizes: " + strconv.Itoa(n) + "\nencoding: ascii\n\n")
		value := func(i int) int64 { return int64(i) * int64(i) * int64(i) * int64(1-i%2*2) * 9000 }
		for i := range n {
			text = append(strconv.AppendInt(text, value(i), 10), separator...)
		}
		m, err := nrrd.Read(files("f", string(text)), "f", 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := int64(binary.NativeEndian.Uint64(m.Data[8*i:])); got != value(i) {
				t.Fatalf("value %d: got %d, want %d", i, got, value(i))
			}
		}
	}
}

func TestDataAreAligned(t *testing.T) {
	for name := range goldens(t).Files {
		m, err := nrrd.Read(testFiles, name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(unsafe.Pointer(&m.Data[0]))%bulk.Align != 0 {
			t.Errorf("%s is not aligned", name)
		}
	}
}
