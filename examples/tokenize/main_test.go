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
	for try := 0; ; try++ {
		cmd := exec.Command(os.Args[0])
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Env = append(os.Environ(), "TOKENIZE_FILES="+strings.Join(names, "\n"), "TOKENIZE_OUT="+filepath.Join(folder, "x"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(time.Duration(10+3*try)*time.Millisecond, func() { _ = cmd.Process.Kill() })
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
	t.Logf("killed %d times", kills)
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
	for content, want := range map[string]string{
		"{\"text\": \"a\"}\n{\"txt\": \"b\"}\n": `line 2 of all, in `,
		"{\"text\": 3}\n":                       `no text "text"`,
		"{\"text\"\n":                           "line 1 of all, in ",
	} {
		name := filepath.Join(folder, "x.jsonl")
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		*out, *kind = filepath.Join(t.TempDir(), "x"), "bytes"
		if err := run(t.Context(), []string{name}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	*out = filepath.Join(t.TempDir(), "x")
	if err := run(t.Context(), []string{filepath.Join(folder, "none.jsonl")}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
