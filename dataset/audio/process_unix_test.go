//go:build unix

package audio_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/datatest"
)

// scripted is a dataset of a file, whose ffmpeg and ffprobe are scripts of the shell. A large file is one of more than 1 MiB.
func scripted(t *testing.T, decode, probe string, large bool, options ...audio.Option) dataset.Dataset {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{"ffmpeg": decode, "ffprobe": probe} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	content := []byte("ID3 and more")
	if large {
		content = append(content, make([]byte, 1<<20)...)
	}
	files, err := audio.Folder(os.DirFS(on(t, map[string][]byte{"a/x.mp3": content})))
	if err != nil {
		t.Fatal(err)
	}
	return waveforms(t, files, append(options, audio.FFmpeg())...)
}

// header is the beginning of a WAV file of float32, as ffmpeg writes it.
const header = `printf 'RIFF\377\377\377\377WAVEfmt \020\000\000\000\003\000\001\000\100\037\000\000\000\175\000\000\004\000\040\000data\377\377\377\377'`

// two is the packets of a file of two frames.
const two = `echo 'packet|duration=1|'; echo 'packet|duration=1|'; echo 'stream|codec_name=mp3|sample_rate=8000|channels=1|time_base=1/8000'`

func TestFailuresOfFFmpegNameTheFile(t *testing.T) {
	for _, c := range []struct {
		decode, probe string
		large         bool
		want          string
	}{
		{header + `; printf '\000\000\200\077\000\000\000\300'`, "exit 1", false, ""},
		{`echo out of order >&2; echo really >&2; exit 7`, "", false, "ffmpeg: exit status 7: out of order; really"},
		{header + `; kill -9 $$`, "", false, "ffmpeg: signal: killed"},
		{"printf RIFF", "", false, "what ffmpeg wrote: file ended at byte 4"},
		{"", "", false, "what ffmpeg wrote: file ended at byte 0"},
		{header + "; cat /dev/zero | head -c 3000000000", "", false, "more than 536870911 values in a file of 12 bytes"},
		{`while :; do echo a line of an error that has no end; done | head -c 99999 >&2; exit 1`, "", false, "exit status 1: "},
		{`printf '\000\000\200\077\000\000\000\300'`, two, true, ""},
		{"", "echo not here >&2; exit 1", true, "ffprobe: exit status 1: not here"},
		{"", "", true, "ffprobe: there is no sound in it"},
		{"", "echo 'stream|codec_name=mp3|sample_rate=0|channels=1|time_base=1/8000'", true, "ffprobe: one channel at 0 Hz"},
		{"", "yes 'packet|duration=1|' | head -n 2000000", true, "ffprobe: more packets than the file's 1048588 bytes"},
		{`printf '\000\000\200\077'`, two, true, "ffmpeg: file ended after 1 of 2 frames: unexpected EOF"},
		{`printf '\000\000\200\077\000\000\000\300'; cat /dev/zero`, two, true, "ffmpeg: it has more than the 2 frames that its packets say"},
		{`printf '\000\000\200\077'; echo damaged >&2; exit 1`, two, true, "ffmpeg: exit status 1: damaged"},
	} {
		if testing.Short() && strings.Contains(c.decode, "3000000000") {
			continue
		}
		ds := scripted(t, c.decode, c.probe, c.large)
		s, err := dataset.At(t.Context(), ds, 0)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.decode, err)
		case c.want == "":
			if x := fmt.Sprint(s["waveform"].Data(), s["rate"].Data()); x != "[1 -2] 8000" {
				t.Errorf("%s: got %s", c.decode, x)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "dataset: sample 0 (a/x.mp3): audio: MP3: "):
			t.Errorf("%s: error %v, want %q", c.decode, err, c.want)
		case len(err.Error()) > 4<<10:
			t.Errorf("%s: an error of %d bytes", c.decode, len(err.Error()))
		}
	}
}

