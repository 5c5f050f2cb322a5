package video_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/video"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// ffmpeg skips a test without FFmpeg.
func ffmpeg(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not in PATH", name)
		}
	}
}

// encode makes a video of a pattern that changes from frame to frame. Without one of ffmpeg's encoders the test is skipped.
func encode(t testing.TB, file, source string, args ...string) {
	t.Helper()
	all := slices.Concat([]string{"-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source}, args, []string{"file:" + file})
	if out, err := exec.Command("ffmpeg", all...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("Unknown encoder")) {
			t.Skipf("%s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
}

// whole decodes all frames of a video, in PPM, with the conversion that Open documents.
func whole(t testing.TB, file string) (frames [][]byte) {
	t.Helper()
	all, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-noautorotate", "-i", "file:"+file, "-map", "0:V:0", "-fps_mode", "passthrough",
		"-sws_flags", "bicubic", "-pix_fmt", "rgb24", "-c:v", "ppm", "-f", "image2pipe", "pipe:1").Output()
	if err != nil {
		t.Fatal(err)
	}
	for len(all) > 0 {
		var w, h int
		if _, err := fmt.Sscanf(string(all[:min(len(all), 40)]), "P6\n%d %d\n255\n", &w, &h); err != nil {
			t.Fatal(err)
		}
		n := len(fmt.Sprintf("P6\n%d %d\n255\n", w, h)) + 3*w*h
		frames, all = append(frames, all[:n:n]), all[n:]
	}
	return frames
}

// shown are when the frames of a video are shown, as a decoder says.
func shown(t testing.TB, file string) (seconds []float64) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "V:0", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", "-i", "file:"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var at float64
		if _, err := fmt.Sscanf(line, "%f", &at); err == nil {
			seconds = append(seconds, at)
		}
	}
	return seconds
}

// kinds are videos of all structures of frames.
var kinds = map[string][]string{
	"ippp.mp4":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "0", "-g", "12", "-pix_fmt", "yuv420p"},
	"b frames.mp4": {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "3", "-b_strategy", "0", "-g", "30", "-pix_fmt", "yuv420p"},
	"open gop.mkv": {"testsrc2=s=64x48:r=30000/1001:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "3", "-x264-params", "open-gop=1:keyint=15:min-keyint=15:scenecut=0:b-adapt=0", "-pix_fmt", "yuv420p"},
	"one key.mp4":  {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "2", "-g", "9999", "-pix_fmt", "yuv420p"},
	"pyramid.mov":  {"testsrc2=s=66x50:r=24:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "8", "-b_strategy", "0", "-x264-params", "b-pyramid=strict:ref=4", "-g", "25", "-pix_fmt", "yuv420p"},
	"varying.mkv":  {"testsrc2=s=64x48:r=50:d=2,noise=alls=60:allf=t", "-vf", "select='not(mod(n*n,7)*mod(n,5))+lt(n,9)'", "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "2", "-g", "11", "-pix_fmt", "yuv420p"},
	"later.ts":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-bf", "2", "-g", "10", "-pix_fmt", "yuv420p", "-muxdelay", "5"},
	"two.mkv":      {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "mpeg2video", "-bf", "2", "-g", "9"},
	"four.mp4":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "mpeg4", "-bf", "2", "-g", "14"},
	"vp9.webm":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "20", "-lag-in-frames", "0"},
	"vp8.webm":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "20", "-lag-in-frames", "0"},
	"hevc.mp4":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx265", "-x265-params", "log-level=error:bframes=3:keyint=13:open-gop=1", "-pix_fmt", "yuv420p"},
	"odd.mkv":      {"testsrc2=s=66x50:r=25:d=2,format=yuv444p,noise=alls=60:allf=t,crop=65:49:exact=1", "-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv444p"},
	"full.mp4":     {"testsrc2=s=64x48:r=25:d=2,noise=alls=60:allf=t", "-c:v", "libx264", "-pix_fmt", "yuvj420p", "-colorspace", "bt709", "-color_range", "pc"},
}

