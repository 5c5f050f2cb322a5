package nrrd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/testenv"
)

const plain2 = "type: uchar\ndimension: 1\nsizes: 2\nencoding: raw\n"

// files makes a file system of names and contents.
func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func TestBadFilesAreRefusedWithTheirReason(t *testing.T) {
	testenv.OneGoroutine(t)
	head := func(lines string) string { return "NRRD0004\n" + lines + "\n" }
	zip := zipped("ab")
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "does not begin with NRRD"},
		{"another format", "P5 1 1 255 a", "does not begin with NRRD"},
		{"version 7", "NRRD0007\n" + plain2 + "\nab", `line 1: version "0007" is not one of 0001 to 0006`},
		{"version x", "NRRDx\n", `line 1: version "x" is not one of 0001 to 0006`},
		{"header without end", "NRRD0004\n" + plain2, "nor an empty line"},
		{"unknown field", head(plain2 + "colour: red\n"), `line 6: "colour: red" is neither a field nor a key and its value`},
		{"no colon", head(plain2 + "nonsense\n"), `line 6: "nonsense" is neither`},
		{"field twice", head(plain2 + "Type: short\n"), `line 6: "type" is on line 2 already`},
		{"synonym twice", head("dimension: 1\ncenters: cell\ncenterings: cell\n"), `line 4: "centers" is on line 3 already`},
		{"key twice", head(plain2 + "a:=1\na:=2\n"), `line 7: "key a" is on line 6 already`},
		{"no type", head("dimension: 1\nsizes: 2\nencoding: raw\n"), "type is missing"},
		{"no encoding", head("type: uchar\ndimension: 1\nsizes: 2\n"), "encoding is missing"},
		{"no sizes", head("type: uchar\ndimension: 1\nencoding: raw\n"), "sizes are missing"},
		{"no endian", head("type: short\ndimension: 1\nsizes: 2\nencoding: raw\n"), "endian is missing"},
		{"sizes first", head("sizes: 2\ndimension: 1\n"), "line 2: sizes: dimension must come first"},
		{"no axes", head("dimension: 0\n"), `line 2: dimension: value 0: "0", want an integer from 1 to 16`},
		{"17 axes", head("dimension: 17\n"), `line 2: dimension: value 0: "17", want an integer from 1 to 16`},
		{"half an axis", head("dimension: 1.5\n"), `line 2: dimension: value 0: "1.5", want an integer from 1 to 16`},
		{"too few sizes", head("dimension: 2\nsizes: 2\n"), "line 3: sizes: 1 values, want 2"},
		{"too many sizes", head("dimension: 2\nsizes: 2 2 2\n"), "line 3: sizes: 3 values, want 2"},
		{"size 0", head("dimension: 2\nsizes: 2 0\n"), `line 3: sizes: value 1: "0", want an integer from 1 to `},
		{"negative size", head("dimension: 2\nsizes: -2 -3\n"), `line 3: sizes: value 0: "-2", want an integer from 1 to `},
		{"size beyond 64 bits", head("dimension: 1\nsizes: 99999999999999999999\n"), `line 3: sizes: value 0: "99999999999999999999", want an integer from 1 to `},
		{"product beyond 64 bits", head("type: uchar\ndimension: 4\nsizes: 65536 65536 65536 65536\nencoding: raw\n"), "more than memory"},
		{"product of 0 modulo 2^64", head("type: uchar\ndimension: 2\nsizes: 4294967296 4294967296\nencoding: raw\n"), datatest.OfInt("more than memory", "want an integer from 1 to 2147483647")},
		{"terabytes", head("type: uchar\ndimension: 1\nsizes: 9999999999999\nencoding: raw\n"), datatest.OfInt("end after 0 of 9999999999999", "want an integer from 1 to 2147483647")},
		{"terabytes of gzip", head("type: uchar\ndimension: 1\nsizes: 9999999999999\nencoding: gz\n") + zip, datatest.OfInt("end after 2 of 9999999999999", "want an integer from 1 to 2147483647")},
		{"unknown type", head("type: long\n"), `line 2: type: "long" is not read`},
		{"unknown encoding", head("encoding: lzma\n"), `line 2: encoding: "lzma" is not read: want raw, ascii, gzip or bzip2`},
		{"unknown endian", head("endian: middle\n"), `line 2: endian: "middle" is neither little nor big`},
		{"unknown space", head("space: outer\n"), `line 2: space: "outer" is not one, or there is a space dimension, too`},
		{"space and dimension", head("space: LPS\nspace dimension: 3\n"), "line 3: space dimension: there is a space, too"},
		{"dimension and space", head("space dimension: 3\nspace: LPS\n"), `line 3: space: "LPS" is not one, or there is a space dimension, too`},
		{"origin before space", head("space origin: (1,2,3)\n"), "space or space dimension must come first"},
		{"short origin", head("space: LPS\nspace origin: (1,2)\n"), "line 3: space origin: vector 0: 2 values, want 3"},
		{"origin in part", head("space: LPS\nspace origin: (1,nan,2)\n"), "only partly known"},
		{"infinite origin", head("space: LPS\nspace origin: (1,inf,2)\n"), `line 3: space origin: vector 0: value 1: "inf" is not a finite number`},
		{"open origin", head("space: LPS\nspace origin: (1,2,3\n"), `line 3: space origin: vector 0: "(1,2,3" is neither (x,y,…) nor none`},
		{"too few directions", head("dimension: 2\nspace: LPS\nspace directions: (1,2,3)\n"), `line 4: space directions: vector 1: "" is neither (x,y,…) nor none`},
		{"too many directions", head("dimension: 1\nspace: LPS\nspace directions: (1,2,3) none\n"), `"none" follows 1 vectors`},
		{"spacing of 0", head("dimension: 1\nspacings: 0\n"), "line 3: spacings: one is 0"},
		{"spacing against direction", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: raw\nspace dimension: 1\nspacings: 2\nspace directions: (1)\n"), "spacings: 2 on axis 0"},
		{"negative line skip", head(plain2 + "line skip: -1\n"), `line 6: line skip: value 0: "-1", want an integer from 0 to `},
		{"byte skip of -2", head(plain2 + "byte skip: -2\n"), `line 6: byte skip: value 0: "-2", want an integer from -1 to `},
		{"backwards in text", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: hex\nbyte skip: -1\n"), `line 5: encoding: "hex" is not read: want raw, ascii, gzip or bzip2`},
		{"backwards beyond the beginning", head(plain2+"byte skip: -1\n") + "a", "data: the last 2 bytes of a file that has 1"},
		{"skip beyond the end", head(plain2+"byte skip: 9223372036854775807\n") + "ab", datatest.OfInt("data: byte 89: 9223372036854775807 bytes before the values: unexpected EOF", `byte skip: value 0: "9223372036854775807", want an integer from -1 to 2147483647`)},
		{"lines beyond the end", head(plain2+"line skip: 9999999999\n") + "a\nb", datatest.OfInt("data: byte 83: line 2 of 9999999999 before the values: unexpected EOF", `line skip: value 0: "9999999999", want an integer from 0 to 2147483647`)},
		{"short", head(plain2) + "a", "byte 59: the data end after 1 of 2"},
		{"gzip short", head("type: uchar\ndimension: 1\nsizes: 3\nencoding: gz\n") + zip, "the data end after 2 of 3"},
		{"gzip cut", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + zip[:len(zip)-1], "unexpected EOF"},
		{"gzip of another sum", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + zip[:len(zip)-8] + "xxxx" + zip[len(zip)-4:], "invalid checksum"},
		{"no gzip", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + "ab", "data: byte 59: decompress: zlib: invalid header"},
		{"no bzip2", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: bz2\n") + "abcdefgh", "bzip2 data invalid"},
		{"text too large", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 256", `byte 65: "256" is not a valid uint8: value out of range`},
		{"text negative", head("type: uint16\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 -1", `"-1" is not a valid uint16: value out of range`},
		{"text no integer", head("type: int\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 1.5", `"1.5" is not a valid int32: invalid syntax`},
		{"text no number", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 x", `"x" is not a valid float32: invalid syntax`},
		{"text too long", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + strings.Repeat("1", 1e6), "more than 512 characters"},
		{"text short", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1", "the data end after 4 of 8"},
		{"endless comments", "NRRD0004\n" + strings.Repeat("#\n", 1<<19), "dimension and sizes are missing"},
		{"endless keys", "NRRD0004\n" + strings.ReplaceAll(numbered(1<<17), "\n", ":=\n"), "line 124951: damaged or hostile: more memory than 1068547 bytes of input may take"},
		{"gzip bomb skipped", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\nbyte skip: 2000000000\n") + bomb(), "data: byte 89: decompress: damaged or hostile: more work than 16411 bytes of input may take"},
		{"endless line", "NRRD0004\n" + strings.Repeat("x", 17<<20), "line 2: the header has more than 16777216 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, files("a/file.nrrd", c.file), "a/file.nrrd", c.want) })
	}
}

func TestBadDataFilesAreRefusedWithTheirReason(t *testing.T) {
	const three = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 3\nencoding: raw\ndata file: "
	for _, c := range []struct{ name, value, want string }{
		{"missing", "none.raw", "data file a/none.raw: file does not exist"},
		{"nameless", "", `line 6: data file: "" is not a path`},
		{"outside", "../secret", `data file: "../secret" is not in the header's folder`},
		{"outside and in", "x/../../a/0", "is not in the header's folder"},
		{"absolute", "/a/0", "is not in the header's folder"},
		{"list", "LIST\n0\n1\n2", "several data files are not read: want one"},
		{"pattern", "%d 0 2 1", "several data files are not read: want one"},
		{"a folder", "folder", "data file a/folder: not a file"},
		{"the folder itself", ".", "is not a path"},
		{"short", "0", "data file a/0: byte 1: the data end after 1 of 3 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := files("a/h.nhdr", three+c.value+"\n", "a/0", "x", "a/1", "y", "a/2", "z", "secret", "xyz", "a/folder/x", "")
			refused(t, fsys, "a/h.nhdr", c.want)
		})
	}
}

func TestLimitIsKeptBeforeAnythingIsRead(t *testing.T) {
	file := "NRRD0004\n" + plain2 + "\nab"
	if _, _, err := read(files("f", file), "f", 2); err != nil {
		t.Error(err)
	}
	_, _, err := read(files("f", file), "f", 1)
	if want := "2 bytes of values, the limit is 1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// refused reads a file. It must fail with the error want, without the file's name in it, and allocate little memory.
func refused(t *testing.T, fsys fstest.MapFS, name, want string) {
	t.Helper()
	var err error
	hostile.Bounded(t, len(fsys[name].Data), 0, func() { _, _, err = read(fsys, name, 0) })
	if err == nil {
		t.Fatal("no error")
	}
	if got := err.Error(); strings.Contains(got, name) || !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant … %s, without %s, which the caller names", got, want, name)
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// numbered is n different lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

// bomb is 16 MiB of zeros, compressed by gzip.
func bomb() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 16 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	return b.String()
}

func TestTextOfEveryIntegerKeepsItsEnds(t *testing.T) {
	for _, c := range []struct{ kind, least, most string }{
		{"int8", "-128", "127"}, {"uint8", "0", "255"},
		{"int16", "-32768", "32767"}, {"uint16", "0", "65535"},
		{"int32", "-2147483648", "2147483647"}, {"uint32", "-0", "4294967295"},
		{"int64", "-9223372036854775808", "9223372036854775807"}, {"uint64", "0", "18446744073709551615"},
	} {
		read := func(values string) (string, error) {
			h, data, err := read(files("f", "NRRD0001\ntype: "+c.kind+"\ndimension: 1\nsizes: 2\nencoding: txt\n\n"+values), "f", 0)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(dataset.NewTensor(h.Dtype, h.Sizes, data).Data()), nil
		}
		want := "[" + strings.TrimPrefix(c.least+" ", "-0")
		if c.least == "-0" {
			want = "[0 "
		}
		for _, values := range []string{c.least + "\n+" + c.most, c.least + "\n" + c.most + "\n"} {
			if got, err := read(values); err != nil || got != want+c.most+"]" {
				t.Errorf("%s: got %s, %v, want %s%s]", c.kind, got, err, want, c.most)
			}
		}
		for _, beyond := range []string{c.most + "0", next(c.most), "-" + next(strings.TrimPrefix(c.least, "-")), "+", "-", "0x1", "1_0"} {
			for _, end := range []string{"", "\n"} { // with a line break the number is complete in the buffer
				if got, err := read("0 " + beyond + end); err == nil {
					t.Errorf("%s: %s is read as %s", c.kind, beyond, got)
				}
			}
		}
	}
}

// next is a decimal number plus 1.
func next(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] <= '9' {
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}

func TestDataOfRealFilesMayNotBeCut(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of reads")
	}
	for _, name := range []string{"fields.nrrd", "crlf.nrrd", "type_int.nrrd", "type_short_int.nrrd"} {
		all, err := os.ReadFile("testdata/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(all) - 1 {
			if _, _, err := read(files("f", string(all[:n])), "f", 0); err == nil {
				t.Errorf("%s: the first %d of %d bytes are read", name, n, len(all))
			}
		}
	}
}
