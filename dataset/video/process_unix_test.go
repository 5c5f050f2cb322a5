//go:build unix

package video_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/video"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// scripted is a dataset of a file, whose ffmpeg is a script of the shell. The index says that it has two frames of 2×1 pixels.
func scripted(t *testing.T, script string, options ...video.Option) *video.Dataset {
	t.Helper()
	bin, dir, path := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "index")
	for name, text := range map[string]string{"ffmpeg": script, "ffprobe": "exit 1"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "a.mp4")
	if err := os.WriteFile(file, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Penstock": "an index of videos", "Version": 1, "Videos": []map[string]any{{
		"Name": "a.mp4", "Size": info.Size(), "Time": info.ModTime().UnixNano(), "Width": 2, "Height": 1, "Num": 1, "Den": 25, "Pts": []int{0, 1}, "Keys": []int{0}, "End": 2,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	ds, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, 2), append(options, video.NoClasses(), video.Index(path))...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

const twoFrames = `printf 'P6\n2 1\n255\nabcdefP6\n2 1\n255\nghijkl'`

func TestFailuresOfFFmpegNameTheFile(t *testing.T) {
	for script, want := range map[string]string{
		twoFrames: "",
		`echo out of order >&2; echo really >&2; exit 7`: "ffmpeg: exit status 7: out of order; really",
		`kill -9 $$`:                                         "signal: killed",
		`printf 'P6\n2 1\n255\nabc'; kill -9 $$`:             "signal: killed",
		`printf 'P6\n2 1\n255\nabc'`:                         "unexpected EOF",
		`printf 'P6\n2 1\n255\nabcdef'`:                      "fewer frames than packets say",
		`printf 'P6\n2 2\n255\nabcdefabcdef'; cat /dev/zero`: `a frame begins with "P6\n2 2\n255\n"`,
		twoFrames + `; cat /dev/zero`:                        "more than 2 frames",
		`cat /dev/zero`:                                      "a frame begins with",
		twoFrames + `; exit 1`:                               "exit status 1",
		`while :; do echo a line of an error that has no end; done | head -c 99999 >&2; exit 1`: "exit status 1",
	} {
		ds := scripted(t, script)
		s, err := dataset.At(t.Context(), ds, 0)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", script, err)
		case want == "":
			if pix := dataset.ValuesOf[uint8](s["image"]); !strings.HasSuffix(string(pix), "abcdefP6\n2 1\n255\nghijkl") {
				t.Errorf("%q", pix)
			}
		case err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "video: a.mp4: "):
			t.Errorf("%s: error %v, want %q", script, err, want)
		case len(err.Error()) > 4<<10:
			t.Errorf("%s: an error of %d bytes", script, len(err.Error()))
		}
	}
}

// TestPacketsAreBounded: a small file may say that it has any number of packets, also of those that are not shown.
func TestPacketsAreBounded(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.mp4"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, flags := range []string{"K__", "KD_", "_D_"} {
		for name, script := range map[string]string{"ffmpeg": "", "ffprobe": "yes 'packet|pts=0|duration=1|flags=" + flags + "' | head -n 99999"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, 2), video.NoClasses())
		if want := "video: a.mp4: ffprobe: more packets than the file's 7 bytes"; err == nil || err.Error() != want {
			t.Errorf("flags %s: error %v, want %q", flags, err, want)
		}
	}
}

// partly opens videos a.mp4 and b.mp4 below dir with an ffprobe that reads only those whose name matches a pattern of the shell.
func partly(t *testing.T, ctx context.Context, dir, only string, options ...video.Option) (*video.Dataset, error) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{"ffmpeg": twoFrames, "ffprobe": `case "$*" in
*/` + only + `.mp4) echo 'packet|pts=0|duration=1|flags=K__'; echo 'packet|pts=1|duration=1|flags=___'; echo 'stream|width=2|height=1|time_base=1/25';;
*) exit 3;;
esac`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.mp4", "b.mp4"} {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if err := os.WriteFile(file, []byte("content"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return video.Open(ctx, dir, video.ClipsAtRegularIndices(2, 2), append(options, video.NoClasses())...)
}

// TestAnUnreadableVideoIsAnErrorOfItsClips: the others are read, and a loader that skips samples goes on.
func TestAnUnreadableVideoIsAnErrorOfItsClips(t *testing.T) {
	ds, err := partly(t, t.Context(), t.TempDir(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if ds.Len() != 4 {
		t.Fatalf("%d clips, want 2 of each video", ds.Len())
	}
	const want = "video: a.mp4: ffprobe: exit status 3"
	if _, err := dataset.At(t.Context(), ds, 1); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a.mp4, clip 1") {
		t.Errorf("error %v, want %q of clip 1", err, want)
	}
	l := loadertest.New(t, ds, loader.BatchSize(4), loader.Skip(2))
	n := 0
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n += batch.Len()
	}
	if n != 2 || l.Stats().Failures[0].Error() == "" || !strings.Contains(l.Stats().Failures[0].Error(), want) {
		t.Errorf("%d clips, failures %v", n, l.Stats().Failures)
	}
	if _, err := partly(t, t.Context(), t.TempDir(), "none"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "b.mp4: ffprobe") {
		t.Errorf("error %v, want that of both videos", err)
	}
}