// TestFramesAreThoseOfAWholeDecode reads every frame alone, and clips of several, of videos of all structures.
func TestFramesAreThoseOfAWholeDecode(t *testing.T) {
	ffmpeg(t)
	for name, how := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !slices.Contains([]string{"b frames.mp4", "open gop.mkv", "varying.mkv"}, name) {
				t.Skip("one of many structures")
			}
			dir := t.TempDir()
			file := filepath.Join(dir, name)
			encode(t, file, how[0], how[1:]...)
			frames, times := whole(t, file), shown(t, file)
			if len(frames) < 20 || len(times) != len(frames) {
				t.Fatalf("%d frames, %d times", len(frames), len(times))
			}
			for i := 1; i < len(frames); i++ {
				if bytes.Equal(frames[i], frames[i-1]) {
					t.Fatalf("frames %d and %d are the same", i-1, i)
				}
			}
			for _, s := range []struct {
				sampling video.Sampling
				stride   int
			}{
				{video.ClipsAtRegularIndices(len(frames), 1), 1 + len(frames)/5},
				{video.ClipsAtRandomIndices(1, 7, video.NumIndicesBetweenFrames(3), video.SamplingRange(0, float64(len(frames)))), 1},
				{video.ClipsAtRandomTimestamps(1, 5, video.SecondsBetweenFrames(0.13)), 1},
			} {
				ds, err := video.Open(t.Context(), dir, s.sampling, video.NoClasses())
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < ds.Len(); i += s.stride {
					sample, err := dataset.At(t.Context(), ds, i)
					if err != nil {
						t.Fatal(err)
					}
					c, err := files.ParseBundle(dataset.ValuesOf[uint8](sample["image"]))
					if err != nil {
						t.Fatal(err)
					}
					for k, at := range dataset.ValuesOf[float64](sample["seconds"]) {
						want := slices.IndexFunc(times, func(x float64) bool { return math.Abs(x-at) < 2e-6 })
						if want < 0 {
							t.Fatalf("clip %d: no frame is shown at %v s", i, at)
						}
						if s.stride > 1 && want != i {
							t.Errorf("frame %d is number %d of the whole decode", i, want)
						}
						if !bytes.Equal(c.File(k), frames[want]) {
							t.Errorf("clip %d: frame %d, at %v s, is not that of the whole decode", i, want, at)
						}
					}
				}
			}
		})
	}
}

// TestClipsOfABatchAreWhatTheyAreAlone: also if they are more than one process decodes, and of different sizes, rates and codecs.
func TestClipsOfABatchAreWhatTheyAreAlone(t *testing.T) {
	ffmpeg(t)
	if runtime.GOOS == "windows" {
		t.Skip("a process has one output there")
	}
	dir := t.TempDir()
	for _, name := range []string{"b frames.mp4", "open gop.mkv", "varying.mkv", "four.mp4"} {
		encode(t, filepath.Join(dir, name), kinds[name][0], kinds[name][1:]...)
	}
	encode(t, filepath.Join(dir, "large.mkv"), "testsrc2=s=130x98:r=10:d=3", "-c:v", "mpeg4", "-g", "9")
	for _, s := range []video.Sampling{
		video.ClipsAtRandomIndices(2, 4, video.NumIndicesBetweenFrames(3)),
		video.ClipsAtRegularTimestamps(1, 2, video.SecondsBetweenFrames(0.21)),
	} {
		ds, err := video.Open(t.Context(), dir, s, video.NoClasses())
		if err != nil {
			t.Fatal(err)
		}
		datatest.PlacesTogether(t, ds)
	}
}

