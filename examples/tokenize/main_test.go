package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
)

// TestMain is the program itself if the test has started it.
func TestMain(m *testing.M) {
	if names := os.Getenv("TOKENIZE_FILES"); names != "" {
		*out, *kind = os.Getenv("TOKENIZE_OUT"), "bytes"
		if err := run(context.Background(), strings.Split(names, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// texts writes the same lines into a plain file, one of gzip and one of zstd.
func texts(t *testing.T, n int) (names, want []string) {
	t.Helper()
	folder := t.TempDir()
	for k, name := range []string{"a.jsonl", "b.jsonl.gz", "c.jsonl.zst"} {
		var lines, file bytes.Buffer
		for i := range n {
			text := strings.Repeat(fmt.Sprintf("é%d,%d ", k, i), i%40)
			fmt.Fprintf(&lines, "{\"n\": %d, \"text\": %q}\n", i, text)
			if text != "" {
				want = append(want, text)
			}
		}
		switch k {
		case 0:
			file = lines
		case 1:
			z := gzip.NewWriter(&file)
			if _, err := z.Write(lines.Bytes()); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
		case 2:
			z, err := zstd.NewWriter(&file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := z.Write(lines.Bytes()); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
		}
		names = append(names, filepath.Join(folder, name))
		if err := os.WriteFile(names[k], file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return names, want
}

func TestAKilledRunGoesOn(t *testing.T) {
	names, want := texts(t, 3000)
	folder := t.TempDir()
	kills := 0
	for limit := time.Millisecond; ; limit += limit / 5 {
		cmd := exec.Command(os.Args[0])
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Env = append(os.Environ(), "TOKENIZE_FILES="+strings.Join(names, "\n"), "TOKENIZE_OUT="+filepath.Join(folder, "x"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		killer.Stop()
		if err == nil {
			break
		}
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Exited() {
			t.Fatalf("%v: %s", err, stderr.Bytes())
		}
		kills++
	}
	if kills == 0 {
		t.Fatal("no run was killed")
	}
	f, err := tokens.Open(os.DirFS(folder), "x.idx")
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != len(want) {
		t.Fatalf("%d texts, want %d", f.Len(), len(want))
	}
	for i, text := range want {
		s, err := dataset.At(t.Context(), f, i)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		ids := dataset.ValuesOf[int32](s["tokens"])
		for _, id := range ids[:len(ids)-1] {
			got = append(got, byte(id))
		}
		if string(got) != text || ids[len(ids)-1] != 256 {
			t.Fatalf("text %d: got %q, want %q", i, got, text)
		}
	}
}

// A run whose context ends early is not finished, and does not wait for ever.
func TestACancelledRunIsNotFinished(t *testing.T) {
	names, want := texts(t, 3000)
	*kind = "bytes"
	for limit := time.Millisecond; ; limit *= 2 {
		folder := t.TempDir()
		*out = filepath.Join(folder, "x")
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		err := run(ctx, names)
		cancel()
		f, openErr := tokens.Open(os.DirFS(folder), "x.idx")
		switch {
		case err == nil:
			if openErr != nil || f.Len() != len(want) {
				t.Fatalf("after %v: %v, %d texts, want %d", limit, openErr, f.Len(), len(want))
			}
			return
		case !errors.Is(err, context.DeadlineExceeded) || !errors.Is(openErr, os.ErrNotExist):
			t.Fatalf("after %v: %v; %v", limit, err, openErr)
		}
	}
}

// The column and the files are those of the tests of package parquet. Row i has {"n": i, "ż": true}.
func TestParquetIsReadBesideJSONL(t *testing.T) {
	folder := t.TempDir()
	lines := filepath.Join(folder, "x.jsonl")
	if err := os.WriteFile(lines, []byte("{\"text\": \"first\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	*out, *kind = filepath.Join(folder, "x"), "bytes"
	if err := run(t.Context(), []string{lines, "../../dataset/shards/parquet/testdata/types.parquet"}); err != nil {
		t.Fatal(err)
	}
	f, err := tokens.Open(os.DirFS(folder), "x.idx")
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != 41 {
		t.Fatalf("%d texts, want 41", f.Len())
	}
	for i := range f.Len() {
		s, err := dataset.At(t.Context(), f, i)
		if err != nil {
			t.Fatal(err)
		}
		want := "first"
		if i > 0 {
			want = fmt.Sprintf(`{"n": %d, "ż": true}`, i-1)
		}
		if got := dataset.ValuesOf[int32](s["tokens"]); !slices.Equal(got, rawBytes{}.Encode(nil, []byte(want))) {
			t.Errorf("text %d has the tokens %v, want those of %s", i, got, want)
		}
	}
}

func TestFilesThatHaveLostLinesAreNotContinued(t *testing.T) {
	folder := t.TempDir()
	names := []string{filepath.Join(folder, "x.jsonl")}
	if err := os.WriteFile(names[0], []byte("{\"text\": \"a\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	*out, *kind = filepath.Join(folder, "x"), "bytes"
	w, err := tokens.Create(t.Context(), *out, dataset.Uint16, fmt.Sprint(*kind, *field, names))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(2, []int32{'a', 256}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err, want := run(t.Context(), names), "the files have 1 lines, and 2 were done before: want the same files"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The tokens are those of tiktoken.get_encoding("gpt2").encode("Hello world").
func TestGPT2sTokens(t *testing.T) {
	*kind = "gpt2"
	e, err := encoder()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(e.Encode(nil, []byte("Hello world"))), "[15496 995 50256]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	folder := t.TempDir()
	before := filepath.Join(folder, "before.jsonl")
	if err := os.WriteFile(before, []byte("{\"text\": \"\"}\n\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		"{\"text\": \"a\"}\n{\"txt\": \"b\"}\n": `x.jsonl: line 2: no text "text"`,
		"{\"text\": 3}\n":                       `x.jsonl: line 1: no text "text"`,
		"{\"text\"\n":                           "x.jsonl: line 1: ",
		strings.Repeat("\n", 300) + "\"":        "x.jsonl: line 301: ",
		"\n\n" + strings.Repeat(" ", 65<<20):    "x.jsonl: after line 2: bufio.Scanner: token too long",
	} {
		name := filepath.Join(folder, "x.jsonl")
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		*out, *kind = filepath.Join(t.TempDir(), "x"), "bytes"
		if err := run(t.Context(), []string{before, name}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	*out, *field = filepath.Join(t.TempDir(), "x"), "sometimes"
	defer func() { *field = "text" }()
	const numbers = "../../dataset/shards/parquet/testdata/types.parquet"
	if err := run(t.Context(), []string{numbers}); err == nil || !strings.Contains(err.Error(), numbers+": row 1: ") {
		t.Errorf("numbers and nulls: %v", err)
	}
	*out = filepath.Join(t.TempDir(), "x")
	if err := run(t.Context(), []string{filepath.Join(folder, "none.jsonl")}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
