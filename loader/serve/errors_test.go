package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestABatchThatCannotBeMadeIsAnErrorWithItsSample(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i == 21 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4)))
	for range 2 {
		w := get(s, "0/0-1/5")
		var e wire.Error
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 500 || e.Name != "sample 21" || e.Index == nil || *e.Index != 21 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		if w.Header().Get("ETag") != "" || strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Error("the error may be cached")
		}
	}
	if w := get(s, "0/0-1/6"); w.Code != 200 {
		t.Errorf("the next batch: status %d: %s", w.Code, w.Body)
	}
}

func TestABatchThatLosesAllItsSamplesIsSentWithoutAny(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i/4 == 5 || i/4 == 9 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	for _, k := range []int{5, 4, 6, 5, 9} {
		w := get(s, fmt.Sprintf("0/0-1/%d", k))
		if w.Code != 200 {
			t.Fatalf("batch %d: status %d: %s", k, w.Code, w.Body)
		}
		want := "4"
		if k == 5 || k == 9 {
			want = "0"
		}
		if _, texts := tensors(t, w.Body.Bytes()); texts["samples"] != want {
			t.Errorf("batch %d has %s samples, want %s", k, texts["samples"], want)
		}
	}
}

// The loader delivers no batch at all for a rank whose samples are all lost.
func TestARankThatLosesAllItsSamplesGetsBatchesWithoutAny(t *testing.T) {
	s := newServer(t, &source{n: 40, fails: func(i int) error {
		if i%4 == 1 {
			return fmt.Errorf("no good")
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	for _, path := range []string{"0/1-4/0", "0/1-4/1", "0/1-4/2", "1/1-4/0", "70/1-4/2", "2147483646/1-4/2"} {
		w := get(s, path)
		if w.Code != 200 {
			t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
		}
		want := "4"
		if strings.HasSuffix(path, "/2") {
			want = "2"
		}
		if _, texts := tensors(t, w.Body.Bytes()); texts["samples"] != "0" || texts["dropped"] != want {
			t.Errorf("%s: metadata %v, want no samples, %s dropped", path, texts, want)
		}
	}
}

// Batch 3 has lost all its samples, and batch 4 cannot be read now.
func TestAnErrorTakesThePlaceOfItsOwnBatch(t *testing.T) {
	var broken atomic.Bool
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		switch {
		case i/4 == 3:
			return fmt.Errorf("no good")
		case i/4 == 4 && broken.Load():
			return passes{}
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.Skip(loader.NoLimit)))
	broken.Store(true)
	for number, want := range []int{200, 200, 200, 200, 503} {
		if w := get(s, fmt.Sprintf("1/0-1/%d", number)); w.Code != want {
			t.Errorf("batch %d: status %d, want %d: %s", number, w.Code, want, w.Body)
		}
	}
	broken.Store(false)
	if w := get(s, "1/0-1/4"); w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// TestClientsSeeNoFolderOfTheService: the log has the whole.
func TestClientsSeeNoFolderOfTheService(t *testing.T) {
	missing := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }
	for _, c := range []struct {
		name string // how the names of samples begin
		err  any
		want string
	}{
		{"", missing("/home/user/my photos/a.jpg"), "loader: sample 9 (sample 9), epoch 0, batch 2: open a.jpg: file does not exist"},
		{"", errors.Join(missing("/home/user"), missing("/home/user/b/c")), "open user: file does not exist open c: file does not exist"},
		{"", &os.LinkError{Op: "link", Old: "/home/a b", New: "/home/c d", Err: fs.ErrExist}, "link a b c d: file already exists"},
		{"", missing(`C:\Users\the user\a.jpg`), "open a.jpg: file does not exist"},
		{"", errors.New(`images: "/home/user/a.jpg": no image`), `images: "a.jpg": no image`},
		{"", errors.New("npy:/home/user/a.npy,/home/b.npy (of /home/user/): no array"), "npy:a.npy,b.npy (of user): no array"},
		{"", errors.New(`read \\home\user\a.jpg`), "read a.jpg"},
		{"", errors.New("GET https://store/home/a.jpg: gone/lost, want image/jpeg"), "GET https://store/home/a.jpg: gone/lost, want image/jpeg"},
		{"/home/user/", errors.New("no good"), "loader: sample 9 (9), epoch 0, batch 2: no good"},
		{"cats/", errors.New("no good"), "loader: sample 9 (cats/9), epoch 0, batch 2: no good"},
		{"", "a panic", ": panic: a panic"},
		{"", missing(strings.Repeat("x", 2000)), "…"},
		{"", errors.New("a\x1b[2J\nb"), "a.[2J b"},
	} {
		var log strings.Builder
		s := newServer(t, &source{n: 40, named: c.name, fails: func(i int) error {
			if i != 9 {
				return nil
			}
			if err, ok := c.err.(error); ok {
				return err
			}
			panic(c.err)
		}}, serve.Loader(loader.BatchSize(4)), serve.Logger(slog.New(slog.NewJSONHandler(&log, nil))))
		w := get(s, "0/0-1/2")
		var got wire.Error
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 500 || !strings.HasSuffix(got.Error, c.want) || *got.Index != 9 {
			t.Errorf("status %d, %q, want %q", w.Code, got.Error, c.want)
		}
		if strings.Contains(w.Body.String(), "home") && !strings.Contains(c.want, "home") || strings.Contains(w.Body.String(), ".go") || w.Body.Len() > 2000 {
			t.Errorf("clients see %s", w.Body)
		}
		if _, panics := c.err.(string); panics {
			c.err = "errors_test.go" // in the stack
		}
		if whole, _ := json.Marshal(fmt.Sprint(c.err)); !strings.Contains(log.String(), string(whole[1:len(whole)-1])) {
			t.Errorf("the log has no %s: %s", whole, log.String())
		}
	}
}

type passes struct{}

func (passes) Error() string   { return "the storage does not answer" }
func (passes) Temporary() bool { return true }

func TestAnErrorThatMayPassIsTriedAgain(t *testing.T) {
	var broken atomic.Bool
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		if i >= 60 && broken.Load() {
			return passes{}
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4)))
	broken.Store(true)
	for range 10 {
		if w := get(s, "0/0-1/15"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
	broken.Store(false)
	if w := get(s, "0/0-1/15"); w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	// The loop of the plan's first batch, and another one that begins again after an error.
	if text := request(s, "GET", "/metrics", nil).Body.String(); !strings.Contains(text, "penstock_loops_total 2\n") {
		t.Errorf("more than two loops have memory of their own:\n%s", text)
	}
}

// TestAnObjectThatWasReplacedIsNotReadAgain: the service knows its version from a listing that
// no request repeats.
func TestAnObjectThatWasReplacedIsNotReadAgain(t *testing.T) {
	var reads atomic.Int32
	s := newServer(t, &source{n: 80, fails: func(i int) error {
		if i == 60 {
			reads.Add(1)
			return fmt.Errorf("read: %w", objects.ErrReplaced)
		}
		return nil
	}}, serve.Loader(loader.BatchSize(4), loader.Workers(1))) // one worker does not read as far ahead
	for range 10 {
		if w := get(s, "0/0-1/15"); w.Code != 500 || w.Header().Get("Retry-After") != "" {
			t.Errorf("status %d, want 500: %s", w.Code, w.Body)
		}
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("the object was read %d times, want once", n)
	}
}

// denied is how a store forbids access.
type denied struct{ name string }

func (d denied) Error() string { return "objects: read " + d.name + ": forbidden" }
func (denied) Temporary() bool { return true }
func (denied) Unwrap() error   { return fs.ErrPermission }

// A trainer asks again, for other batches too.
func TestTheLogSaysWhyBatchesCannotBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := newServer(t, &source{n: 80, fails: func(i int) error {
			switch i / 20 {
			case 1:
				return errors.New("no good")
			case 2:
				return fmt.Errorf("read %d.jpg: %w", i, objects.ErrReplaced)
			case 3:
				return denied{fmt.Sprintf("%d.jpg", i)}
			}
			return nil
		}}, serve.Loader(loader.BatchSize(4)), serve.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		for range 2 {
			for range 3 {
				for number := range 20 {
					get(s, fmt.Sprintf("0/0-1/%d", number))
				}
			}
			for level, want := range map[string][]string{
				"WARN":  {"cannot be made now", "status=503", ".jpg: forbidden"},
				"ERROR": {"cannot be made\" status=500", "no good", "until the service is started again", ".jpg: replaced"},
			} {
				for _, part := range want {
					if got := strings.Count(log.String(), part); got != 1 || !strings.Contains(log.String(), "level="+level) {
						t.Errorf("%q comes %d times, want once, with level %s:\n%s", part, got, level, log.String())
					}
				}
			}
			log.Reset()
			time.Sleep(time.Minute)
		}
		s.Close()
		if w := get(s, "0/0-1/15"); w.Code != 503 || log.Len() > 0 {
			t.Errorf("after Close: status %d, the log %s", w.Code, log.String())
		}
	})
}