// TestClipsOfManyFrames: none of the frames of a clip follows another one, and there are more than ffmpeg has terms in a sum.
func TestClipsOfManyFrames(t *testing.T) {
	ffmpeg(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a.mp4")
	encode(t, file, "testsrc2=s=16x16:r=25:d=12,noise=alls=60:allf=t", "-c:v", "mpeg4")
	frames := whole(t, file)
	for _, n := range []int{33, 101, 150} {
		ds, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, n, video.NumIndicesBetweenFrames(2)), video.NoClasses())
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), ds, 0)
		if err != nil {
			t.Errorf("%d frames: %v", n, err)
			continue
		}
		c, err := files.ParseBundle(dataset.ValuesOf[uint8](s["image"]))
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			if !bytes.Equal(c.File(k), frames[2*k]) {
				t.Fatalf("frame %d of %d is not that of the whole decode", k, n)
			}
		}
	}
}

// TestAClipOfManyFramesTakesSeveralProcesses: 20,000 frames none of which follows another are more than the arguments of one hold.
func TestAClipOfManyFramesTakesSeveralProcesses(t *testing.T) {
	ffmpeg(t)
	if testing.Short() {
		t.Skip("it decodes 60,000 frames")
	}
	const n = 20_000
	dir := t.TempDir()
	file := filepath.Join(dir, "a.mp4")
	encode(t, file, fmt.Sprintf("testsrc2=s=16x16:r=25,trim=end_frame=%d,noise=alls=60:allf=t", 2*n), "-c:v", "mpeg4")
	frames := whole(t, file)
	ds, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, n, video.NumIndicesBetweenFrames(2)), video.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), ds, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := files.ParseBundle(dataset.ValuesOf[uint8](s["image"]))
	if err != nil {
		t.Fatal(err)
	}
	for k := range n {
		if !bytes.Equal(c.File(k), frames[2*k]) {
			t.Fatalf("frame %d of %d is not that of the whole decode", k, n)
		}
	}
}

// TestFramesAreTorchcodecs compares with what testdata/frames.py wrote, if FFmpeg is of the version that torchcodec had.
func TestFramesAreTorchcodecs(t *testing.T) {
	ffmpeg(t)
	var g struct {
		FFmpeg string
		Videos map[string]struct {
			Shape   []int
			Seconds []float64
			Frames  []string
		}
	}
	datatest.JSON(t, "testdata/frames.json", &g)
	text, err := exec.Command("ffmpeg", "-version").Output()
	if err != nil || !strings.Contains(string(text), "version "+g.FFmpeg) {
		t.Skipf("the frames are those of FFmpeg %s, whose conversion of colours may differ: %.40q", g.FFmpeg, text)
	}
	names := slices.Sorted(maps.Keys(g.Videos))
	ds, err := video.Open(t.Context(), "testdata", video.ClipsAtRegularIndices(1, 30), video.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	if ds.Len() != len(names) {
		t.Fatalf("%d videos, want %v", ds.Len(), names)
	}
	for i, name := range names {
		want := g.Videos[name]
		s, err := dataset.At(t.Context(), ds, i)
		if err != nil {
			t.Fatal(err)
		}
		c, err := files.ParseBundle(dataset.ValuesOf[uint8](s["image"]))
		if err != nil {
			t.Fatal(err)
		}
		for k, frame := range want.Frames {
			at := c.File(k)
			sum := sha256.Sum256(at[len(at)-3*want.Shape[1]*want.Shape[2]:])
			if hex.EncodeToString(sum[:])[:16] != frame {
				t.Errorf("%s: frame %d of %d is not that of torchcodec", name, k, len(want.Frames))
			}
			if got := dataset.ValuesOf[float64](s["seconds"])[k]; got != want.Seconds[k] {
				t.Errorf("%s: frame %d is shown at %v s, want %v", name, k, got, want.Seconds[k])
			}
		}
	}
}

// TestLoadersGiveTheSameClips has 1 and 3 workers, of which each runs an ffmpeg.
func TestLoadersGiveTheSameClips(t *testing.T) {
	ffmpeg(t)
	dir := t.TempDir()
	for k, class := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o755); err != nil {
			t.Fatal(err)
		}
		encode(t, filepath.Join(dir, class, "a.mkv"), fmt.Sprintf("testsrc2=s=%dx48:r=25:d=2", 64+16*k), "-c:v", "mpeg4", "-g", "10")
	}
	clips, err := video.Open(t.Context(), dir, video.ClipsAtRandomIndices(3, 4, video.NumIndicesBetweenFrames(2)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(clips.Len(), clips.Classes(), clips.Labels(), clips.Name(4)), "6 [one two] [0 0 0 1 1 1]two/a.mkv, clip 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(4), transform.Train(32))
	if err != nil {
		t.Fatal(err)
	}
	load := func(workers int) (values []float32, labels []int64, seconds []float64) {
		l := loadertest.New(t, ds, loader.BatchSize(2), loader.Shuffle(true), loader.Seed(4), loader.Workers(workers))
		for batch, err := range l.Epoch(t.Context(), 3) {
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, loader.Values[float32](batch, "image")...)
			labels = append(labels, loader.Values[int64](batch, "label")...)
			seconds = append(seconds, loader.Values[float64](batch, "seconds")...)
		}
		return values, labels, seconds
	}
	values, labels, seconds := load(1)
	more, moreLabels, moreSeconds := load(3)
	if len(values) != 6*4*3*32*32 || !slices.Equal(values, more) || !slices.Equal(labels, moreLabels) || !slices.Equal(seconds, moreSeconds) {
		t.Error("3 workers give other clips than one")
	}
}

