package pickle_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/pickle"
)

func read(text string) (any, error) {
	return pickle.Read(strings.NewReader(text), int64(len(text)), new(budget.Budget))
}

func TestReadsWhatPythonWrites(t *testing.T) {
	for text, want := range map[string]any{
		"\x80\x02K\x07.":                                 int64(7),
		"\x80\x02M\x00\x0c.":                             int64(3072),
		"\x80\x02J\xfe\xff\xff\xff.":                     int64(-2),
		"\x80\x02\x8a\x05\x00\x00\x00\x00\x80.":          int64(-1) << 39,
		"\x80\x02\x8a\x00.":                              int64(0),
		"\x80\x02c__builtin__\nbytes\n)R.":               []byte{},
		"\x80\x02G?\xf8\x00\x00\x00\x00\x00\x00.":        1.5,
		"\x80\x02N.":                                     nil,
		"\x80\x02\x88.":                                  true,
		"\x80\x02U\x02ab.":                               []byte("ab"),
		"\x80\x04\x8c\x02\xc3\xa4.":                      "ä",
		"\x80\x04\x95\x01\x00\x00\x00\x00\x00\x00\x00N.": nil,
		"\x80\x02K\x01q\x05K\x02h\x05\x87.":              pickle.Tuple{int64(1), int64(2), int64(1)},
		"\x80\x02(K\x01K\x02t.":                          pickle.Tuple{int64(1), int64(2)},
		"\x80\x02]q\x00(K\x01U\x01ae.":                   &pickle.List{Items: []any{int64(1), []byte("a")}},
		"\x80\x03c_codecs\nencode\nX\x03\x00\x00\x00a\xc3\xbfX\x06\x00\x00\x00latin1\x86R.": []byte("a\xff"),
	} {
		got, err := read(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, %v, want %#v", text, got, err, want)
		}
	}
	got, err := read("\x80\x02}(U\x01aK\x01X\x01\x00\x00\x00bK\x02u.")
	if err != nil || got.(*pickle.Dict).Get("a") != int64(1) || got.(*pickle.Dict).Get("b") != int64(2) || got.(*pickle.Dict).Get("c") != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

const array = "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR(K\x01K\x02K\x03\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|tb\x89U\x06abcdeftb"

func TestReadsArrays(t *testing.T) {
	got, err := read("\x80\x02" + array + ".")
	want := &pickle.Array{Type: "u1", Order: '|', Shape: []int{2, 3}, Data: []byte("abcdef")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// weights is a dictionary of PyTorch's with one tensor, and an attribute.
const weights = "ccollections\nOrderedDict\nq\x00)Rq\x01X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
	"X\x02\x00\x00\x0012X\x03\x00\x00\x00cpuK\x09NtQK\x01K\x02K\x03\x86K\x03K\x01\x86\x89h\x00)RtRs}X\x09\x00\x00\x00_metadatah\x00)Rsb"

func TestReadsTensors(t *testing.T) {
	got, err := read("\x80\x02" + weights + ".")
	if err != nil {
		t.Fatal(err)
	}
	want := &pickle.Tensor{Storage: &pickle.Storage{Type: "FloatStorage", Key: "12", Len: 9}, Offset: 1, Shape: []int64{2, 3}, Strides: []int64{3, 1}}
	n := 0
	for key, v := range got.(*pickle.Dict).All() {
		if n++; key != "w" || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: got %v, want %v", key, v, want)
		}
	}
	if n != 1 {
		t.Errorf("%d keys", n)
	}
}

func TestOnePickleFollowsAnother(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("\x80\x02K\x01.\x80\x02K\x02.rest"), 64<<10)
	for want := range int64(2) {
		if got, err := pickle.Read(r, 100, new(budget.Budget)); err != nil || got != want+1 {
			t.Errorf("got %v, %v, want %d", got, err, want+1)
		}
	}
	if rest, _ := io.ReadAll(r); string(rest) != "rest" {
		t.Errorf("%q is left", rest)
	}
}

func TestNothingIsExecuted(t *testing.T) {
	for text, want := range map[string]string{
		"\x80\x02cos\nsystem\nU\x04trueR.":                       `pickle: byte 2: "os.system" is refused: a pickle can run any program`,
		"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x01x\x85R.": `"posix.system" is refused`,
		"\x80\x02cbuiltins\neval\n.":                             `"builtins.eval" is refused`,
		"\x80\x02(ios\nsystem\n.":                                "opcode 0x69 is not supported",
		"\x80\x02cnumpy\nndarray\n)R.":                           "call of numpy.ndarray with a tuple",
		"\x80\x02cnumpy\nndarray\n)\x81.":                        "opcode 0x81 is not supported",
		"cos\nsystem\n.":                                         "refused",
		"\x80\x02ctorch\nload\n.":                                `"torch.load" is refused`,
		"\x80\x02ctorch._utils\n_rebuild_tensor\n.":              `"torch._utils._rebuild_tensor" is refused`,
		"\x80\x02ctorch\nFloatStorage\n)R.":                      "call of torch.FloatStorage with a tuple",
	} {
		_, err := read(text)
		if got := fmt.Sprint(err); err == nil || !strings.Contains(got, want) {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "byte 0: unexpected EOF",
		"\x80\x00.":                    "byte 0: protocol 0, want 2 to 5",
		"(lp0\n.":                      `byte 1: opcode 'l' is of protocol 0 or 1, want 2 to 5`,
		"\x80\x02.":                    "byte 2: nothing on the stack",
		"\x80\x02K\x01(.":              "byte 5: nothing on the stack",
		"\x80\x02t.":                   "no mark on the stack",
		"\x80\x02K\x01(K\x02e.":        "a number on the stack",
		"\x80\x02}(U\x01au.":           "a key without a value",
		"\x80\x02}K\x01K\x02s.":        "key of a dictionary: a number, want a string",
		"\x80\x02h\x07.":               "the memo has no entry 7",
		"\x80\x02\x8a\x09.":            "a number of 9 bytes, want at most 8",
		"\x80\x02T\xff\xff\xff\x7fab.": "byte 2: 2147483647 bytes are needed, but only 3 are left: unexpected EOF",
		"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff":                                         "18446744073709551615 bytes are needed, but only 0 are left",
		"\x80\x02c" + strings.Repeat("a", 1000):                                                "a name of more than 256 bytes",
		"\x80\x02c_codecs\nencode\nX\x03\x00\x00\x00\xe2\x82\xacX\x06\x00\x00\x00latin1\x86R.": `character '€' is not in latin1`,
		"\x80\x02K\x01Q.":                       "persistent identifier of a number",
		"\x80\x02(K\x01K\x01K\x01K\x01K\x01tQ.": "not a storage of PyTorch's",
		"\x80\x02" + strings.Replace(weights, "K\x09N", "J\xff\xff\xff\xffN", 1) + ".":               "not a storage of PyTorch's",
		"\x80\x02" + strings.Replace(weights, "K\x03K\x01\x86", "K\x03\x85", 1) + ".":                "other arguments than PyTorch's",
		"\x80\x02" + strings.Replace(weights, "K\x03\x86", "J\xff\xff\xff\xff\x86", 1) + ".":         "other arguments than PyTorch's",
		"\x80\x02ccollections\nOrderedDict\n]\x85R.":                                                 "collections.OrderedDict: values at once",
		"\x80\x02" + strings.Replace(array, "abcdef", "abcdefg", 1) + ".":                            "",
		"\x80\x02" + strings.Replace(array, "K\x02K\x03\x86", "K\x02K\x04\x86", 1) + ".":             "6 bytes for [2 4] values of 1 bytes",
		"\x80\x02" + strings.Replace(array, "K\x02K\x03\x86", "J\xff\xff\xff\xffK\x03\x86", 1) + ".": "number 0 is out of range",
		"\x80\x02" + strings.Replace(array, "u1", "O8", 1) + ".":                                     "6 bytes for [2 3] values of 8 bytes",
		"\x80\x02" + strings.Replace(array, "U\x02u1", "U\x01u", 1) + ".":                            `values of type "u"`,
	} {
		_, err := read(text)
		if got := fmt.Sprint(err); err == nil || !strings.Contains(got, want) {
			t.Errorf("%.40q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// laughs are pickles whose opcodes would take more memory or time than their bytes may; for a larger
// part they are shorter.
func laughs(part int) map[string]string {
	long := func(op string, n int) string {
		n /= part
		return op + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) + strings.Repeat("x", n) + "q\x01"
	}
	again := func(s string) string { return strings.Repeat(s, 20_000/part) }
	tuple := "(" + strings.Repeat("K\x01", 50_000/part) + "tq\x01"
	return map[string]string{
		"bytes as types":         "\x80\x02cnumpy\ndtype\nq\x00" + long("B", 50_000) + "](" + again("h\x00h\x01\x85R") + "e.",
		"bytes as keys":          "\x80\x02" + long("B", 1<<20) + "}" + again("h\x01Ns") + ".",
		"bytes as storages":      "\x80\x02" + long("B", 50_000) + "(" + again("(X\x07\x00\x00\x00storagectorch\nFloatStorage\nh\x01X\x03\x00\x00\x00cpuK\x01tQ") + "t.",
		"the same text as bytes": "\x80\x02c_codecs\nencode\nq\x00" + long("X", 50_000) + "X\x06\x00\x00\x00latin1q\x02(" + again("h\x00h\x01h\x02\x86R") + "t.",
		"a long shape":           "\x80\x02" + tuple + "ctorch._utils\n_rebuild_tensor_v2\nq\x02(" + again("h\x02((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00kX\x03\x00\x00\x00cpuK\x01tQK\x00h\x01h\x01tR") + "t.",
		"long shapes of arrays":  "\x80\x02" + tuple + "cnumpy.core.multiarray\n_reconstruct\n)R" + again("(K\x01h\x01cnumpy\ndtype\nX\x02\x00\x00\x00u1\x85R\x89C\x01xtb") + ".",
		"only marks":             strings.Repeat("(", 3<<19/part),
		"only lists":             strings.Repeat("]", 3<<19/part),
		"only dictionaries":      strings.Repeat("}", 3<<19/part),
		"only tuples":            strings.Repeat(")", 3<<19/part),
		"only a memo":            ")" + strings.Repeat("\x94", 3<<19/part),
		"a large memo":           "\x80\x02)r\xff\xff\xff\x7f.",
		"tuples that double":     "\x80\x02)" + strings.Repeat("q\x00h\x00h\x00\x86", 100_000/part) + ".",
		"texts as keys":          "\x80\x02" + long("X", 1<<20) + "}" + again("h\x01Ns") + ".",
	}
}

func TestAPickleTakesWhatItsSizeAllows(t *testing.T) {
	others := map[string]string{ // errors than those of a budget
		"texts as keys":      "<nil>",
		"tuples that double": "<nil>",
		"only marks":         "unexpected EOF", // what each byte adds is within its share
		"only a memo":        "unexpected EOF",
		"a large memo":       "entry 2147483647 of the memo after 8 bytes",
	}
	for name, text := range laughs(1) {
		var err error
		hostile.Bounded(t, len(text), 0, func() { _, err = read(text) })
		want, other := others[name]
		if !other {
			want = budget.ErrExceeded.Error()
		}
		if got := fmt.Sprint(err); len(got) > 300 || !strings.Contains(got, want) {
			t.Errorf("%s: got %.300s, want %s", name, got, want)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestTextsOfManyCopiesAreAnError(t *testing.T) {
	text := "\x80\x02(B\x50\xc3\x00\x00" + strings.Repeat("x", 50_000) + "q\x01](" + strings.Repeat("h\x01", 10_000) + "et."
	v, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	hostile.Bounded(t, len(text), 0, func() {
		b := budget.For(int64(len(text)))
		if _, err := pickle.Texts(v.(pickle.Tuple)[1], &b); !errors.Is(err, budget.ErrExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestUsualPicklesOfManySmallValuesAreRead(t *testing.T) {
	const n = 200_000
	for name, item := range map[string]string{"bytes": "K\x07", "true": "\x88", "tuples": "K\x01K\x02\x86\x94", "texts": "X\x03\x00\x00\x00abc\x94"} {
		text := "\x80\x04]\x94" + strings.Repeat("("+strings.Repeat(item, 1000)+"e", n/1000) + "."
		v, err := read(text)
		if err != nil || len(v.(*pickle.List).Items) != n {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIntegersAreListsOrArrays(t *testing.T) {
	array := func(kind string, order byte, data string, shape ...int) *pickle.Array {
		return &pickle.Array{Type: kind, Order: order, Shape: shape, Data: []byte(data)}
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{&pickle.List{Items: []any{int64(3), int64(-1)}}, "[3 -1] <nil>"},
		{&pickle.List{Items: []any{int64(3), 1.5}}, "[] item 1 is a number, want an integer"},
		{array("i8", '<', "\xfe\xff\xff\xff\xff\xff\xff\xff\x07\x00\x00\x00\x00\x00\x00\x00", 2), "[-2 7] <nil>"},
		{array("i2", '>', "\x01\x02\xff\xff", 2), "[258 -1] <nil>"},
		{array("u1", '|', "\xff\x00", 2), "[255 0] <nil>"},
		{array("u4", '<', "\xff\xff\xff\xff", 1), "[4294967295] <nil>"},
		{array("i8", '<', "", 0), "[] <nil>"},
		{array("f4", '<', "abcd", 1), "[] an array of f4 [1], want integers on one axis"},
		{array("i1", '|', "ab", 1, 2), "[] an array of i1 [1 2], want integers on one axis"},
		{nil, "[] None, want a list of integers"},
	} {
		got, err := pickle.Integers(c.v, new(budget.Budget))
		if text := fmt.Sprint(got, " ", err); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
	}
}

func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02" + array + "."))
	f.Add([]byte("\x80\x02" + weights + "."))
	f.Add([]byte("\x80\x02}q\x00(U\x01a]q\x01(K\x01K\x02eX\x01\x00\x00\x00b" + array + "u."))
	f.Add([]byte("\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94(\x96\x02\x00\x00\x00\x00\x00\x00\x00ab\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02u1\x89\x88\x87R(K\x03\x8c\x01|tbK\x02\x85\x8c\x01CtR."))
	for _, text := range laughs(100) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		var err error
		hostile.Bounded(t, len(data), 0, func() {
			var b budget.Budget
			v, err = pickle.Read(bytes.NewReader(data), int64(len(data)), &b)
			if d, ok := v.(*pickle.Dict); ok {
				pickle.Integers(d.Get("a"), &b)
				pickle.Texts(d.Get("a"), &b)
			}
		})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "pickle: byte ") {
				t.Errorf("error %q does not say where", err)
			}
		}
	})
}
