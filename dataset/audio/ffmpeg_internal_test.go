package audio

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/ffmpeg"
	"github.com/penstock-go/penstock/internal/hostile"
)

// large has the programs treat all files as large ones.
func large(t testing.TB) (Option, *process) {
	t.Helper()
	probe, err := ffmpeg.Find("ffprobe", ffmpeg.DefaultLimit)
	if err != nil {
		t.Skip(err)
	}
	decode, err := ffmpeg.Find("ffmpeg", ffmpeg.DefaultLimit)
	if err != nil {
		t.Skip(err)
	}
	p := &process{probe: probe, decode: decode}
	f := ffmpegFormat(probe, decode)
	f.New = func() Decoder { return p }
	return Option{func(c *config) { c.formats = []Format{f} }}, p
}

// TestLargeFilesAreReadAsSmallOnes: of the same length, by their packets or by decoding, and any part has the bits of the whole.
func TestLargeFilesAreReadAsSmallOnes(t *testing.T) {
	large(t)
	files := datatest.Archive(t, "testdata/compressed.zip")
	files["chained.ogg"] = slices.Concat(files["8000-1.ogg"], files["8000-1.ogg"]) // whose times begin anew in the middle
	for name, data := range files {
		if testing.Short() && !strings.HasSuffix(name, ".mp3") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, _ := large(t)
			random := rand.New(rand.NewPCG(1, 2))
			whole, want, err := Decode(data, FFmpeg())
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(bytes.NewReader(data), int64(len(data)), option)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Info(); got.Frames != want.Frames || got.Rate != want.Rate || got.Channels != want.Channels {
				t.Fatalf("%+v, want %+v", got, want)
			}
			c := int64(want.Channels)
			for k := range 3 {
				from, n := random.Int64N(want.Frames), int64(0)
				switch n = random.Int64N(want.Frames-from) + 1; k {
				case 0:
					from, n = 0, want.Frames
				case 1:
					n = want.Frames - from
				}
				x := make([]float32, n*c)
				if err := f.Read(x, from); err != nil || !slices.Equal(x, whole[from*c:(from+n)*c]) {
					t.Errorf("%d frames from %d on differ: %v", n, from, err)
				}
			}
		})
	}
}

// TestPacketsSayTheLength, where their lengths are certain: without decoding.
func TestPacketsSayTheLength(t *testing.T) {
	_, p := large(t)
	files := datatest.Archive(t, "testdata/compressed.zip")
	decoder := p.decode
	for name, want := range map[string]bool{"44100-2.mp3": true, "no-length.mp3": true, "speech.opus": true, "adts.aac": true, "44100-2.ogg": false, "vorbis.webm": false, "alac.m4a": false} {
		p.decode = ffmpeg.Program{Name: "no decoder"}
		_, err := p.Open(bytes.NewReader(files[name]), int64(len(files[name])))
		if (err == nil) != want {
			t.Errorf("%s: without a decoder: %v", name, err)
		}
		if !want && (err == nil || !strings.Contains(err.Error(), "no decoder")) {
			t.Errorf("%s: %v", name, err)
		}
		p.decode = decoder
	}
}