func TestNamesThatLookLikeOptionsAndProtocols(t *testing.T) {
	ffmpeg(t)
	dir := t.TempDir()
	names := []string{"-i.mp4", "http:a.mp4", "a'b.mp4", "with space.mp4", "%d.mp4", "concat:x|y.mp4", "ü.mp4"}
	encode(t, filepath.Join(dir, "first.mp4"), "testsrc2=s=32x32:r=25:d=1", "-c:v", "mpeg4")
	data, err := os.ReadFile(filepath.Join(dir, "first.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Skip(err) // a file system without such names
		}
	}
	ds, err := video.Open(t.Context(), dir, video.ClipsAtRegularIndices(1, 2), video.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	for i := range ds.Len() {
		if _, err := dataset.At(t.Context(), ds, i); err != nil {
			t.Error(err)
		}
	}
	if ds.Len() != len(names)+1 {
		t.Errorf("%d clips", ds.Len())
	}
}

// TestFilesThatReferToOthersAreErrors has a playlist that names a file of the machine, with the name of a video.
func TestFilesThatReferToOthersAreErrors(t *testing.T) {
	ffmpeg(t)
	dir := t.TempDir()
	encode(t, filepath.Join(dir, "other.ts"), "testsrc2=s=32x32:r=25:d=1", "-c:v", "mpeg4")
	other := filepath.Join(dir, "other.ts")
	for name, text := range map[string]string{
		"hls.mp4":    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:" + other + "\n#EXT-X-ENDLIST\n",
		"concat.mp4": "ffconcat version 1.0\nfile '" + other + "'\n",
		"text.mp4":   "not a video",
		"empty.mp4":  "",
	} {
		one := t.TempDir()
		if err := os.WriteFile(filepath.Join(one, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := video.Open(t.Context(), one, video.ClipsAtRegularIndices(1, 1), video.NoClasses()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names it", name, err)
		}
	}
}

func TestTheIndexIsKept(t *testing.T) {
	ffmpeg(t)
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "index")
	encode(t, filepath.Join(dir, "a.mp4"), "testsrc2=s=32x32:r=25:d=1", "-c:v", "mpeg4")
	open := func() (*video.Dataset, error) {
		return video.Open(t.Context(), dir, video.ClipsAtRegularIndices(2, 2), video.NoClasses(), video.Index(path))
	}
	if _, err := open(); err != nil {
		t.Fatal(err)
	}
	// Without ffprobe, nothing but the index says what the video is.
	found, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(found, filepath.Join(bin, "ffmpeg")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ffprobe"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := os.Getenv("PATH")
	t.Setenv("PATH", bin)
	ds, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), ds, 1); err != nil {
		t.Error(err)
	}
	t.Setenv("PATH", before)
	encode(t, filepath.Join(dir, "a.mp4"), "testsrc2=s=48x32:r=25:d=1", "-c:v", "mpeg4")
	if _, err := dataset.At(t.Context(), ds, 0); err == nil || !strings.Contains(err.Error(), "a.mp4: the file has changed") {
		t.Errorf("error %v, want that of a changed file", err)
	}
	if ds, err = open(); err != nil {
		t.Fatal(err)
	}
	if s, err := dataset.At(t.Context(), ds, 0); err != nil || !bytes.Contains(dataset.ValuesOf[uint8](s["image"]), []byte("P6\n48 32\n")) {
		t.Errorf("the changed video is not read anew (%v)", err)
	}
	if err := os.WriteFile(path, []byte("a text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "another file has this name") {
		t.Errorf("error %v, want that of another file", err)
	}
	if err := os.Remove(filepath.Join(dir, "a.mp4")); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), ds, 0); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want that of a missing file, which is named once", err)
	}
}

func TestWithoutFFmpegTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := video.Open(t.Context(), t.TempDir(), video.ClipsAtRegularIndices(1, 1))
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "ffprobe is not in PATH") || !strings.Contains(err.Error(), "apt-get install ffmpeg") {
		t.Errorf("error %v", err)
	}
}

// picture is a PNG file of a colour.
func picture(t testing.TB, c uint8) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 5, 4))
	for i := range m.Pix {
		m.Pix[i] = c
	}
	m.SetGray(0, 0, color.Gray{c})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFoldersOfFramesAreClips(t *testing.T) {
	fsys := fstest.MapFS{}
	for v, n := range []int{7, 1, 4} {
		for k := range n {
			fsys[fmt.Sprintf("class %d/video %d/%03d.png", v/2, v, k)] = &fstest.MapFile{Data: picture(t, uint8(10*v+k)), Mode: 0o644}
		}
	}
	folder, err := dataset.ImageFolder(fsys)
	if err != nil {
		t.Fatal(err)
	}
	clips, err := video.Frames(folder, video.ClipsAtRegularIndices(2, 3, video.NumIndicesBetweenFrames(2)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(clips.Len(), clips.Spec(), clips.Labels(), clips.Name(2)), "6 image uint8 (n), label int64 () [0 0 0 0 1 1]class 0/video 1, clip 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(3), transform.CenterCrop([2]int{4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint8{{0, 2, 4}, {2, 4, 6}, {10, 10, 10}, {10, 10, 10}, {20, 22, 22}, {20, 22, 22}} {
		s, err := dataset.At(t.Context(), ds, i)
		if err != nil {
			t.Fatal(err)
		}
		pix := dataset.ValuesOf[uint8](s["image"])
		if got := []uint8{pix[0], pix[60], pix[120]}; !slices.Equal(got, want) || len(pix) != 180 {
			t.Errorf("clip %d has the frames %v, want %v", i, got, want)
		}
	}
	if _, err := video.Frames(nil, video.ClipsAtRegularIndices(1, 1)); err == nil {
		t.Error("no error for no folder")
	}
	if _, err := video.Frames(folder, video.ClipsAtRandomTimestamps(1, 1)); err == nil || !strings.Contains(err.Error(), "class 0/video 0: the frames have no times") {
		t.Errorf("error %v", err)
	}
	later, err := video.Frames(folder, video.ClipsAtRegularIndices(2, 1, video.SamplingRange(3, math.NaN())))
	if err != nil {
		t.Fatal(err)
	}
	if later.Len() != 6 {
		t.Errorf("%d clips, want two of each video", later.Len())
	}
	for i := range 6 {
		_, err := dataset.At(t.Context(), later, i)
		if short := i == 2 || i == 3; short != (err != nil) || short && !strings.Contains(err.Error(), "class 0/video 1: the video has 1 frames: no clip begins at 3 or later") {
			t.Errorf("clip %d: error %v; the second video alone is too short", i, err)
		}
	}
	delete(fsys, "class 1/video 2/002.png")
	if _, err := dataset.At(t.Context(), clips, 4); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "class 1/video 2: frame 2") {
		t.Errorf("error %v, want that of a missing frame", err)
	}
}

