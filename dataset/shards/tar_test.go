package shards_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// keys are the names of all samples of an archive, with the texts in their column "txt".
func keys(t testing.TB, data []byte) (list []string, err error) {
	t.Helper()
	s := &memoryStore{objects: map[string][]byte{"a.tar": data}}
	x, err := shards.Scan(t.Context(), s, shards.WebDataset(shards.MaxBlockBytes(fuzzLimit)), []string{"a.tar"}, shards.BlockSize(1))
	if err != nil {
		return nil, err
	}
	ds, err := shards.Open(s, x, []shards.Field{shards.Bytes("text", "txt")})
	if err != nil {
		return nil, err
	}
	r, slot := datatest.Open(t, ds), newSlot(ds)
	for i := range ds.Len() {
		text := "-"
		if err := r.Place(t.Context(), i, slot); err == nil {
			text = string(slot.Cell(0).Bytes())
		} else if !strings.Contains(err.Error(), "has no column txt") {
			return nil, err
		}
		list = append(list, strings.TrimPrefix(ds.Name(i), "a.tar/")+"="+text)
	}
	return list, nil
}

// TestFilesAreGroupedAsWebDatasetDoes has the cases of webdataset.tariterators.
func TestFilesAreGroupedAsWebDatasetDoes(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"a.txt a.jpg b.txt", "[a=a.txt b=b.txt]"},
		{"a.txt b.txt a.txt", "[a=a.txt b=b.txt a=a.txt]"},
		{"x/a.txt y/a.txt", "[x/a=x/a.txt y/a=y/a.txt]"},
		{"ab.txt a.txt ab.jpg", "[ab=ab.txt a=a.txt ab=-]"},
		{"x.y/a.b.txt", "[x.y/a=-]"},
		{"a.TXT a.cls", "[a=a.TXT]"},
		{"./a.txt ./b.jpg", "[./a=./a.txt ./b=-]"},
		{"dir/ dir/a.txt", "[dir/a=dir/a.txt]"},
		{"a.txt readme a.jpg", "[a=a.txt]"},
		{".hidden.txt x/.hidden a.txt", "[a=a.txt]"},
		{"__meta__ __m__/b.txt a.txt __m.txt __m__x/c.txt", "[a=a.txt __m=__m.txt __m__x/c=__m__x/c.txt]"},
		{"readme", "[]"},
		{"", "[]"},
		{"a.", "[a=-]"},
		{"a.txt a.txt", `error: shards: scan a.tar: byte 1536: "a.txt": the sample has a second "txt"`},
		{"a.txt a.TXT", `the sample has a second "txt"`},
	} {
		var list []tarFile
		for _, name := range strings.Fields(c.files) {
			data := name
			if strings.HasSuffix(name, "/") {
				data = ""
			}
			list = append(list, tarFile{name, data})
		}
		found, err := keys(t, archive(t, list...))
		got := fmt.Sprint(found)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.files, got, c.want)
		}
	}
}

// TestLinksAndDevicesAreLeftOut has members without data whose headers give a size.
func TestLinksAndDevicesAreLeftOut(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "a.txt", Size: 1, Typeflag: tar.TypeReg},
		{Name: "b.txt", Linkname: "a.txt", Typeflag: tar.TypeSymlink},
		{Name: "c.txt", Linkname: "a.txt", Typeflag: tar.TypeLink},
		{Name: "d.txt", Typeflag: tar.TypeFifo},
		{PAXRecords: map[string]string{"comment": "global", "path": "not this"}, Typeflag: tar.TypeXGlobalHeader},
		{Name: "e.txt", Size: 1, Typeflag: tar.TypeReg, PAXRecords: map[string]string{"comment": strings.Repeat("long", 500)}},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := keys(t, b.Bytes())
	if want := []string{"a=x", "e=x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("samples %q, %v, want %q", got, err, want)
	}
}

// TestArchivesWithoutZerosAtTheEndAreRead cuts them off: both blocks, and one of them.
func TestArchivesWithoutZerosAtTheEndAreRead(t *testing.T) {
	whole := archive(t, tarFile{"a.txt", "1"}, tarFile{"a.cls", "2"}, tarFile{"b.txt", "3"})
	for _, end := range []int{3 * 1024, 3*1024 + 512} {
		got, err := keys(t, whole[:end])
		if want := []string{"a=1", "b=3"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%d of %d bytes: samples %q, %v, want %q", end, len(whole), got, err, want)
		}
	}
}