// TestAHungFFmpegIsEnded: neither the process nor what it has started, nor a goroutine, is left.
func TestAHungFFmpegIsEnded(t *testing.T) {
	const hang = "sleep 1000 & echo $! >PIDS; echo $$ >>PIDS; wait"
	goroutines := runtime.NumGoroutine()
	const short, enough = 300 * time.Millisecond, 3 * time.Second // enough for the program before the one that hangs, on a busy machine too
	for name, c := range map[string]struct {
		decode, probe string
		large         bool
		limit         time.Duration // or 0: cancelled when it hangs
		want          string
	}{
		"cancelled":             {hang, "", false, 0, "ffmpeg: context canceled"},
		"too slow":              {hang, "", false, short, "ffmpeg: it has not ended within 300ms (see Timeout)"},
		"cancelled packets":     {"", hang, true, 0, "ffprobe: context canceled"},
		"packets are too slow":  {"", hang, true, short, "ffprobe: it has not ended within 300ms (see Timeout)"},
		"cancelled in the part": {`printf '\000\000\200\077'; ` + hang, two, true, 0, "ffmpeg: context canceled"},
		"a part is too slow":    {`printf '\000\000\200\077'; ` + hang, two, true, enough, "ffmpeg: it has not ended within 3s (see Timeout)"},
		"it counts too slowly":  {hang, "echo 'stream|codec_name=mp3|sample_rate=8000|channels=1|time_base=1/8000'", true, enough, "ffmpeg: it has not ended within 3s (see Timeout)"},
	} {
		cancelled := c.limit == 0
		pids := filepath.Join(t.TempDir(), "pids")
		here := func(script string) string { return strings.ReplaceAll(script, "PIDS", "'"+pids+"'") }
		limit := audio.Timeout(c.limit)
		if cancelled {
			limit = audio.Option{}
		}
		ds := scripted(t, here(c.decode), here(c.probe), c.large, limit)
		ctx, cancel := context.WithCancel(t.Context())
		if cancelled {
			go func() {
				for text := []byte(nil); strings.Count(string(text), "\n") < 2; text, _ = os.ReadFile(pids) {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		_, err := dataset.At(ctx, ds, 0)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "(a/x.mp3): audio: MP3: "+c.want) || errors.Is(err, context.Canceled) != cancelled {
			t.Errorf("%s: error %v", name, err)
		}
		datatest.Ended(t, pids)
	}
	datatest.Goroutines(t, goroutines)
}

// TestTheLengthOfALargeFileIsFoundOnce: for as long as the file has the same size, and is what it was.
func TestTheLengthOfALargeFileIsFoundOnce(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	probes := func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "\n")
	}
	frames := filepath.Join(t.TempDir(), "frames")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(frames, "01234567")
	ds := scripted(t, "cat '"+frames+"'", "echo probed >>'"+log+"'; "+two, true)
	var r []dataset.Reader
	for range 2 {
		r = append(r, datatest.Open(t, ds))
	}
	slot := dataset.NewSlot(ds.Spec()...)
	place := func(reader, want int) error {
		t.Helper()
		err := r[reader].Place(t.Context(), 0, slot)
		if got := probes(); got != want {
			t.Errorf("ffprobe has run %d times, want %d", got, want)
		}
		return err
	}
	for _, reader := range []int{0, 1, 0} {
		if err := place(reader, 1); err != nil {
			t.Fatal(err)
		}
	}
	write(frames, "0123") // another file of the same size
	if err := place(1, 1); err == nil || !strings.Contains(err.Error(), "file ended after 1 of 2 frames") {
		t.Error(err)
	}
	write(frames, "01234567")
	if err := place(0, 2); err != nil {
		t.Error(err)
	}
	if err := place(1, 2); err != nil {
		t.Error(err)
	}
}

// TestTheLengthOfASmallFileWithManyValuesIsFoundOnce: after that one process decodes what a sample has.
func TestTheLengthOfASmallFileWithManyValuesIsFoundOnce(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	const frames = 17 << 18 // of 4 bytes each
	decode := fmt.Sprintf(`echo "$*" >>'%s'; case "$*" in *" wav "*) %s;; esac; head -c %d /dev/zero`, log, header, 4*frames)
	ds := scripted(t, decode, "exit 1", false)
	r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
	for k := range 3 {
		if err := r.Place(t.Context(), 0, slot); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(log)
		if got := strings.Count(string(text), "\n"); got != 2+k {
			t.Errorf("sample %d: ffmpeg has run %d times, want %d", k, got, 2+k)
		}
		if got := strings.Count(string(text), "-threads 1 -filter_threads 1 "); got != 2+k {
			t.Errorf("sample %d: ffmpeg has run %d times with one thread, want %d", k, got, 2+k)
		}
	}
}
