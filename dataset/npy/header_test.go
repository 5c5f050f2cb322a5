package npy_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/internal/datatest"
)

func TestNpyRefusesWhatHasNoPlainValues(t *testing.T) {
	g, fsys := readGolden(t)
	for name, word := range g.Refused {
		_, err := npy.Open(fsys, name, "x")
		if err == nil || !strings.Contains(err.Error(), word) || !strings.HasPrefix(err.Error(), "npy: read "+name+": ") {
			t.Errorf("%s: error %v, want one that says %q", name, err, word)
		}
	}
}

// npyFile is a file of format version 1.0.
func npyFile(descr, shape string, data []byte) []byte {
	return npyText(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape), data)
}

func npyText(text string, data []byte) []byte {
	text += strings.Repeat(" ", max(0, 117-len(text))) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(append(b, text...), data...)
}

func TestNpyHeadersAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}":                                    "<nil>",
		"{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"i2\",}":                                "<nil>",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2)}":                                     `byte 62: header: want a comma after the only number of a tuple, not ")}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (-2,)}":                                   `byte 61: header: want an integer of 0 or more, not "-2,)}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (02,)}":                                   `byte 61: header: want an integer of 0 or more, not "02,)}`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}":                 "is too large",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807,)}":                  datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}":    datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296, 4294967296)}": datatest.OfInt("is larger than any file", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (1000000000000,)}":                        datatest.OfInt("header promises 2000000000000 bytes of data from byte 128, the file has 4: unexpected EOF", "is too large"),
		"{'descr': '<i2', 'fortran_order': False, 'shape': (65536, 65536, 65536, 65536, 65536)}":     "is larger than any file",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}":                                    "2 bytes after the data, which ends at byte 130",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}":                     `byte 66: header: key "shape" twice`,
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), 'x': 1}":                            `byte 66: header: key "x", want descr`,
		"{'descr': '<i2', 'shape': (2,)}":                                                            `header: no key "fortran_order"`,
		"{'descr': '<i2', 'fortran_order': 0, 'shape': (2,)}":                                        `byte 44: header: want True or False, not "0, 'shape'`,
		"{'descr': '<i3', 'fortran_order': False, 'shape': (2,)}":                                    `byte 20: header: type "<i3": want bool`,
		"{'descr': '|i2', 'fortran_order': False, 'shape': (2,)}":                                    `type "|i2": want bool`,
		"{'descr': '\\x3ci2', 'fortran_order': False, 'shape': (2,)}":                                "with an escape",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)} + {}":                               "text after the dictionary",
		"__import__('os')": "byte 10: header: want '{', not",
		"":                 "want '{', not the header's end",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 65) + ")}": "more than 64 dimensions",
	} {
		_, err := npy.Open(fstest.MapFS{"x.npy": {Data: npyText(text, make([]byte, 4))}}, "x.npy", "x")
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestNpyRefusesOtherFiles(t *testing.T) {
	for content, want := range map[string]string{
		"":                                      "byte 0: unexpected EOF",
		"\x93NUMPX\x01\x00\x00\x00":             `byte 0: magic string "\x93NUMPX", want "\x93NUMPY"`,
		"\x93NUMPY\x04\x00\x00\x00":             "byte 6: version 4.0, want 1.0, 2.0 or 3.0",
		"\x93NUMPY\x01\x00\x76\x00{":            "byte 11: unexpected EOF",
		"\x93NUMPY\x02\x00\xff\xff\xff\xff":     "byte 8: header of 4294967295 bytes, want at most 65536",
		"\x93NUMPY\x03\x00\x01\x00\x00\x00\xff": "byte 12: header is not UTF-8",
		"\x1f\x8b\x08":                          "unexpected EOF",
	} {
		_, err := npy.Open(fstest.MapFS{"x.npy": {Data: []byte(content)}}, "x.npy", "x")
		if got := fmt.Sprint(err); !strings.Contains(got, want) || !strings.HasPrefix(got, "npy: read x.npy: ") {
			t.Errorf("%q\ngot  %s\nwant %s", content, got, want)
		}
	}
}