// rawHeader is a header of an archive with a right checksum.
func rawHeader(name string, flag byte, size string) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[124:136], size)
	h[156] = flag
	copy(h[257:], "ustar\x0000")
	copy(h[148:156], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

func TestHostileArchivesAreErrors(t *testing.T) {
	end := make([]byte, 1024)
	one := archive(t, tarFile{"a.txt", "x"}, tarFile{"b.txt", "y"})
	damaged := bytes.Clone(one)
	damaged[1024] ^= 1
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut within a file":       {one[:700], "byte 512: unexpected EOF"},
		"cut within a header":     {one[:1100], "byte 1100: unexpected EOF"},
		"no archive":              {[]byte(strings.Repeat("not an archive. ", 64)), "byte 512: want the header of a tar file"},
		"nothing":                 {nil, "byte 0: the archive is empty"},
		"a wrong checksum":        {damaged, "byte 1536: want the header of a tar file: its checksum is wrong"},
		"a promise":               {append(rawHeader("a.txt", '0', "77777777777"), end...), "byte 512: unexpected EOF"},
		"a larger promise":        {append(rawHeader("a.txt", '0', "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff"), end...), "want a number of bytes"},
		"a negative size":         {append(rawHeader("a.txt", '0', "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), end...), "want a number of bytes"},
		"a size that is no octal": {append(rawHeader("a.txt", '0', "9"), end...), "want a number of bytes"},
		"a long long name":        {append(rawHeader("a.txt", 'L', "77777777"), end...), "header of 16777215 bytes"},
		"a long name for nothing": {append(rawHeader("a.txt", 'L', "0"), end...), "checksum is wrong"},
		"too many long names":     {bytes.Repeat(rawHeader("a.txt", 'L', "0"), 20), "more than 8 headers"},
		"wrong pax records":       {slices.Concat(rawHeader("a", 'x', "5"), []byte("9 a=b"), make([]byte, 507), end), "want pax records"},
		"a wrong size in pax":     {slices.Concat(rawHeader("a", 'x', "14"), []byte("12 size=-10\n"), make([]byte, 500), end), "want a number of bytes"},
		"a sparse file":           {append(rawHeader("a.txt", 'S', "0"), end...), "a sparse file"},
		"a sparse file of pax":    {slices.Concat(rawHeader("a", 'x', "31"), []byte("25 GNU.sparse.major=1.00\n"), make([]byte, 487), end), "a sparse file"},
		"half a gzip":             {gzipped(one)[:20], "unexpected EOF"},
		"half a zstd":             {zstded(t, one)[:20], "unexpected EOF"},
		"a damaged gzip":          {append(gzipped(one)[:30], gzipped(one)[40:]...), "scan a.tar"},
	} {
		if got, err := keys(t, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, c.want)
		}
	}
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// TestCompressedShardsAreDamagedAsAWhole damages compressed bytes after the scan.
func TestCompressedShardsAreDamagedAsAWhole(t *testing.T) {
	data := gzipped(archive(t, tarFile{"a.txt", "x"}))
	s := &memoryStore{objects: map[string][]byte{"a.tar.gz": data}}
	x := scan(t, s, shards.WebDataset(), 1, "a.tar.gz")
	ds, err := shards.Open(s, x, []shards.Field{shards.Bytes("text", "txt")})
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := datatest.Open(t, ds).Place(t.Context(), 0, newSlot(ds)); err == nil || !strings.Contains(err.Error(), "shards: a.tar.gz, block at byte 0: ") {
		t.Errorf("error %v, want one that names the shard", err)
	}
}

// FuzzTar compares what is found in an archive with package archive/tar.
func FuzzTar(f *testing.F) {
	names, err := filepath.Glob("testdata/webdataset/*.tar")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 8<<10)])
	}
	f.Add(archive(f, tarFile{"a.txt", "x"}, tarFile{strings.Repeat("long", 60) + ".txt", "y"}))
	f.Add(append(rawHeader("a.txt", '0', "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"), make([]byte, 2048)...))
	f.Add(manyZeros(2 << 20))
	f.Add(gzipped(make([]byte, 2<<20)))
	f.Add(zstded(f, bytes.Repeat(rawHeader("a.txt", 'L', "4000000"), 100)))
	f.Add(zstded(f, bytes.Repeat(slices.Concat(rawHeader("a", 'x', "7777777"), make([]byte, 1<<20)), 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		var got []string
		var err error
		hostile.Bounded(t, len(data), unpacked(t, data), func() { got, err = keys(t, data) })
		if err != nil {
			return
		}
		want, err := referenceKeys(data)
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("samples %q, with archive/tar %q", got, want)
		}
	})
}

// unpacked is what reading a shard may take because it is compressed: zstd's window, and a
// few times what the limit of the fuzz tests allows.
func unpacked(t testing.TB, data []byte) int64 {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) && !bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) {
		return 0
	}
	return 2*(8<<20) + 8*fuzzLimit
}

// fuzzLimit is the limit of a block in fuzz tests.
const fuzzLimit = 1 << 20

// referenceKeys is keys with package archive/tar, or an error where that reads otherwise:
// it splits names at NUL, and knows sparse files and global headers.
func referenceKeys(data []byte) (list []string, err error) {
	r := tar.NewReader(bytes.NewReader(data))
	last := ""
	for begun := false; ; {
		h, err := r.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Size > math.MaxInt32 || h.Format == tar.FormatUnknown {
			return nil, errors.New("not comparable")
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		top, _, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || len(top) >= 4 && strings.HasPrefix(top, "__") && strings.HasSuffix(top, "__") {
			continue
		}
		folder, base := "", h.Name
		if i := strings.LastIndexByte(h.Name, '/'); i >= 0 {
			folder, base = h.Name[:i+1], h.Name[i+1:]
		}
		key, column, ok := strings.Cut(base, ".")
		if !ok || key == "" {
			continue
		}
		key = folder + key
		if !begun || key != last {
			list = append(list, strings.TrimPrefix(key, "./")+"=-")
		}
		begun, last = true, key
		if strings.EqualFold(column, "txt") {
			list[len(list)-1] = strings.TrimSuffix(list[len(list)-1], "-") + string(text)
		}
	}
}
