package inflate_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	kzlib "github.com/klauspost/compress/zlib"

	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/inflate"
)

// texts are data of several kinds.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	rows := make([]byte, 300_000) // like the filtered rows of a photo
	for i := range rows {
		rows[i] = byte(int(r.NormFloat64() * 6))
	}
	words := make([]byte, 0, 300_000)
	for len(words) < cap(words) {
		words = append(words, "the quick brown fox jumps over a lazy dog, "[r.IntN(20):20+r.IntN(20)]...)
	}
	skewed := make([]byte, 200_000) // has codes of up to 15 bits
	for i := range skewed {
		skewed[i] = byte(r.ExpFloat64() * 12)
	}
	return map[string][]byte{"nothing": nil, "a byte": {7}, "noise": noise, "rows": rows, "words": words, "skewed": skewed,
		"zeros": make([]byte, 1_000_000), "short": []byte("abcabcabcabcabcabc"), "noise again": append(noise[:40_000:40_000], noise[:40_000]...)}
}

// deflated is data at a level of the standard library.
func deflated(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStreamsComeBack(t *testing.T) {
	var r inflate.Reader
	var f inflate.Filler
	for name, want := range texts() {
		for _, level := range []int{0, 1, 6, 9, zlib.HuffmanOnly} {
			stream := deflated(t, want, level)
			for kind, src := range map[string]io.Reader{
				"at once":  bytes.NewReader(stream),
				"bytes":    iotest.OneByteReader(bytes.NewReader(stream)),
				"pieces":   iotest.HalfReader(bytes.NewReader(stream)),
				"with EOF": iotest.DataErrReader(bytes.NewReader(stream)),
			} {
				in := bufio.NewReaderSize(io.MultiReader(src, bytes.NewReader([]byte("rest"))), 1<<12)
				if err := r.ResetZlib(in); err != nil {
					t.Fatal(name, level, kind, err)
				}
				got, err := io.ReadAll(&r)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, level %d, %s: %d bytes, want %d; %v", name, level, kind, len(got), len(want), err)
				}
				if rest, err := io.ReadAll(in); string(rest) != "rest" {
					t.Errorf("%s, level %d, %s: %d bytes are left, %v", name, level, kind, len(rest), err)
				}
			}
			r.ResetRaw(bufio.NewReader(iotest.HalfReader(bytes.NewReader(stream[2 : len(stream)-4]))))
			if got, err := io.ReadAll(&r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, level %d, raw: %d bytes, want %d; %v", name, level, len(got), len(want), err)
			}
			for _, size := range []int{len(want), len(want) / 2, len(want) / 3, min(len(want), 1)} {
				got := make([]byte, size)
				if n, err := f.Zlib(got, stream); err != nil || n != size || !bytes.Equal(got, want[:size]) {
					t.Errorf("%s, level %d: %d of %d bytes at once, %v", name, level, n, size, err)
				}
			}
			if n, err := f.Zlib(make([]byte, len(want)+1), stream); n != len(want) || err != nil {
				t.Errorf("%s, level %d: %d bytes of %d, %v", name, level, n, len(want), err)
			}
		}
	}
}

