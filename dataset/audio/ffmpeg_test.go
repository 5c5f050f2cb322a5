package audio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/cpu"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// needsFFmpeg skips a test without FFmpeg.
func needsFFmpeg(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not in PATH", name)
		}
	}
}

// encode makes a file of a rising tone of two channels. Without one of ffmpeg's encoders the test is skipped.
func encode(t testing.TB, file string, seconds float64, args ...string) {
	t.Helper()
	source := fmt.Sprintf("aevalsrc=0.3*sin(2000*t*(1+t/9))+0.1*random(0)|0.3*sin(3000*t):s=44100:d=%v", seconds)
	all := slices.Concat([]string{"-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source}, args, []string{"file:" + file})
	if out, err := exec.Command("ffmpeg", all...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("Unknown encoder")) {
			t.Skipf("%s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
}

// heard is what testdata/compressed.py has found in a file.
type heard struct {
	Rate, Channels, Stride int
	Frames                 int64
	SHA256                 string
	Values                 []float64
}

// compressed are the files of testdata/compressed.zip, and what torchcodec reads from them with some version of FFmpeg.
func compressed(t testing.TB) (files map[string][]byte, golden map[string]heard, version string, sounds []string) {
	t.Helper()
	var g struct {
		FFmpeg string
		Sounds []string
		Files  map[string]heard
	}
	datatest.JSON(t, "testdata/compressed.json", &g)
	files = datatest.Archive(t, "testdata/compressed.zip")
	if len(files) != len(g.Files) || len(files) < 17 {
		t.Fatalf("%d files, and %d expected", len(files), len(g.Files))
	}
	return files, g.Files, g.FFmpeg, g.Sounds
}

// formats are the names of what files are.
var formats = map[string]string{".mp3": "MP3", ".ogg": "Ogg Vorbis", ".opus": "Ogg Opus", ".m4a": "MP4", ".webm": "WebM or Matroska", ".oga": "Ogg", ".aiff": "AIFF", ".wav": "WAV", ".aac": "FFmpeg"}

// TestValuesAreTorchcodecs: with the same FFmpeg the values have the same bits. Those of another one, or on another processor, are within 1e-6, and
// there are as many, but that some versions decode what the last packet of AAC in MP4 has after the end.
func TestValuesAreTorchcodecs(t *testing.T) {
	needsFFmpeg(t)
	files, golden, version, _ := compressed(t)
	text, err := exec.Command("ffmpeg", "-version").Output()
	if err != nil {
		t.Fatal(err)
	}
	same := strings.Contains(string(text), "version "+version) && runtime.GOARCH == "amd64" && cpu.Kernels()
	t.Logf("%.40q, the same: %v", text, same)
	for name, data := range files {
		want := golden[name]
		x, info, err := audio.Decode(data, audio.FFmpeg())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if info.Rate != want.Rate || info.Channels != want.Channels || len(x) != int(info.Frames)*info.Channels {
			t.Errorf("%s: %+v and %d values, want %+v", name, info, len(x), want)
		}
		if format := formats[filepath.Ext(name)]; info.Format != format {
			t.Errorf("%s is %s, want %s", name, info.Format, format)
		}
		if same {
			if info.Frames != want.Frames || digest(x) != want.SHA256 {
				t.Errorf("%s: %d frames with %s, torchcodec has %d with %s", name, info.Frames, digest(x), want.Frames, want.SHA256)
			}
			continue
		}
		if d := want.Frames - info.Frames; d != 0 && (!strings.HasPrefix(name, "aac") || d < -1023 || d > 1023) {
			t.Errorf("%s: %d frames, torchcodec has %d", name, info.Frames, want.Frames)
		}
		for k, v := range want.Values {
			if at := k * want.Stride; at < len(x) && math.Abs(float64(x[at])-v) > 1e-6 {
				t.Errorf("%s: value %d is %v, torchcodec's %v", name, at, x[at], v)
				break
			}
		}
	}
}

// TestSoundsAreTorchcodecs: WAV and FLAC have torchcodec's bits without FFmpeg.
func TestSoundsAreTorchcodecs(t *testing.T) {
	files, golden := sounds(t)
	_, _, _, same := compressed(t)
	kinds := map[string]int{}
	for _, name := range same {
		x, _, err := audio.Decode(files[name])
		if err != nil || digest(x) != golden[name].SHA256 {
			t.Errorf("%s: %s, torchcodec has %s: %v", name, digest(x), golden[name].SHA256, err)
		}
		kinds[filepath.Ext(name)]++
	}
	if kinds[".wav"] < 70 || kinds[".flac"] < 15 {
		t.Errorf("only %v are compared", kinds)
	}
}

func TestFFmpegComesAfterAllOtherFormats(t *testing.T) {
	needsFFmpeg(t)
	own := audio.Format{Name: "own", Is: func(head []byte) bool { return bytes.HasPrefix(head, []byte("OggS")) }, New: func() audio.Decoder { return new(click) }}
	for want, data := range map[string][]byte{"WAV": ramp(8000, 0, 10), "FLAC": flacFile{block: 16, total: -1}.of(noise(20)), "own": []byte("OggS\x00\x02\x04")} {
		if _, info, err := audio.Decode(data, audio.FFmpeg(), audio.Formats(own), audio.Timeout(1)); err != nil || info.Format != want {
			t.Errorf("%s is read as %+v: %v", want, info, err)
		}
	}
}

// on is a folder of the operating system with these files.
func on(t testing.TB, files map[string][]byte) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestLoadersGiveTheSamePartsOfAllFormats has files on a disk and in memory, small and large ones, and 1 and 3 workers.
func TestLoadersGiveTheSamePartsOfAllFormats(t *testing.T) {
	needsFFmpeg(t)
	all, _, _, _ := compressed(t)
	files := map[string][]byte{}
	for _, name := range []string{"aac.m4a", "mp3.wav"} {
		files["a/"+name] = all[name]
	}
	long := filepath.Join(t.TempDir(), "long.mp3")
	encode(t, long, 27, "-c:a", "libmp3lame", "-b:a", "320k", "-id3v2_version", "3", "-metadata", "title=long")
	var err error
	if files["b/long.mp3"], err = os.ReadFile(long); err != nil || len(files["b/long.mp3"]) <= 1<<20 {
		t.Fatalf("%d bytes: %v", len(files["b/long.mp3"]), err)
	}
	files["b/x.flac"] = flacFile{block: 1024, total: -1}.of(noise(9000))
	memory := fstest.MapFS{}
	for name, data := range files {
		memory[name] = &fstest.MapFile{Data: data}
	}
	var want []string
	for _, c := range []struct {
		fsys    fs.FS
		workers int
	}{{memory, 1}, {memory, 3}, {os.DirFS(on(t, files)), 2}} {
		if c.workers == 3 && testing.Short() {
			continue
		}
		var got []string
		l := loadertest.New(t, clips(t, c.fsys, audio.FFmpeg(), audio.Mono(), audio.RandomCrop(3000)), loader.BatchSize(2), loader.Shuffle(true), loader.Workers(c.workers))
		for batch, err := range l.Epoch(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range batch.Indices() {
				got = append(got, fmt.Sprint(i, digest(loader.Values[float32](batch, "waveform")[3000*k:][:3000])))
			}
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || len(want) != len(files) {
			t.Errorf("%T, %d workers: %v, want %v", c.fsys, c.workers, got, want)
		}
	}
	// A part of the large file is that of the whole.
	data := files["b/long.mp3"]
	whole, info, err := audio.Decode(data, audio.FFmpeg())
	if err != nil || info.Frames != 27*44100 {
		t.Fatalf("%+v: %v", info, err)
	}
	f, err := audio.Open(bytes.NewReader(data), int64(len(data)), audio.FFmpeg())
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 1, 500_000, 27*44100 - 100} {
		x := make([]float32, 200)
		if err := f.Read(x, from); err != nil || !slices.Equal(x, whole[2*from:][:200]) {
			t.Errorf("frames from %d on differ from those of the whole: %v", from, err)
		}
	}
	if _, _, err := audio.Decode(data, audio.FFmpeg(), audio.MaxFrames(1000)); err == nil || err.Error() != "audio: MP3: 1190700 frames, more than MaxFrames(1000)" {
		t.Error(err)
	}
}

// TestPicturesAreNotSound: the cover of an album is a stream of the file, and a film has pictures.
func TestPicturesAreNotSound(t *testing.T) {
	needsFFmpeg(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.mp3")
	encode(t, plain, 0.2, "-c:a", "libmp3lame")
	want, info, err := audio.Decode(must(os.ReadFile(plain)), audio.FFmpeg())
	if err != nil || info.Frames != 8820 {
		t.Fatalf("%+v: %v", info, err)
	}
	for name, args := range map[string][]string{
		"cover.mp3": {"-i", "file:" + plain, "-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.04", "-map", "0:a", "-map", "1:v", "-c:a", "copy", "-c:v", "png", "-disposition:v:0", "attached_pic"},
		"film.mkv":  {"-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.2", "-i", "file:" + plain, "-map", "0:v", "-map", "1:a", "-c:a", "flac", "-c:v", "mpeg4"},
		"films.mkv": {"-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.2", "-c:v", "mpeg4"},
	} {
		file := filepath.Join(dir, name)
		if out, err := exec.Command("ffmpeg", slices.Concat([]string{"-nostdin", "-v", "error", "-y"}, args, []string{"file:" + file})...).CombinedOutput(); err != nil {
			t.Skipf("%s: %s", name, out)
		}
		got, _, err := audio.Decode(must(os.ReadFile(file)), audio.FFmpeg())
		switch {
		case name == "films.mkv":
			if err == nil || !strings.HasPrefix(err.Error(), "audio: WebM or Matroska: ffmpeg: ") {
				t.Errorf("a film without sound: %v", err)
			}
		case err != nil || len(got) != len(want):
			t.Errorf("%s: %d values, want %d: %v", name, len(got), len(want), err)
		case name == "cover.mp3" && !slices.Equal(got, want):
			t.Errorf("%s has other values", name)
		}
	}
}

func TestWithoutFFmpegTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := audio.Waveforms(bytesOf("audio"), audio.FFmpeg())
	if !errors.Is(err, exec.ErrNotFound) || !strings.HasPrefix(err.Error(), "audio: FFmpeg: ffprobe is not in PATH: ") || !strings.Contains(err.Error(), "apt-get install ffmpeg") {
		t.Errorf("error %v", err)
	}
}

// TestFilesThatReferToOthersAreErrors has playlists that name a file of the machine, and what is no sound.
func TestFilesThatReferToOthersAreErrors(t *testing.T) {
	needsFFmpeg(t)
	files, _, _, _ := compressed(t)
	other := filepath.Join(on(t, map[string][]byte{"x.mp3": files["44100-2.mp3"]}), "x.mp3")
	bad := map[string][]byte{
		"hls.mp3":    []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:" + other + "\n#EXT-X-ENDLIST\n"),
		"concat.mp3": []byte("ffconcat version 1.0\nfile '" + other + "'\n"),
		"text.mp3":   []byte("no sound"),
		"empty.mp3":  nil,
		"cut.m4a":    files["aac.m4a"][:1500],
		"cut.ogg":    files["44100-2.ogg"][:3000],
	}
	ds := waveforms(t, must(dataset.Files(os.DirFS(on(t, bad)), "audio", []string{".mp3", ".m4a", ".ogg"}, dataset.NoClasses())), audio.FFmpeg(), audio.Mono())
	for i := range ds.Len() {
		_, err := dataset.At(t.Context(), ds, i)
		if err == nil || !strings.Contains(err.Error(), "("+ds.Name(i)+"): audio: ") {
			t.Errorf("%s: error %v, want one that names it", ds.Name(i), err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestDamagedFilesEndInTime has mutants of small files. Each is decoded, or is an error; no process and no temporary file is left.
func TestDamagedFilesEndInTime(t *testing.T) {
	needsFFmpeg(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	files, _, _, _ := compressed(t)
	random := rand.New(rand.NewPCG(7, 8))
	mutants := 4
	if testing.Short() {
		mutants = 1
	}
	failed, all := 0, 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for k := range mutants {
			data := bytes.Clone(files[name])
			switch k {
			case 0:
				for range 8 {
					data[random.IntN(len(data))] ^= byte(1 + random.IntN(255))
				}
			case 1:
				data = data[:random.IntN(len(data))]
			case 2: // numbers of the header
				for range 4 {
					at := random.IntN(min(200, len(data)-4))
					binary.BigEndian.PutUint32(data[at:], random.Uint32()>>random.IntN(24))
				}
			case 3:
				at := random.IntN(len(data))
				data = slices.Concat(data[:at], data[random.IntN(len(data)):], data[at:])
			}
			// What the program writes is held, and copied.
			hostile.Bounded(t, len(data), 4*(16<<20), func() {
				all++
				if _, _, err := audio.Decode(data, audio.FFmpeg(), audio.MaxFrames(1<<20)); err != nil {
					failed++
				}
			})
		}
	}
	t.Logf("%d of %d are errors", failed, all)
	if failed == 0 || failed == all {
		t.Errorf("%d of %d are errors", failed, all)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if runtime.GOOS == "linux" {
		if left := children(t); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	}
}

// children are the processes that this one has started and that are still there.
func children(t *testing.T) (left []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		_, after, _ := bytes.Cut(text, []byte(") "))
		var state string
		var parent int
		if _, err := fmt.Sscan(string(after), &state, &parent); err == nil && parent == os.Getpid() {
			left = append(left, string(text))
		}
	}
	return left
}
