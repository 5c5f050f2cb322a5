package pickle_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/pickle"
)

func read(text string) (any, error) { return pickle.Read(strings.NewReader(text), int64(len(text))) }

func TestReadsWhatPythonWrites(t *testing.T) {
	for text, want := range map[string]any{
		"\x80\x02K\x07.":                                 int64(7),
		"\x80\x02M\x00\x0c.":                             int64(3072),
		"\x80\x02J\xfe\xff\xff\xff.":                     int64(-2),
		"\x80\x02\x8a\x05\x00\x00\x00\x00\x80.":          int64(-1) << 39,
		"\x80\x02\x8a\x00.":                              int64(0),
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
		if got, err := pickle.Read(r, 100); err != nil || got != want+1 {
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
		"(lp0\n.":                      "byte 1: opcode 0x6c is not supported",
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

func TestMemoryIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	laughs := "\x80\x02c_codecs\nencode\nq\x00X\x00\x00\x20\x00" + long + "q\x01X\x06\x00\x00\x00latin1q\x02\x86R" + strings.Repeat("h\x00h\x01h\x02\x86R", 1000) + "."
	for name, text := range map[string]string{
		"the same text a thousand times": laughs,
		"only marks":                     strings.Repeat("(", 3<<19),
		"only lists":                     strings.Repeat("]", 3<<19),
		"only dictionaries":              strings.Repeat("}", 3<<19),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(text)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s is read", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
}

func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02" + array + "."))
	f.Add([]byte("\x80\x02" + weights + "."))
	f.Add([]byte("\x80\x02}q\x00(U\x01a]q\x01(K\x01K\x02eX\x01\x00\x00\x00b" + array + "u."))
	f.Add([]byte("\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94(\x96\x02\x00\x00\x00\x00\x00\x00\x00ab\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02u1\x89\x88\x87R(K\x03\x8c\x01|tbK\x02\x85\x8c\x01CtR."))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pickle.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "pickle: byte ") {
				t.Errorf("error %q does not say where", err)
			}
			return
		}
		if d, ok := v.(*pickle.Dict); ok {
			pickle.Integers(d.Get("a"))
			pickle.Texts(d.Get("a"))
		}
	})
}