func TestMembersOfGzipEndWhereTheyEnd(t *testing.T) {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	for _, h := range []gzip.Header{{}, {Name: "a", Comment: "b", Extra: []byte("cde")}} {
		w.Reset(&file)
		w.Header = h
		if _, err := w.Write(texts()["words"]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for rest, want := range map[string]error{"": nil, "more": io.ErrUnexpectedEOF, "something else": inflate.ErrGzip} {
		z, err := inflate.NewGzip(bufio.NewReader(bytes.NewReader(append(file.Bytes()[:file.Len():file.Len()], rest...))))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != want || len(got) != 2*len(texts()["words"]) {
			t.Errorf("then %q: %d bytes, %v", rest, len(got), err)
		}
		if want == nil {
			want = io.EOF
		}
		if n, err := z.Read(make([]byte, 1)); n > 0 || err != want {
			t.Errorf("then %q: read again: %d bytes, %v", rest, n, err)
		}
	}
	src := bufio.NewReader(&file)
	var r inflate.Reader
	for range 2 {
		if err := r.ResetGzip(src); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(&r); err != nil || !bytes.Equal(got, texts()["words"]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if err := r.ResetGzip(src); err != io.EOF {
		t.Errorf("after the last member: %v", err)
	}
}

var errSame = errors.New("the same data")

func TestCutAndChangedStreamsAreErrors(t *testing.T) {
	want := texts()["rows"][:3000]
	stream := deflated(t, want, 6)
	var r inflate.Reader
	read := func(b []byte) error {
		if err := r.ResetZlib(bufio.NewReader(bytes.NewReader(b))); err != nil {
			return err
		}
		got, err := io.ReadAll(&r)
		if err == nil && bytes.Equal(got, want) {
			return errSame
		}
		return err
	}
	for n := range len(stream) {
		if err := read(stream[:n]); err != io.ErrUnexpectedEOF && (n > 0 || err != io.EOF) {
			t.Errorf("%d bytes of %d: %v", n, len(stream), err)
		}
	}
	for i := range 8 * len(stream) {
		stream[i/8] ^= 1 << (i % 8)
		if err := read(stream); err == nil {
			t.Errorf("bit %d changed: other data and no error", i)
		}
		stream[i/8] ^= 1 << (i % 8)
	}
	var corrupt inflate.Corrupt
	if _, err := new(inflate.Filler).Zlib(make([]byte, 9), []byte{0x78, 0x9c, 2, 0x18, 0, 0}); !errors.As(err, &corrupt) || corrupt != 2 {
		t.Errorf("the second block is of no type: %v", err)
	}
	stream[len(stream)-1] ^= 1
	if err := read(stream); !errors.Is(err, inflate.ErrChecksum) {
		t.Errorf("checksum changed: %v", err)
	}
}

func TestReaderAllocatesNothingAfterItsFirstStream(t *testing.T) {
	stream := deflated(t, texts()["rows"], 6)
	var src bytes.Reader
	in := bufio.NewReader(&src)
	var r inflate.Reader
	row := make([]byte, 999)
	if n := testing.AllocsPerRun(5, func() {
		src.Reset(stream)
		in.Reset(&src)
		if err := r.ResetZlib(in); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = r.Read(row)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzEqual compares with the standard library: the same bytes, and an error for the same streams.
func FuzzEqual(f *testing.F) {
	for _, data := range texts() {
		for _, level := range []int{0, 1, 9} {
			f.Add(deflated(f, data[:min(len(data), 2000)], level)[2:])
		}
	}
	f.Add([]byte{5, 0xe0, 0x81, 0x08, 0, 0, 0, 0, 0x20, 0x7f, 0xeb, 0x0b, 0, 0}) // codes of one symbol
	var r inflate.Reader
	var filler inflate.Filler
	f.Fuzz(func(t *testing.T, raw []byte) {
		const most = 1 << 22
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), most))
		stream := append([]byte{0x78, 0x9c}, raw...)
		var got []byte
		var err error
		hostile.Bounded(t, len(raw), 8*int64(len(want)), func() { // ReadAll grows its memory
			if err = r.ResetZlib(bufio.NewReaderSize(bytes.NewReader(stream), 16+len(raw)/3)); err != nil {
				t.Fatal(err)
			}
			got, err = io.ReadAll(io.LimitReader(&r, most))
		})
		if (wantErr == nil) && (err != nil && err != io.ErrUnexpectedEOF && !errors.Is(err, inflate.ErrChecksum)) || wantErr != nil && err == nil {
			t.Fatalf("got %v, the standard library %v", err, wantErr)
		}
		if wantErr == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(got, want[:min(len(want), len(got))]) {
			t.Fatalf("%d bytes, the standard library has %d, and others", len(got), len(want))
		}
		all := make([]byte, len(want))
		if n, err := filler.Zlib(all, stream); wantErr == nil && (err != nil || n != len(want)) || !bytes.Equal(all[:n], want[:n]) {
			t.Fatalf("%d bytes at once, %v, the standard library has %d", n, err, len(want))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"rows", "words", "skewed", "zeros"} {
		data := texts()[name]
		stream := deflated(b, data, 6)
		row := make([]byte, 2000)
		run := func(kind string, reset func(*bufio.Reader) io.Reader) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				var src bytes.Reader
				in := bufio.NewReaderSize(&src, 1<<14)
				for b.Loop() {
					src.Reset(stream)
					in.Reset(&src)
					z := reset(in)
					for {
						if _, err := io.ReadFull(z, row); err != nil {
							break
						}
					}
				}
			})
		}
		var r inflate.Reader
		run("penstock", func(in *bufio.Reader) io.Reader {
			if err := r.ResetZlib(in); err != nil {
				b.Fatal(err)
			}
			return &r
		})
		z, err := kzlib.NewReader(bytes.NewReader(stream))
		if err != nil {
			b.Fatal(err)
		}
		run("klauspost", func(in *bufio.Reader) io.Reader {
			if err := z.(kzlib.Resetter).Reset(in, nil); err != nil {
				b.Fatal(err)
			}
			return z
		})
		s, err := zlib.NewReader(bytes.NewReader(stream))
		if err != nil {
			b.Fatal(err)
		}
		run("standard", func(in *bufio.Reader) io.Reader {
			if err := s.(zlib.Resetter).Reset(in, nil); err != nil {
				b.Fatal(err)
			}
			return s
		})
	}
}