func TestPackets(t *testing.T) {
	stream := func(codec, unit string) string {
		return "stream|codec_name=" + codec + "|sample_rate=100|channels=1|time_base=" + unit + "\n"
	}
	packet := func(length, left string) string { return "packet|duration=" + length + "|" + left + "\n" }
	skip, padding := "side_data|skip_samples=7|discard_padding=0", "side_data|skip_samples=0|discard_padding=3"
	for name, c := range map[string]struct {
		lines string
		want  int64 // or -1
	}{
		"gapless":                 {packet("20", skip) + packet("20", "") + packet("20", padding) + stream("mp3", "1/200"), 20},
		"a shorter last one":      {packet("20", skip) + packet("20", "") + packet("14", padding) + stream("opus", "1/200"), 20},
		"a last one cut by time":  {packet("10", "") + packet("10", "") + packet("9", "") + stream("aac", "1/100"), -1},
		"packets that differ":     {packet("10", "") + packet("9", "") + packet("10", "") + stream("mp3", "1/100"), -1},
		"a longer last one":       {packet("10", "") + packet("11", "") + stream("mp3", "1/100"), -1},
		"milliseconds":            {packet("10", "") + packet("10", "") + stream("opus", "1/1000"), 2},
		"other milliseconds":      {packet("10", "") + packet("10", "") + stream("opus", "1/1001"), -1},
		"parts of frames":         {packet("15", "") + packet("15", "") + stream("mp3", "1/200"), -1},
		"other codecs":            {packet("10", "") + stream("vorbis", "1/100"), -1},
		"unknown lengths":         {packet("N/A", "") + packet("N/A", "") + stream("mp3", "1/100"), -1},
		"one packet":              {packet("10", "") + stream("mp3", "1/100"), 10},
		"none":                    {stream("mp3", "1/100"), -1},
		"nothing but padding":     {packet("2", padding) + stream("mp3", "1/100"), -1},
		"a length of 50 years":    {packet("9223372036854775807", "") + packet("9223372036854775807", "") + stream("mp3", "1/100"), -1},
		"no unit of time":         {packet("10", "") + stream("mp3", "0/0"), -1},
		"a packet with two names": {"packet|duration=10|duration=99|\n" + stream("mp3", "1/100"), 10},
	} {
		var p packets
		if err := p.read(strings.NewReader(c.lines), 100); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n, known := p.frames(p.number("sample_rate")); n != c.want && (known || c.want >= 0) || known != (c.want >= 0) {
			t.Errorf("%s: %d frames, %v, want %d", name, n, known, c.want)
		}
	}
	for want, lines := range map[string]string{
		"more packets than the file's 3 bytes":                   strings.Repeat(packet("1", ""), 4),
		"packet 0: -5 and 0 frames that are no sound":            packet("1", "side_data|skip_samples=-5"),
		"packet 0: 0 and 1099511627777 frames that are no sound": packet("1", "side_data|discard_padding=1099511627777"),
	} {
		if err := new(packets).read(strings.NewReader(lines), 3); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestALengthThatIsWrongIsAnError: what the packets say is compared with what is decoded.
func TestALengthThatIsWrongIsAnError(t *testing.T) {
	_, p := large(t)
	data := datatest.Archive(t, "testdata/compressed.zip")["16000-1.mp3"]
	info, err := p.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		frames int64
		want   string
	}{{info.Frames + 1, "file ended after "}, {info.Frames - 1, "it has more than the "}} {
		p.info.Frames = c.frames
		x := make([]float32, c.frames)
		if err := p.run(t.Context(), 0, c.frames, func() error { return p.Read(x, 0) }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if err := p.Read(make([]float32, 1), 0); err == nil {
		t.Error("no error without a program")
	}
}

// TestASmallFileWithManyValuesIsNotHeld: its length is counted, and its parts are decoded anew.
func TestASmallFileWithManyValuesIsNotHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 100 seconds")
	}
	_, p := large(t)
	p.small = smallFile
	file := t.TempDir() + "/silence.opus"
	if out, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=48000:cl=mono:d=100", "-c:a", "libopus", "file:"+file).CombinedOutput(); err != nil {
		t.Skipf("%s", out)
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) > smallFile {
		t.Fatalf("%d bytes: %v", len(data), err)
	}
	info, err := p.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || info.Frames != 100*48000 || p.whole || cap(p.values) > 2*mostWhole {
		t.Errorf("%+v, held: %v, %d bytes: %v", info, p.whole, cap(p.values), err)
	}
	x := make([]float32, 1000)
	if err := p.run(t.Context(), info.Frames-1000, 1000, func() error { return p.Read(x, info.Frames-1000) }); err != nil {
		t.Error(err)
	}
}

// TestDamagedLargeFilesEndInTime has mutants, of which ffprobe reads the packets.
func TestDamagedLargeFilesEndInTime(t *testing.T) {
	option, _ := large(t)
	files := datatest.Archive(t, "testdata/compressed.zip")
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"44100-2.mp3", "speech.opus", "aac-faststart.m4a", "opus.webm", "adts.aac"} {
		for k := range 3 {
			data := bytes.Clone(files[name])
			for range 1 + 4*k {
				data[random.IntN(len(data))] ^= byte(1 + random.IntN(255))
			}
			hostile.Bounded(t, len(data), 4<<20, func() {
				if f, err := Open(bytes.NewReader(data), int64(len(data)), option); err == nil {
					n := min(f.Info().Frames, 1<<16)
					_ = f.Read(make([]float32, n*int64(f.Info().Channels)), f.Info().Frames-n)
				}
			})
		}
	}
}

// FuzzPackets reads what ffprobe says of a file that may say anything.
func FuzzPackets(f *testing.F) {
	f.Add([]byte("packet|duration=20|side_data|skip_samples=7|discard_padding=0\npacket|duration=14|side_data|discard_padding=3\nstream|codec_name=opus|sample_rate=100|channels=1|time_base=1/200\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hostile.Bounded(t, len(data), 64*int64(len(data)), func() {
			var p packets
			if p.read(bytes.NewReader(data), 1<<10) != nil || p.number("sample_rate") < 1 {
				return
			}
			if n, known := p.frames(p.number("sample_rate")); known && (n < 0 || n > mostFrames) {
				t.Errorf("%d frames", n)
			}
		})
	})
}