// TestClipsFollowFromTheirDraws: the same seed, epoch and place are the same clip, and others are others.
func TestClipsFollowFromTheirDraws(t *testing.T) {
	fsys := fstest.MapFS{}
	for k := range 100 {
		fsys[fmt.Sprintf("v/%03d.png", k)] = &fstest.MapFile{Data: picture(t, uint8(k)), Mode: 0o644}
	}
	folder, err := dataset.ImageFolder(fsys, dataset.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	clips, err := video.Frames(folder, video.ClipsAtRandomIndices(12, 2))
	if err != nil {
		t.Fatal(err)
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(2), transform.CenterCrop(1))
	if err != nil {
		t.Fatal(err)
	}
	load := func(workers, epoch int) (pix []uint8) {
		l := loadertest.New(t, ds, loader.BatchSize(3), loader.Shuffle(true), loader.Seed(1), loader.Workers(workers))
		for batch, err := range l.Epoch(context.Background(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			pix = append(pix, loader.Values[uint8](batch, "image")...)
		}
		return pix
	}
	first := load(1, 0)
	if !slices.Equal(first, load(4, 0)) || slices.Equal(first, load(1, 1)) {
		t.Error("clips depend on the workers, or not on the epoch")
	}
	seen := map[uint8]bool{}
	for k := 0; k < len(first); k += 6 {
		seen[first[k]] = true
		if first[k+3] != first[k]+1 {
			t.Errorf("frames %d and %d follow each other", first[k], first[k+3])
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d beginnings", len(seen))
	}
}

// told is a file system that notes which files it is to fetch.
type told struct {
	fs.FS
	paths []string
}

func (f *told) ForeseeFiles(future dataset.Future, b dataset.FileBlocks) func() {
	for batch := range future.Len() {
		for _, i := range future.At(batch, nil) {
			for _, part := range b.At(i, nil) {
				f.paths = append(f.paths, part.Path)
			}
		}
	}
	return func() {}
}

// TestTheFramesOfRegularClipsAreForeseen: each once, in the order in which they are read.
func TestTheFramesOfRegularClipsAreForeseen(t *testing.T) {
	fsys := &told{FS: fstest.MapFS{}}
	for v, n := range []int{5, 2} {
		for k := range n {
			fsys.FS.(fstest.MapFS)[fmt.Sprintf("v%d/%d.png", v, k)] = &fstest.MapFile{Data: picture(t, 0)}
		}
	}
	folder, err := dataset.ImageFolder(fsys, dataset.NoClasses())
	if err != nil {
		t.Fatal(err)
	}
	foresee := func(s video.Sampling) []string {
		t.Helper()
		ds, err := video.Frames(folder, s)
		if err != nil {
			t.Fatal(err)
		}
		fsys.paths = nil
		if stop := dataset.Foresee(ds, datatest.Future{{3, 0}, {}, {1, 9, -1}}); stop != nil {
			stop()
		}
		return fsys.paths
	}
	// Two clips of three frames: the second video has two, of which the last is repeated.
	want := []string{"v1/0.png", "v1/1.png", "v0/0.png", "v0/1.png", "v0/2.png", "v0/2.png", "v0/3.png", "v0/4.png"}
	if got := foresee(video.ClipsAtRegularIndices(2, 3)); !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
	if got := foresee(video.ClipsAtRegularIndices(2, 3, video.Wrap())); !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v: frames 0, 1 and 0 are two files", got, want)
	}
	if got := foresee(video.ClipsAtRegularIndices(2, 3, video.Error())); !slices.Equal(got, want[2:]) {
		t.Errorf("told of %v, want %v: clips that are errors are not read", got, want[2:])
	}
	if got := foresee(video.ClipsAtRandomIndices(2, 3)); got != nil {
		t.Errorf("told of %v, and random clips are not known", got)
	}
}
