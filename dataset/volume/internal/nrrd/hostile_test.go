package nrrd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
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
		{"version 7", "NRRD0007\n" + plain2 + "\nab", `line 1: magic: version "0007"`},
		{"version x", "NRRDx\n", `line 1: magic: version "x"`},
		{"header without end", "NRRD0004\n" + plain2, "nor an empty line"},
		{"unknown field", head(plain2 + "colour: red\n"), `line 6: there is no field "colour"`},
		{"no colon", head(plain2 + "nonsense\n"), `line 6: "nonsense" is neither`},
		{"field twice", head(plain2 + "Type: short\n"), `line 6: field "type" is on line 2 already`},
		{"synonym twice", head("dimension: 1\ncenters: cell\ncenterings: cell\n"), `line 4: field "centers" is on line 3`},
		{"key twice", head(plain2 + "a:=1\na:=2\n"), `line 7: key "a" is on line 6 already`},
		{"no type", head("dimension: 1\nsizes: 2\nencoding: raw\n"), "type is missing"},
		{"no encoding", head("type: uchar\ndimension: 1\nsizes: 2\n"), "encoding is missing"},
		{"no sizes", head("type: uchar\ndimension: 1\nencoding: raw\n"), "sizes are missing"},
		{"no endian", head("type: short\ndimension: 1\nsizes: 2\nencoding: raw\n"), "endian is missing"},
		{"sizes first", head("sizes: 2\ndimension: 1\n"), "line 2: sizes: dimension must come first"},
		{"no axes", head("dimension: 0\n"), "dimension: 0 axes"},
		{"17 axes", head("dimension: 17\n"), "dimension: 17 axes"},
		{"half an axis", head("dimension: 1.5\n"), `dimension: "1.5" is not an integer`},
		{"too few sizes", head("dimension: 2\nsizes: 2\n"), "sizes: 1 values for 2 axes"},
		{"too many sizes", head("dimension: 2\nsizes: 2 2 2\n"), "sizes: 3 values for 2 axes"},
		{"size 0", head("dimension: 2\nsizes: 2 0\n"), "sizes: axis 1: 0 samples"},
		{"negative size", head("dimension: 2\nsizes: -2 -3\n"), "sizes: axis 0: -2 samples"},
		{"size beyond 64 bits", head("dimension: 1\nsizes: 99999999999999999999\n"), "out of range"},
		{"product beyond 64 bits", head("type: uchar\ndimension: 4\nsizes: 65536 65536 65536 65536\nencoding: raw\n"), "more than memory"},
		{"product of 0 modulo 2^64", head("type: uchar\ndimension: 2\nsizes: 4294967296 4294967296\nencoding: raw\n"), datatest.OfInt("more than memory", "want 1 to 2147483647")},
		{"terabytes", head("type: uchar\ndimension: 1\nsizes: 9999999999999\nencoding: raw\n"), datatest.OfInt("end after 0 of 9999999999999", "want 1 to 2147483647")},
		{"terabytes of gzip", head("type: uchar\ndimension: 1\nsizes: 9999999999999\nencoding: gz\n") + zip, datatest.OfInt("end after 2 of 9999999999999", "want 1 to 2147483647")},
		{"unknown type", head("type: long\n"), `type: there is no type "long"`},
		{"unknown encoding", head("encoding: lzma\n"), `encoding: there is no encoding "lzma"`},
		{"unknown endian", head("endian: middle\n"), `endian: there is no byte order "middle"`},
		{"unknown kind", head("dimension: 1\nkinds: thing\n"), `kinds: axis 0: there is no kind "thing"`},
		{"kind of another size", head(plain2 + "kinds: RGB-color\n"), "kinds: RGB-color has size 3"},
		{"unknown center", head("dimension: 1\ncenters: left\n"), `"left" is neither cell nor node`},
		{"unknown space", head("space: outer\n"), `there is no space "outer"`},
		{"space and dimension", head("space: LPS\nspace dimension: 3\n"), "line 3: space dimension: space is on line 2"},
		{"dimension and space", head("space dimension: 3\nspace: LPS\n"), "line 3: space: space dimension is on line 2"},
		{"origin before space", head("space origin: (1,2,3)\n"), "space or space dimension must come first"},
		{"short origin", head("space: LPS\nspace origin: (1,2)\n"), "has 2 coordinates, the world 3"},
		{"origin in part", head("space: LPS\nspace origin: (1,nan,2)\n"), "only partly known"},
		{"infinite origin", head("space: LPS\nspace origin: (1,inf,2)\n"), "coordinate 1: it is infinite"},
		{"open origin", head("space: LPS\nspace origin: (1,2,3\n"), "closing parenthesis"},
		{"too few directions", head("dimension: 2\nspace: LPS\nspace directions: (1,2,3)\n"), "axis 1: a vector"},
		{"too many directions", head("dimension: 1\nspace: LPS\nspace directions: (1,2,3) none\n"), `"none" follows 1 vectors`},
		{"spacing of 0", head("dimension: 1\nspacings: 0\n"), "spacings: axis 0: it is 0"},
		{"spacing against direction", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: raw\nspace dimension: 1\nspacings: 2\nspace directions: (1)\n"), "spacings: 2 on axis 0"},
		{"open label", head("dimension: 1\nlabels: \"a\n"), "closing double quote"},
		{"bare label", head("dimension: 1\nlabels: a\n"), "in double quotes is missing"},
		{"one label too many", head("dimension: 1\nlabels: \"a\" \"b\"\n"), "follows 1 strings"},
		{"wrong number", head(plain2 + "number: 3\n"), "number: 3, but sizes [2] make 2"},
		{"block without size", head("type: block\ndimension: 1\nsizes: 2\nencoding: raw\n"), "block needs a block size"},
		{"block in text", head("type: block\nblock size: 2\ndimension: 1\nsizes: 2\nencoding: ascii\n"), "blocks cannot be text"},
		{"negative line skip", head(plain2 + "line skip: -1\n"), "line skip: -1"},
		{"byte skip of -2", head(plain2 + "byte skip: -2\n"), "byte skip: -2"},
		{"backwards in text", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: hex\nbyte skip: -1\n"), "byte skip: -1 has no meaning"},
		{"backwards beyond the beginning", head(plain2+"byte skip: -1\n") + "a", "byte skip -1: the data have 2 bytes, but only 1"},
		{"skip beyond the end", head(plain2+"byte skip: 9223372036854775807\n") + "ab", datatest.OfInt("byte skip 9223372036854775807: unexpected EOF", "byte skip: 9223372036854775807, want -1 to 2147483647")},
		{"lines beyond the end", head(plain2+"line skip: 9999999999\n") + "a\nb", datatest.OfInt("line skip: line 2 of 9999999999", "line skip: 9999999999, want 0 to 2147483647")},
		{"short", head(plain2) + "a", "byte 59: the data end after 1 of 2"},
		{"gzip short", head("type: uchar\ndimension: 1\nsizes: 3\nencoding: gz\n") + zip, "the data end after 2 of 3"},
		{"gzip cut", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + zip[:len(zip)-1], "unexpected EOF"},
		{"gzip of another sum", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + zip[:len(zip)-8] + "xxxx" + zip[len(zip)-4:], "invalid checksum"},
		{"no gzip", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\n") + "ab", "gzip: unexpected EOF"},
		{"no bzip2", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: bz2\n") + "abcdefgh", "bzip2 data invalid"},
		{"gzip bomb backwards", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\nbyte skip: -1\n") + bomb(), "byte skip -1: more than 1048576 bytes before"},
		{"half a byte", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: hex\n") + "abc", "unexpected EOF"},
		{"no digit", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: hex\n") + "abxg", `'x' is not a hexadecimal digit`},
		{"text too large", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 256", `byte 65: "256" is not a valid uint8: value out of range`},
		{"text negative", head("type: uint16\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 -1", `"-1" is not a valid uint16: value out of range`},
		{"text no integer", head("type: int\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 1.5", `"1.5" is not a valid int32: invalid syntax`},
		{"text no number", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1 x", `"x" is not a valid float32: invalid syntax`},
		{"text too long", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + strings.Repeat("1", 1e6), "more than 512 characters"},
		{"text short", head("type: float\ndimension: 1\nsizes: 2\nencoding: ascii\n") + "1", "the data end after 4 of 8"},
		{"runs cut", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: zrl\n") + "\x00", "unexpected EOF"},
		{"endless comments", "NRRD0004\n" + strings.Repeat("#\n", 1<<19), "dimension and sizes are missing"},
		{"endless keys", "NRRD0004\n" + strings.ReplaceAll(numbered(1<<17), "\n", ":=\n"), "dimension and sizes are missing"},
		{"gzip bomb skipped", head("type: uchar\ndimension: 1\nsizes: 2\nencoding: gz\nbyte skip: 2000000000\n") + bomb(), "byte skip: damaged or hostile: more work than"},
		{"endless list", "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 1 9999999999\nencoding: raw\ndata file: LIST\n" + numbered(1<<19), datatest.OfInt("524288 files of 1 axes, but sizes [1 9999999999] require 9999999999", "want 1 to 2147483647")},
		{"endless line", "NRRD0004\n" + strings.Repeat("x", 17<<20), "line 2: the header has more than 16777216 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, files("a/file.nrrd", c.file), "a/file.nrrd", c.want) })
	}
}

func TestBadDataFilesAreRefusedWithTheirReason(t *testing.T) {
	const three = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 3\nencoding: raw\ndata file: "
	for _, c := range []struct{ name, value, want string }{
		{"missing", "none.raw", "data file a/none.raw: file does not exist"},
		{"nameless", "", "data file: it is empty"},
		{"outside", "../secret", `data file: "../secret" is not in the header's folder`},
		{"outside and in", "x/../../a/0", "is not in the header's folder"},
		{"absolute", "/a/0", "is not in the header's folder"},
		{"a folder", "folder", "data file a/folder: not a file"},
		{"the folder itself", ".", "is not a path"},
		{"short", "0", "data file a/0: byte 1: the data end after 1 of 3 bytes"},
		{"list outside", "LIST\n0\n1\n../../2", "is not in the header's folder"},
		{"list twice by another name", "LIST\n0\n1\n./0", `line 9: data file: "./0" is in the list already`},
		{"list twice", "LIST\n0\n1\n0", `line 9: data file: "0" is in the list already`},
		{"list too long", "LIST\n0\n1\n2\n3", "more files than the 3"},
		{"list too short", "LIST\n0\n1", "2 files of 2 axes, but sizes [1 1 3] require 3"},
		{"list without names", "LIST", "the list is empty"},
		{"list of no axes", "LIST 0\n0", "files of 0 axes"},
		{"list of too many axes", "LIST 4\n0", "files of 4 axes"},
		{"list and a word", "LIST 2 x\n0", "one word too many"},
		{"list of slabs", "LIST 3\n0\n1", "3 slices do not divide into 2 files"},
		{"list missing one", "LIST\n0\n1\n9", "data file a/9: file does not exist"},
		{"list before sizes end", "LIST\n0\n1\n2\n\nextra", "bytes follow the header"},
		{"skiplist without skips", "SKIPLIST\n0\n1\n2", "want a number of bytes and a name"},
		{"skiplist of negative skips", "SKIPLIST\n-2 0\n", "skip of -2 bytes"},
		{"pattern without numbers", "%d", "want the numbers"},
		{"pattern of words", "%d a b c", `"a" is not an integer`},
		{"pattern going nowhere", "%d 0 2 0", "step 0 does not lead"},
		{"pattern going away", "%d 0 2 -1", "step -1 does not lead"},
		{"pattern of many", "%d 0 2000000000 1", "2000000001 files of 2 axes"},
		{"pattern beyond 32 bits", "%d 0 9999999999 1", "not an integer of 32 bits"},
		{"pattern outside", "../%d 0 2 1", "is not in the header's folder"},
		{"pattern missing one", "%d 1 3 1", "data file a/3: file does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := files("a/h.nhdr", three+c.value+"\n", "a/0", "x", "a/1", "y", "a/2", "z", "secret", "xyz", "a/folder/x", "")
			refused(t, fsys, "a/h.nhdr", c.want)
		})
	}
}

func TestLimitIsKeptBeforeAnythingIsRead(t *testing.T) {
	file := "NRRD0004\n" + plain2 + "\nab"
	if _, err := nrrd.Read(files("f", file), "f", 2); err != nil {
		t.Error(err)
	}
	_, err := nrrd.Read(files("f", file), "f", 1)
	if want := "sizes: 2 bytes of data, the limit is 1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// refused reads a file. It must fail with the error want, without the file's name in it, and allocate little memory.
func refused(t *testing.T, fsys fstest.MapFS, name, want string) {
	t.Helper()
	var err error
	hostile.Bounded(t, len(fsys[name].Data), 0, func() { _, err = nrrd.Read(fsys, name, 0) })
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
			m, err := nrrd.Read(files("f", "NRRD0001\ntype: "+c.kind+"\ndimension: 1\nsizes: 2\nencoding: txt\n\n"+values), "f", 0)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(tensorOf(m).Data()), nil
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
	for _, name := range []string{"fields.nrrd", "crlf.nrrd", "zrl.nrrd", "hex.nrrd", "type_int.nrrd", "type_short_int.nrrd"} {
		all, err := os.ReadFile("testdata/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(all) - 1 {
			if _, err := nrrd.Read(files("f", string(all[:n])), "f", 0); err == nil {
				t.Errorf("%s: the first %d of %d bytes are read", name, n, len(all))
			}
		}
	}
}
