package shards_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
)

// npyFile is a file of numpy.save.
func npyFile(descr, order, shape, data string) string {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return string(head) + text + data
}

// TestFieldsAreMadeOfFiles has the file x.d of one sample in a tar file, and a field of it.
func TestFieldsAreMadeOfFiles(t *testing.T) {
	const f32 = "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40" // 1 2 3 4
	for _, c := range []struct {
		file  string
		field shards.Field
		want  string
	}{
		{"7", shards.Scalar[int64]("x", "d"), "7"},
		{" -7\n", shards.Scalar[int8]("x", "d"), "-7"},
		{"255", shards.Scalar[uint8]("x", "d"), "255"},
		{"256", shards.Scalar[uint8]("x", "d"), `field "x": "256" is not a number that uint8 can hold`},
		{"-1", shards.Scalar[uint64]("x", "d"), `"-1" is not a number`},
		{"1.5", shards.Scalar[int64]("x", "d"), `"1.5" is not a number`},
		{"1.5", shards.Scalar[float32]("x", "d"), "1.5"},
		{"1e300", shards.Scalar[float64]("x", "d"), "1e+300"},
		{"true", shards.Scalar[bool]("x", "d"), "true"},
		{"", shards.Scalar[int64]("x", "d"), `"" is not a number`},
		{"1", shards.Scalar[dataset.F16]("x", "d"), "a text, want float16"},
		{"hi", shards.Bytes("x", "d"), "[104 105]"},
		{"hi", shards.Bytes("x", "e"), `shards: a.tar, byte 0: field "x": the sample has no column e`},
		{"hi", shards.Bytes("x", "e", "d"), "[104 105]"},
		{f32, shards.Array[float32]("x", []int{2, 2}, "d"), "[1 2 3 4]"},
		{f32, shards.Array[float32]("x", []int{3}, "d"), "4 values, want [3]"},
		{f32[:15], shards.Array[float32]("x", []int{4}, "d"), "15 bytes of data"},
		{f32, shards.Ragged[float32]("x", []int{2}, "d"), "[1 2 3 4]"},
		{npyFile("<f4", "False", "(2, 2)", f32), shards.Array[float32]("x", []int{2, 2}, "d"), "[1 2 3 4]"},
		{npyFile("<f4", "True", "(2, 2)", f32), shards.Array[float32]("x", []int{2, 2}, "d"), "[1 3 2 4]"},
		{npyFile("<f4", "False", "(2, 2)", f32), shards.Array[float64]("x", []int{2, 2}, "d"), "[1 2 3 4]"},
		{npyFile("<f4", "False", "(2, 2)", f32), shards.Ragged[float32]("x", []int{2}, "d"), "[1 2 3 4]"},
		{npyFile("<f4", "False", "(2, 2)", f32), shards.Ragged[float32]("x", nil, "d"), "shape [2 2], want n × []"},
		{npyFile("<f4", "False", "(4,)", f32), shards.Array[float32]("x", []int{2, 2}, "d"), "shape [4], want [2 2]"},
		{npyFile("<f4", "False", "(2, 2)", f32), shards.Array[int32]("x", []int{2, 2}, "d"), "values of float32, want int32"},
		{npyFile("<f4", "False", "(2, 2)", f32[1:]), shards.Array[float32]("x", []int{2, 2}, "d"), "15 bytes of data for shape [2 2]"},
		{npyFile("<f4", "False", "(20000, 20000)", f32), shards.Ragged[float32]("x", []int{20000}, "d"), "16 bytes of data for shape"},
		{npyFile("<f4", "False", "(0, 2)", ""), shards.Ragged[float32]("x", []int{2}, "d"), "[]"},
		{npyFile(">i2", "False", "(2,)", "\x01\x00\xff\xff"), shards.Array[int64]("x", []int{2}, "d"), "[256 -1]"},
		{npyFile("<f2", "False", "(1,)", "\x00\x3c"), shards.Scalar[float32]("x", "d"), "1"},
		{npyFile("<i8", "False", "()", "\x09\x00\x00\x00\x00\x00\x00\x00"), shards.Scalar[uint8]("x", "d"), "9"},
		{npyFile("|b1", "False", "(2,)", "\x01\x00"), shards.Array[bool]("x", []int{2}, "d"), "[true false]"},
		{npyFile("|O", "False", "(2,)", "??"), shards.Array[bool]("x", []int{2}, "d"), "Python objects"},
		{"\x93NUMPY\x01\x00\xff\xff", shards.Array[bool]("x", []int{2}, "d"), "unexpected EOF"},
		{"\x93NUMPY\x03\x00\xff\xff\xff\xff", shards.Array[bool]("x", []int{2}, "d"), "header of 4294967295 bytes"},
	} {
		s := &memoryStore{objects: map[string][]byte{"a.tar": archive(t, tarFile{"x.d", c.file})}}
		ds, err := shards.Open(s, scan(t, s, shards.WebDataset(), 1, "a.tar"), []shards.Field{c.field})
		if err != nil {
			t.Fatal(err)
		}
		slot := newSlot(ds)
		got := ""
		if err := datatest.Open(t, ds).Place(t.Context(), 0, slot); err != nil {
			got = err.Error()
		} else if got = "[]"; len(slot.Cell(0).Bytes()) > 0 {
			got = fmt.Sprint(datatest.Sample(t, ds, 0)["x"].Data())
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%.60q as %v: %s, want %s", c.file, ds.Spec(), got, c.want)
		}
	}
}