// TestClipsOfABatchAreOneProcess: if it fails, each has its own, so that the others are there. Large ones have their own at once.
func TestClipsOfABatchAreOneProcess(t *testing.T) {
	for name, c := range map[string]struct {
		width     int
		processes int
		failures  string
	}{
		"together": {2, 1, ""},
		"one bad":  {2, 1 + 5, "video: c.mp4: ffmpeg: exit status 3: no c"},
		"large":    {4096, 5, ""},
	} {
		bin, dir, calls := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "calls")
		bad := "nothing"
		if c.failures != "" {
			bad = "c.mp4"
		}
		scripts := map[string]string{
			"ffprobe": fmt.Sprintf("echo 'packet|pts=0|duration=1|flags=K__'; echo 'packet|pts=1|duration=1|flags=___'; echo 'stream|width=%d|height=%d|time_base=1/25'", c.width, c.width/2),
			"ffmpeg": fmt.Sprintf(`echo >>'%s'
case "$*" in *%s*) echo no c >&2; exit 3;; esac
for a; do
	case $a in pipe:*)
		for k in 1 2; do printf 'P6\n%d %d\n255\n'; head -c %d /dev/zero; done >/dev/fd/${a#pipe:};;
	esac
done`, calls, bad, c.width, c.width/2, 3*c.width*c.width/2),
		}
		for name, text := range scripts {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a.mp4", "b.mp4", "c.mp4", "d.mp4", "e.mp4"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("content"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		ds, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, 2), video.NoClasses())
		if err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(5), loader.Skip(1))
		n := 0
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += batch.Len()
		}
		failures := l.Stats().Failures
		if want := 5 - min(1, len(c.failures)); n != want || len(failures) != 5-want || len(failures) > 0 && !strings.Contains(failures[0].Error(), c.failures) {
			t.Errorf("%s: %d clips, want %d; failures %v", name, n, want, failures)
		}
		if got := numbers(calls); got != c.processes {
			t.Errorf("%s: %d processes, want %d", name, got, c.processes)
		}
	}
}

// TestTheIndexIsKeptAfterAnError: one video that cannot be read does not make the next Open read all others again.
func TestTheIndexIsKeptAfterAnError(t *testing.T) {
	dir, index := t.TempDir(), video.Index(filepath.Join(t.TempDir(), "index"))
	readable := func(ds *video.Dataset) (names string) {
		for i := range 2 {
			if _, err := dataset.At(t.Context(), ds, 2*i); err == nil {
				names += ds.Name(2 * i)[:1]
			}
		}
		return names
	}
	for _, c := range []struct{ only, want string }{{"a", "a"}, {"b", "ab"}, {"none", "ab"}} {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := partly(t, cancelled, dir, "[ab]", index); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that of the context", err)
		}
		ds, err := partly(t, t.Context(), dir, c.only, index)
		if err != nil {
			t.Fatal(err)
		}
		if got := readable(ds); got != c.want {
			t.Errorf("with %s alone, %q can be read, want %q", c.only, got, c.want)
		}
	}
}

// TestAHungFFmpegIsEnded: neither the process nor what it has started, nor a goroutine, is left.
func TestAHungFFmpegIsEnded(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	for name, c := range map[string]struct {
		script string
		option video.Option
		cancel bool
		want   error
		text   string
	}{
		"cancelled":        {"sleep 1000 & echo $! >PIDS; echo $$ >>PIDS; wait", video.Option{}, true, context.Canceled, "context canceled"},
		"too slow":         {"sleep 1000 & echo $! >PIDS; echo $$ >>PIDS; wait", video.Timeout(300 * time.Millisecond), false, nil, "it has not ended within 300ms (see Timeout)"},
		"too slow at last": {"sleep 1000 >&- & echo $! >PIDS; echo $$ >>PIDS; " + twoFrames + "; exec >&-; wait", video.Timeout(300 * time.Millisecond), false, nil, "it has not ended within 300ms"},
		"in the middle":    {"sleep 1000 & echo $! >PIDS; echo $$ >>PIDS; printf 'P6\\n2 1\\n255\\nabc'; wait", video.Option{}, true, context.Canceled, "context canceled"},
	} {
		pids := filepath.Join(t.TempDir(), "pids")
		ds := scripted(t, strings.ReplaceAll(c.script, "PIDS", "'"+pids+"'"), c.option)
		ctx, cancel := context.WithCancel(t.Context())
		if c.cancel {
			go func() {
				for numbers(pids) < 2 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		_, err := dataset.At(ctx, ds, 0)
		cancel()
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), "video: a.mp4: ffmpeg: "+c.text) {
			t.Errorf("%s: error %v", name, err)
		}
		datatest.Ended(t, pids)
	}
	datatest.Goroutines(t, goroutines)
}

// numbers is how many lines a file has.
func numbers(file string) int {
	text, _ := os.ReadFile(file)
	return strings.Count(string(text), "\n")
}
