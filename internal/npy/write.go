package npy

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// HeaderOf makes a header of version 1.0, or 2.0 if it is long. It is padded so that
// the data begins at a multiple of 64 bytes.
func HeaderOf(dt dataset.Dtype, shape []int) []byte {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := strings.Join(dims, ", ")
	if len(dims) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descrOf(dt), tuple)
	head := magic + "\x01\x00"
	size := 2
	if len(text) > 60_000 {
		head, size = magic+"\x02\x00", 4
	}
	begin := len(head) + size
	text += strings.Repeat(" ", 63-(begin+len(text))%64) + "\n"
	b := []byte(head)
	if size == 2 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

// descrOf is NumPy's name of a dtype in the machine's byte order.
func descrOf(dt dataset.Dtype) string {
	size := dt.Size()
	letter := map[string]string{"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}[strings.TrimRight(dt.String(), "0123456789")]
	switch {
	case size == 1:
		return fmt.Sprint("|", letter, size)
	case !bulk.LittleEndian():
		return fmt.Sprint(">", letter, size)
	}
	return fmt.Sprint("<", letter, size)
}
