package audio_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	sound "github.com/penstock-go/penstock/transform/audio"
)

func windows(t testing.TB, c *audio.Clips, length, step time.Duration) *audio.Clips {
	t.Helper()
	w, err := c.Windows(t.Context(), length, step)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWindowsAreThePartsOfEachRecording: the same parts as transform/audio.Windows has of a waveform.
func TestWindowsAreThePartsOfEachRecording(t *testing.T) {
	fsys := folder(t)
	fsys["yes/empty.wav"] = &fstest.MapFile{Data: ramp(8000, 0, 0)}
	c := clips(t, fsys)
	for _, times := range [][2]time.Duration{
		{time.Second, time.Second}, {time.Second, 300 * time.Millisecond}, {300 * time.Millisecond, time.Second}, {time.Hour, time.Second}, {1250 * time.Millisecond, 625 * time.Millisecond}, {time.Hour, time.Hour},
	} {
		w := windows(t, c, times[0], times[1])
		if got, want := w.Spec().String(), "waveform float32 (n), label int64 (), rate int64 (), seconds float64 ()"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		infos, err := w.Infos(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for k := range c.Len() {
			whole := datatest.Sample(t, c, k)
			rate := whole["rate"].Data().(int64)
			x := whole["waveform"].Data().([]float32)
			frames := func(d time.Duration) int { return int(int64(d) * rate / int64(time.Second)) }
			for from, to := range sound.Windows(len(x), frames(times[0]), frames(times[1])) {
				got := datatest.Sample(t, w, i)
				if !slices.Equal(got["waveform"].Data().([]float32), x[from:to]) {
					t.Errorf("%v: window %d is not frames %d to %d of %s", times, i, from, to, c.Name(k))
				}
				begin := time.Duration(from) * time.Second / time.Duration(rate)
				if at, want := got["seconds"].Data().(float64), float64(from)/float64(rate); at != want {
					t.Errorf("%v: window %d begins at %v s, want %v", times, i, at, want)
				}
				if got, want := w.Name(i), fmt.Sprintf("%s, from %v", c.Name(k), begin); got != want {
					t.Errorf("%v: window %d is %s, want %s", times, i, got, want)
				}
				if fmt.Sprint(got["label"].Data(), got["rate"].Data()) != fmt.Sprint(whole["label"].Data(), whole["rate"].Data()) || infos[i].Frames != int64(to-from) || infos[i].Rate != int(rate) {
					t.Errorf("%v: window %d has other fields than its file, or is %+v", times, i, infos[i])
				}
				i++
			}
		}
		if w.Len() != i || len(infos) != i || w.Name(i) != "" {
			t.Errorf("%v: %d windows, %d lengths, want %d", times, w.Len(), len(infos), i)
		}
		datatest.RefusesOtherIndices(t, w)
	}
	if got, want := windows(t, c, 30*time.Second, 25*time.Second).String(), "audio uint8 (n) → waveform float32 (n)\n  decode    WAV, FLAC\n  windows   30s, every 25s"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestAWindowReadsLittleOfALongFile(t *testing.T) {
	long := noise(1 << 20)
	for name, data := range map[string][]byte{"x.wav": wave(16000, 1, long...), "x.flac": flacFile{block: 1024, total: -1}.of(long)} {
		var n atomic.Int64
		w := windows(t, clips(t, counted{fstest.MapFS{"a/" + name: {Data: data}}, &n}), time.Second, time.Second)
		r, slot := datatest.Open(t, w), dataset.NewSlot(w.Spec()...)
		for i := 0; i < w.Len(); i += 7 {
			before := n.Load()
			if err := r.Place(t.Context(), i, slot); err != nil {
				t.Fatal(err)
			}
			if read := n.Load() - before; read > int64(len(data)/4) || read == 0 {
				t.Errorf("%s: %d bytes of %d were read for a window of 32000", name, read, len(data))
			}
		}
	}
	// Values without a header, too, and nothing is allocated.
	raw := bytesOf("audio", make([]byte, 200_000), make([]byte, 20_000))
	datatest.PlacesWithoutAllocation(t, windows(t, waveforms(t, raw, audio.Raw("s16le", 8000, 1)), time.Second, time.Second))
}

// TestWindowsAreFilledUpInBatches: loaders give the windows of several files, the last ones padded.
func TestWindowsAreFilledUpInBatches(t *testing.T) {
	w := windows(t, clips(t, folder(t), audio.Apply(twice{})), time.Second, 500*time.Millisecond)
	load := func(workers int) (all []string) {
		l := loadertest.New(t, w, loader.BatchSize(3), loader.Shuffle(true), loader.Workers(workers))
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			x := loader.Padded(batch, "features", float32(0), loader.PadTo(16003)).Data().([]float32)
			for k, i := range batch.Indices() {
				all = append(all, fmt.Sprint(i, loader.Values[float64](batch, "seconds")[k], digest(x[16003*k:][:16003])))
			}
		}
		return all
	}
	if a, b := load(1), load(3); !slices.Equal(a, b) || len(a) != w.Len() || w.Len() != 2+3+6+1 {
		t.Errorf("%d windows: %v, with 3 workers %v", w.Len(), a, b)
	}
}

func TestWindowsOfWhatFFmpegDecodes(t *testing.T) {
	needsFFmpeg(t)
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	encode(t, filepath.Join(root, "a", "long.mp3"), 27, "-c:a", "libmp3lame", "-b:a", "320k")
	encode(t, filepath.Join(root, "a", "short.mp3"), 1.5, "-c:a", "libmp3lame")
	c := clips(t, os.DirFS(root), audio.FFmpeg(), audio.Mono())
	w := windows(t, c, 10*time.Second, 9*time.Second)
	if w.Len() != 4 {
		t.Fatalf("%d windows", w.Len())
	}
	whole := datatest.Sample(t, c, 0)["waveform"].Data().([]float32)
	for i, want := range [][]float32{whole[:441000], whole[9*44100:][:441000], whole[18*44100:], datatest.Sample(t, c, 1)["waveform"].Data().([]float32)} {
		if got := datatest.Sample(t, w, i); !slices.Equal(got["waveform"].Data().([]float32), want) || len(want) == 0 {
			t.Errorf("%s differs from that part of the file", w.Name(i))
		}
	}
}

func TestWrongWindowsAreErrors(t *testing.T) {
	fsys := folder(t)
	c := clips(t, fsys)
	for _, e := range []struct {
		clips        *audio.Clips
		length, step time.Duration
		want         string
	}{
		{c, 0, time.Second, "audio: Windows(0s, 1s): want more than 0"},
		{c, time.Second, -1, "audio: Windows(1s, -1ns): want more than 0"},
		{c, time.Second, 1, "audio: sample 0 (no/a.wav): windows of 16000 frames, every 0: want 1 to MaxFrames(67108864)"},
		{c, 10000 * time.Hour, 1 << 62, "audio: sample 0 (no/a.wav): windows of 576000000000 frames, every 1099511627776: want 1 to MaxFrames(67108864)"},
		{clips(t, fsys, audio.RandomCrop(5)), time.Second, time.Second, "audio: Windows of crops of 5 frames: want clips without a crop"},
		{windows(t, c, time.Second, time.Second), time.Second, time.Second, "audio: Windows of windows"},
		{waveforms(t, datatest.Unknown{Dataset: bytesOf("audio", ramp(8000, 0, 1))}), time.Second, time.Second, "audio: Infos: the length of the dataset is unknown"},
		{waveforms(t, bytesOf("audio", []byte("x"))), time.Second, time.Second, "audio: sample 0: audio: unknown format: the file begins with 78"},
		{waveforms(t, bytesOf("audio", flacFile{block: 100, total: 1 << 30}.of(noise(100)))), time.Second, 100 * time.Microsecond, "audio: sample 0: 1073741824 frames: want no more than 1048576 windows, one every 2 frames"},
	} {
		if _, err := e.clips.Windows(t.Context(), e.length, e.step); err == nil || err.Error() != e.want {
			t.Errorf("got  %v\nwant %s", err, e.want)
		}
	}
	w := windows(t, c, time.Second, time.Second)
	fsys["no/a.wav"].Data = ramp(16000, 0, 17000)
	if _, err := dataset.At(t.Context(), w, 1); err == nil || err.Error() != "dataset: sample 1 (no/a.wav, from 1s): audio: the file has 17000 frames, and had 20000 when Windows was called" {
		t.Error(err)
	}
}

// A told file system is far away. It notes what it is told to fetch, and which files are opened: by several goroutines where a dataset is indexed.
type told struct {
	fs.FS
	parts  []dataset.FilePart
	mu     sync.Mutex
	opened []string
}

func (a *told) ForeseeFiles(f dataset.Future, b dataset.FileBlocks) func() {
	for k := range f.Len() {
		for _, i := range f.At(k, nil) {
			if b.Of != nil {
				i = b.Of(i)
			}
			a.parts = b.At(i, a.parts)
		}
	}
	return func() {}
}

func (a *told) Open(name string) (fs.File, error) {
	f, err := a.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened = append(a.opened, name)
	return farFile{f}, nil
}

type farFile struct{ fs.File }

func (f farFile) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// TestWhatRandomPartsNeedIsFetchedAhead: of files in a store that is far away, a crop or a window needs nothing but what the store was told to
// fetch before, in that order: their whole files.
func TestWhatRandomPartsNeedIsFetchedAhead(t *testing.T) {
	for name, of := range map[string]func(c *audio.Clips) *audio.Clips{
		"crops":   func(c *audio.Clips) *audio.Clips { return waveforms(t, c.Dataset, audio.RandomCrop(500)) },
		"windows": func(c *audio.Clips) *audio.Clips { return windows(t, c, time.Second, 900*time.Millisecond) },
	} {
		a := &told{FS: folder(t)}
		ds := of(clips(t, a))
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		for range 2 {
			epoch := datatest.Future{{3, 0}, {2, ds.Len() - 1}, {1, 3}}
			a.parts, a.opened = nil, nil
			if stop := dataset.Foresee(ds, epoch); stop == nil {
				t.Fatalf("%s: the store is told nothing", name)
			} else {
				stop()
			}
			a.opened = nil
			var want []dataset.FilePart
			for draw, i := range slices.Concat(epoch...) {
				datatest.Reset(slot, 1, 0, draw)
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			for _, name := range a.opened {
				want = append(want, dataset.FilePart{Path: name, Len: -1})
			}
			if !slices.Equal(a.parts, want) || len(want) != 6 {
				t.Errorf("%s: the store is told of %v, and %v is read", name, a.parts, a.opened)
			}
		}
	}
}
