package csv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/csv"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

func readCSV(text string, fields []csv.Column, options ...csv.Option) (*csv.Table, error) {
	return csv.Open(fstest.MapFS{"t.csv": {Data: []byte(text)}}, "t.csv", fields, options...)
}

func mustCSV(t testing.TB, text string, fields []csv.Column, options ...csv.Option) *csv.Table {
	t.Helper()
	table, err := readCSV(text, fields, options...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestCSVReadsEveryField(t *testing.T) {
	text := "b,i8,i64,u16,f32,f64,text\n" +
		"true,-128,9223372036854775807,65535,1e-3, 2.5 ,\"a,\nb\"\"\"\n" +
		"0,127,-9223372036854775808, 0 ,inf,-NaN?,\n"
	text = strings.Replace(text, "-NaN?", "0x1p-2", 1)
	got := mustCSV(t, text, []csv.Column{
		csv.Text("text", "text"),
		csv.Scalar[bool]("b", "b"), csv.Scalar[int8]("i8", "i8"), csv.Scalar[int64]("i64", "i64"),
		csv.Scalar[int]("int", "i8"), csv.Scalar[uint16]("u16", "u16"), csv.Scalar[uint]("uint", "u16"),
		csv.Scalar[float32]("f32", "f32"), csv.Vector[float64]("v", "f64", "f32", "i8"), csv.Vector[float32]("w", "i8"),
	})
	if got, want := got.Spec().String(), "text uint8 (n), b bool (), i8 int8 (), i64 int64 (), int int (), u16 uint16 (), uint uint (), f32 float32 (), v float64 (3), w float32 (1)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i, want := range []map[string]any{
		{"text": []byte("a,\nb\""), "b": true, "i8": int8(-128), "i64": int64(math.MaxInt64), "int": -128, "u16": uint16(65535), "uint": uint(65535), "f32": float32(1e-3), "v": []float64{2.5, 1e-3, -128}},
		{"text": []byte(nil), "b": false, "i8": int8(127), "i64": int64(math.MinInt64), "int": 127, "u16": uint16(0), "uint": uint(0), "f32": float32(math.Inf(1)), "v": []float64{.25, math.Inf(1), 127}},
	} {
		r, err := got.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(got.Spec()...)
		dataset.Grow[uint8](slot, 0, 100)
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		if text := dataset.Row[uint8](slot, 0); !bytes.Equal(text, want["text"].([]byte)) {
			t.Errorf("text %q, want %q", text, want["text"])
		}
		have := map[string]any{
			"b": dataset.Row[bool](slot, 1)[0], "i8": dataset.Row[int8](slot, 2)[0], "i64": dataset.Row[int64](slot, 3)[0],
			"int": dataset.Row[int](slot, 4)[0], "u16": dataset.Row[uint16](slot, 5)[0], "uint": dataset.Row[uint](slot, 6)[0],
			"f32": dataset.Row[float32](slot, 7)[0], "v": dataset.Row[float64](slot, 8),
		}
		for name, v := range have {
			if fmt.Sprint(v) != fmt.Sprint(want[name]) {
				t.Errorf("row %d, %s: %v, want %v", i, name, v, want[name])
			}
		}
	}
	if got.Name(1) != "t.csv, line 4" || got.Name(2) != "" {
		t.Errorf("names %q and %q", got.Name(1), got.Name(2))
	}
}

func TestCategoriesAreSortedUnlessGiven(t *testing.T) {
	const text = "x,y\nb,1\n\xc3\xa4,2\na,3\nb ,4\n"
	labels := func(table *csv.Table) (got []int64) {
		for i := range table.Len() {
			got = append(got, dataset.ValuesOf[int64](datatest.Sample(t, table, i)["label"])[0])
		}
		return got
	}
	found := mustCSV(t, text, []csv.Column{csv.Category("label", "x")})
	if got, want := found.Classes("label"), []string{"a", "b", "ä"}; !slices.Equal(got, want) {
		t.Errorf("classes %q, want %q", got, want)
	}
	if got, want := labels(found), []int64{1, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	given := mustCSV(t, text, []csv.Column{csv.Category("label", "x", "c", "b", "ä", "a")})
	if got, want := labels(given), []int64{1, 2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	if got := given.Classes("other"); got != nil {
		t.Errorf("classes of no field: %q", got)
	}
}

func TestMissingValues(t *testing.T) {
	const text = "a,b,c\n1,x,p\n,y,\nNA,,q\n4,x, NA \n"
	fields := []csv.Column{csv.Scalar[float32]("a", "a"), csv.Text("c", "c")}
	for _, c := range []struct {
		options []csv.Option
		want    string
	}{
		{nil, "csv: read t.csv: line 3, column \"a\" (field \"a\"): missing value"},
		{[]csv.Option{csv.DropMissing()}, `csv: read t.csv: line 4, column "a" (field "a"): "NA" as float32: invalid syntax`},
		{[]csv.Option{csv.DropMissing(), csv.Missing("NA")}, "1 p"},
		{[]csv.Option{csv.FillMissing(-1), csv.Missing("NA")}, `csv: read t.csv: line 5, column "c" (field "c"): missing value`},
		{[]csv.Option{csv.FillMissing(-1), csv.Missing("-", " NA\t")}, `csv: read t.csv: line 5, column "c" (field "c"): missing value`},
		{[]csv.Option{csv.FillMissing(-1), csv.DropMissing()}, "csv: DropMissing and FillMissing: want at most one of them"},
	} {
		table, err := readCSV(text, fields, c.options...)
		got := fmt.Sprint(err)
		if err == nil {
			var rows []string
			for i := range table.Len() {
				s := datatest.Sample(t, table, i)
				rows = append(rows, fmt.Sprintf("%v %s", s["a"].Data(), s["c"].Data()))
			}
			got = strings.Join(rows, ", ")
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	filled := mustCSV(t, text, []csv.Column{csv.Vector[float64]("a", "a")}, csv.FillMissing(-1), csv.Missing("NA"))
	if got, want := datatest.Bytes(t, filled, "a"), datatest.Bytes(t, datatest.Tensors(t, dataset.Named("a", []float64{1, -1, -1, 4})), "a"); !bytes.Equal(got, want) {
		t.Errorf("filled % x, want % x", got, want)
	}
}

func TestCSVSaysWhatIsWrong(t *testing.T) {
	a := []csv.Column{csv.Scalar[int8]("x", "a")}
	for _, c := range []struct {
		text    string
		fields  []csv.Column
		options []csv.Option
		want    string
	}{
		{"", a, nil, "csv: read t.csv: the file is empty"},
		{"a,b\n1,2\n3\n", a, nil, "csv: read t.csv: record on line 3: wrong number of fields"},
		{"a,b\n1,\"2\n3,4\n", a, nil, "csv: read t.csv: record on line 2; parse error on line 3, column 5: extraneous or missing \" in quoted-field"},
		{"a,b\n1,2\"\n", a, nil, "csv: read t.csv: parse error on line 2, column 4: bare \" in non-quoted-field"},
		{"b,c\n1,2\n", a, nil, "csv: read t.csv: field \"x\": no column \"a\" among 2: \"b\", \"c\""},
		{"a,b, a\n1,2,3\n", a, nil, "csv: read t.csv: field \"x\": several columns are named \"a\""},
		{"a\n1\n128\n", a, nil, "csv: read t.csv: line 3, column \"a\" (field \"x\"): \"128\" as int8: value out of range"},
		{"b,a\n\"1\n2\",3\n4,1.5\n", a, nil, "csv: read t.csv: line 4, column \"a\" (field \"x\"): \"1.5\" as int8: invalid syntax"},
		{"a\n" + strings.Repeat("9", 100), a, nil, "\"" + strings.Repeat("9", 40) + "…\" as int8: value out of range"},
		{"a\n1e39\n", []csv.Column{csv.Scalar[float32]("x", "a")}, nil, "\"1e39\" as float32: value out of range"},
		{"a\nyes\n", []csv.Column{csv.Scalar[bool]("x", "a")}, nil, "\"yes\" as bool: invalid syntax"},
		{"a\nc\n", []csv.Column{csv.Category("x", "a", "d", "e")}, nil, "line 2, column \"a\" (field \"x\"): class \"c\", want one of \"d\", \"e\""},
		{"a\n1\n", []csv.Column{csv.Category("x", "a", "d", "d")}, nil, "csv: field \"x\": class \"d\" twice"},
		{"a\n1\n", []csv.Column{csv.Scalar[complex64]("x", "a")}, nil, "csv: field \"x\": values of complex64: want bool, an integer, float32 or float64"},
		{"a\n1\n", []csv.Column{csv.Scalar[dataset.F16]("x", "a")}, nil, "csv: field \"x\": values of float16: want bool, an integer, float32 or float64"},
		{"a\n1\n", []csv.Column{csv.Vector[int]("x")}, nil, "csv: field \"x\": no columns"},
		{"a\n1\n", nil, nil, "dataset: spec: no fields"},
		{"a\n1\n", append(a, a...), nil, "dataset: spec: two fields are named \"x\""},
		{"a\n1\n2\n", a, []csv.Option{csv.MaxBytes(17)}, "csv: read t.csv: line 3: 18 bytes of values so far, more than MaxBytes(17)"},
		{"a\n1\n\"" + strings.Repeat("x\n", 10000), a, []csv.Option{csv.MaxBytes(100)}, "csv: read t.csv: after line 2: a row of more than 100 bytes"},
		{"a\n1\n" + strings.Repeat("x", 16<<20+8192), a, nil, "csv: read t.csv: after line 2: a row of more than 16777216 bytes"},
		{"a" + strings.Repeat(",", 1<<15), a, nil, "csv: read t.csv: after line 0: a row of 20479 delimiters \",\": damaged or hostile: more memory than 32769 bytes of input may take"},
		{"b,a,c\r1,2,3\r4,5,6\r", a, nil, "csv: read t.csv: line 1: a carriage return in \"c\\r1\": want lines to end in \\n or \\r\\n"},
		{"a,a,a\n1,2,3\n", a, nil, "csv: read t.csv: field \"x\": several columns are named \"a\""},
		{"a\n1\n", a, []csv.Option{csv.Delimiter('"'), csv.Comment(',')}, "csv: Delimiter('\"'): want another character"},
		{"a\n1\n", a, []csv.Option{csv.Comment(',')}, "csv: Comment(','): want another character"},
		{string(datatest.Gzip([]byte("a\n1\n"))[:20]), a, nil, "csv: read t.csv: after line 2: unexpected EOF"},
	} {
		_, err := readCSV(c.text, c.fields, c.options...)
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
			t.Errorf("%q\ngot  %s\nwant %s", c.text[:min(len(c.text), 40)], got, c.want)
		}
	}
}

func TestCSVReadsWhatSpreadsheetsWrite(t *testing.T) {
	for name, text := range map[string]string{
		"a byte order mark and CRLF": "\xef\xbb\xbfa,b\r\n1,2\r\n3,4",
		"blank lines":                "a,b\n\n1,2\n\n\n3,4\n",
		"gzip":                       string(datatest.Gzip([]byte("a,b\n1,2\n3,4\n"))),
		"quoted":                     "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
	} {
		table := mustCSV(t, text, []csv.Column{csv.Scalar[int32]("x", "a")})
		want := datatest.Tensors(t, dataset.Named("x", []int32{1, 3}))
		datatest.Same(t, table, want)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestCSVReadsWhatPrintfWrites(t *testing.T) {
	table := mustCSV(t, "a\n-nan\nNaN\n+NAN\n-inf\n1e-3\n0x1p-2\n", []csv.Column{csv.Scalar[float64]("x", "a")})
	var got []string
	for i := range table.Len() {
		got = append(got, fmt.Sprint(datatest.Sample(t, table, i)["x"].Data()))
	}
	if want := []string{"NaN", "NaN", "NaN", "-Inf", "0.001", "0.25"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := readCSV("a\n.nan\n", []csv.Column{csv.Scalar[float32]("x", "a")}); err == nil {
		t.Error(".nan is a number")
	}
}

func TestTablesPlaceWithoutAllocation(t *testing.T) {
	table := mustCSV(t, "a,b\n1,text\n2,more text\n", []csv.Column{csv.Scalar[float32]("x", "a"), csv.Text("y", "b")})
	r, err := table.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slot := dataset.NewSlot(table.Spec()...)
	dataset.Grow[uint8](slot, 1, 100)
	i := 0
	if got := allocs.PerRun(0, 100, func() {
		i++
		if err := r.Place(t.Context(), i%2, slot); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations per sample, want 0", got)
	}
	if err := r.Place(t.Context(), 2, slot); err == nil {
		t.Error("sample 2 of 2 was placed")
	}
}

func TestManyColumnsTakeMemoryInProportionToTheFile(t *testing.T) {
	header := func(n int, name string) string { return strings.Repeat(name+",", n) + "a\n" }
	for _, c := range []struct {
		what, text string
		read       bool
	}{
		{"short names", header(1<<20, ""), false},
		{"names of a letter", header(1<<20, "x"), false},
		{"few columns", header(10_900, "") + strings.Repeat(",", 10_900) + "1\n", true},
		{"names, with numbers below", header(60_000, "gene") + strings.Repeat(strings.Repeat("0,", 60_000)+"1\n", 2), true},
		{"numbers that have no names", strings.Repeat(strings.Repeat("0,", 60_000)+"1\n", 4), true},
	} {
		hostile.Bounded(t, len(c.text), 0, func() {
			field, options := csv.Text("x", "a"), []csv.Option(nil)
			if c.text[0] == '0' {
				field, options = csv.Text("x", "60000"), []csv.Option{csv.NoHeader()}
			}
			if _, err := readCSV(c.text, []csv.Column{field}, options...); (err == nil) != c.read || err != nil && !errors.Is(err, budget.ErrExceeded) {
				t.Errorf("%s: %v", c.what, err)
			}
		})
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b,c\n1,2,x\n3,4,y\n", ',', false)
	f.Add("1;2;x\n3;NA;\"y\n\"\n", ';', true)
	f.Fuzz(func(t *testing.T, text string, comma rune, noHeader bool) {
		names := []string{"a", "b", "c"}
		options := []csv.Option{csv.Delimiter(comma), csv.Missing("NA"), csv.FillMissing(0), csv.MaxBytes(1 << 20)}
		if noHeader {
			names, options = []string{"0", "1", "2"}, append(options, csv.NoHeader())
		}
		var table *csv.Table
		var err error
		const granted = 8 << 20 // MaxBytes, with the smaller memory that grew to it
		hostile.Bounded(t, len(text), granted, func() {
			table, err = readCSV(text, []csv.Column{
				csv.Vector[float32]("x", names[0], names[1]), csv.Category("y", names[2]), csv.Text("z", names[2]), csv.Scalar[int16]("w", names[0]),
			}, options...)
		})
		if err != nil {
			return
		}
		classes := int64(len(table.Classes("y")))
		for i := range table.Len() {
			s := datatest.Sample(t, table, i)
			if y := dataset.ValuesOf[int64](s["y"])[0]; y < 0 || y >= classes {
				t.Errorf("class %d of %d", y, classes)
			}
		}
	})
}

func TestPipesAreNotOpened(t *testing.T) {
	_, err := csv.Open(datatest.PipeFS{T: t}, "a", []csv.Column{csv.Text("x", "a")})
	if got, want := fmt.Sprint(err), "csv: read a: not a file"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// pandas makes floats of whole numbers in a column with a gap.
func TestIntegersMayHaveAPointAndZeros(t *testing.T) {
	const text = "i,u\n1.0,255.\n,\n-3.00,0.0\n9007199254740993.0,7\n"
	table := mustCSV(t, text, []csv.Column{csv.Scalar[int64]("i", "i"), csv.Scalar[uint8]("u", "u")}, csv.DropMissing())
	want := datatest.Tensors(t,
		dataset.Named("i", []int64{1, -3, 9007199254740993}), dataset.Named("u", []uint8{255, 0, 7}))
	datatest.Same(t, table, want)
	for _, bad := range []string{"1.5", "1.05", ".0", "-.0", "1.0.0", "1.0e1", "256.0"} {
		_, err := readCSV("u\n"+bad+"\n", []csv.Column{csv.Scalar[uint8]("u", "u")})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q as uint8", bad)) {
			t.Errorf("%s: got error %v", bad, err)
		}
	}
}

func TestOnlyDigitsOfBoolsHaveAPoint(t *testing.T) {
	if _, err := readCSV("b\n1.0\n0.0\n", []csv.Column{csv.Scalar[bool]("b", "b")}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"true.0", "f.00", "2.0", "1.5"} {
		_, err := readCSV("b\n"+bad+"\n", []csv.Column{csv.Scalar[bool]("b", "b")})
		if got, want := fmt.Sprint(err), fmt.Sprintf("%q as bool", bad); !strings.Contains(got, want) {
			t.Errorf("%s: got error %s, want %s", bad, got, want)
		}
	}
}

func TestLineBreaksWithinQuotesAreNewlines(t *testing.T) {
	table := mustCSV(t, "a\r\n\"x\r\ny\"\r\n", []csv.Column{csv.Text("a", "a")})
	if got, want := string(dataset.ValuesOf[uint8](datatest.Sample(t, table, 0)["a"])), "x\ny"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
