package audio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// folder has two classes of ramps, of 20,000 frames and more.
func folder(t testing.TB) fstest.MapFS {
	t.Helper()
	flac := make([]int16, 30000)
	for i := range flac {
		flac[i] = int16(i)
	}
	return fstest.MapFS{
		"no/a.wav":   {Data: ramp(16000, 0, 20000)},
		"no/b.flac":  {Data: flacFile{block: 1024, total: -1}.of(flac)},
		"yes/c.WAV":  {Data: ramp(8000, 100, 25000)},
		"yes/d.wave": {Data: ramp(16000, 0, 700)},
		"yes/x.txt":  {Data: []byte("no sound")},
	}
}

func waveforms(t testing.TB, ds dataset.Dataset, options ...audio.Option) *audio.Clips {
	t.Helper()
	clips, err := audio.Waveforms(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	return clips
}

func clips(t testing.TB, fsys fs.FS, options ...audio.Option) *audio.Clips {
	t.Helper()
	files, err := audio.Folder(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return waveforms(t, files, options...)
}

func TestAFolderOfClipsHasWaveformsLabelsAndRates(t *testing.T) {
	ds := clips(t, folder(t))
	if got, want := ds.Spec().String(), "waveform float32 (n), label int64 (), rate int64 ()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []struct {
		frames, rate, label int
		name                string
	}{{20000, 16000, 0, "no/a.wav"}, {30000, 16000, 0, "no/b.flac"}, {25000, 8000, 1, "yes/c.WAV"}, {700, 16000, 1, "yes/d.wave"}} {
		s := datatest.Sample(t, ds, i)
		if got := len(s["waveform"].Data().([]float32)); got != want.frames || ds.Name(i) != want.name {
			t.Errorf("sample %d, %s, has %d frames, want %d of %s", i, ds.Name(i), got, want.frames, want.name)
		}
		if got := fmt.Sprint(s["rate"].Data(), s["label"].Data()); got != fmt.Sprint(want.rate, want.label) {
			t.Errorf("sample %d: got %s", i, got)
		}
	}
	datatest.RefusesOtherIndices(t, ds)
}

func TestACropIsAPartOfTheClip(t *testing.T) {
	for _, c := range []struct {
		name   string
		option audio.Option
	}{{"random", audio.RandomCrop(1000)}, {"centre", audio.CenterCrop(1000)}} {
		ds := clips(t, folder(t), c.option)
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		begins := map[int]bool{}
		for draw := range 50 {
			datatest.Reset(slot, 1, 0, draw)
			i := draw % ds.Len()
			if err := r.Place(t.Context(), i, slot); err != nil {
				t.Fatal(err)
			}
			x := dataset.Row[float32](slot, 0)
			if i == 3 { // of 700 frames
				if x[699] != 699./32768 || slices.ContainsFunc(x[700:], func(v float32) bool { return v != 0 }) {
					t.Errorf("%s: a short clip ends with %v", c.name, x[698:702])
				}
				continue
			}
			begin := int(x[0] * 32768)
			begins[begin] = true
			for k, v := range x {
				if v != float32(begin+k)/32768 {
					t.Fatalf("%s: frame %d is %v, and the first one %v", c.name, k, v, x[0])
				}
			}
		}
		if want := [...]bool{len(begins) > 30, len(begins) == 3 && begins[9500] && begins[14500] && begins[12100]}; !want[map[string]int{"random": 0, "centre": 1}[c.name]] {
			t.Errorf("%s: crops begin at %v", c.name, begins)
		}
	}
}

// epochs are the waveforms that a loader gives, sample by sample.
func epochs(t *testing.T, ds dataset.Dataset, from *loader.Position, options ...loader.Option) (all []string, at []loader.Position) {
	t.Helper()
	l := loadertest.New(t, ds, append([]loader.Option{loader.BatchSize(3), loader.Seed(7), loader.Shuffle(true)}, options...)...)
	if from == nil {
		p := l.Position(0)
		from = &p
	}
	for batch, err := range l.From(t.Context(), *from, 3) {
		if err != nil {
			t.Fatal(err)
		}
		waves := loader.Values[float32](batch, "waveform")
		for k, i := range batch.Indices() {
			n := len(waves) / batch.Len()
			all = append(all, fmt.Sprint(i, digest(waves[k*n:][:n])))
		}
		at = append(at, batch.Position())
	}
	return all, at
}

func TestCropsAreTheSameForAnyNumberOfWorkersAndAfterAResume(t *testing.T) {
	ds := clips(t, folder(t), audio.RandomCrop(500))
	want, at := epochs(t, ds, nil, loader.Workers(1))
	if len(want) != 12 || want[0] == want[4] {
		t.Fatalf("%v", want)
	}
	if got, _ := epochs(t, ds, nil, loader.Workers(5), loader.InFlight(3)); !slices.Equal(got, want) {
		t.Errorf("with 5 workers %v, want %v", got, want)
	}
	for k, p := range at[:len(at)-1] {
		got, _ := epochs(t, ds, &p, loader.Workers(2))
		if !slices.Equal(got, want[len(want)-len(got):]) || len(got) == 0 || len(got) >= len(want) {
			t.Errorf("after batch %d: %v, want the end of %v", k, got, want)
		}
	}
}

// counted counts the bytes that are read of files.
type counted struct {
	fs.FS
	bytes *atomic.Int64
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	return countedFile{f, c.bytes}, nil
}

type countedFile struct {
	fs.File
	bytes *atomic.Int64
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.bytes.Add(int64(n))
	return n, err
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.(io.ReaderAt).ReadAt(p, off)
	f.bytes.Add(int64(n))
	return n, err
}

func TestACropReadsLittleOfALongFile(t *testing.T) {
	long := noise(1 << 20)
	for name, data := range map[string][]byte{
		"x.wav":  wave(16000, 1, long...),
		"x.flac": flacFile{block: 1024, total: -1}.of(long),
		"y.flac": flacFile{block: 1024, total: -1, varying: true}.of(long),
		"z.flac": flacFile{block: 1024, total: -1, table: func(k int, off int64) (uint64, uint64) { return uint64(1024 * k), uint64(off) }}.of(long),
	} {
		var n atomic.Int64
		ds := clips(t, counted{fstest.MapFS{"a/" + name: {Data: data}}, &n}, audio.RandomCrop(4000))
		r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
		for draw := range 30 {
			datatest.Reset(slot, 5, 0, draw)
			before := n.Load()
			if err := r.Place(t.Context(), 0, slot); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if read := n.Load() - before; read > int64(len(data)/4) || read == 0 {
				t.Errorf("%s: %d bytes of %d were read for a crop of 8000", name, read, len(data))
			}
		}
	}
}

func TestFramesAreFoundInLongFiles(t *testing.T) {
	values := noise(300000)
	want := floats(values)
	point := func(k int, off int64) (uint64, uint64) { return uint64(1000 * k), uint64(off) }
	for name, f := range map[string]flacFile{
		"no table":                     {block: 1000, total: -1},
		"blocks by their first frame":  {block: 1000, total: -1, varying: true},
		"a table":                      {block: 1000, total: -1, table: point},
		"a table with other offsets":   {block: 1000, total: -1, table: func(k int, off int64) (uint64, uint64) { return uint64(1000 * k), uint64(off) + 1 }},
		"a table with other frames":    {block: 1000, total: -1, table: func(k int, off int64) (uint64, uint64) { return uint64(1000*k) + 1000, uint64(off) }},
		"a table of places to be used": {block: 1000, total: -1, table: func(int, int64) (uint64, uint64) { return math.MaxUint64, 0 }},
		"a table beyond the file":      {block: 1000, total: -1, table: func(k int, off int64) (uint64, uint64) { return uint64(1000 * k), math.MaxUint64 - uint64(k) }},
		"no length":                    {block: 1000},
		"large blocks":                 {block: 65535, total: -1},
		"small blocks":                 {block: 16, total: -1},
	} {
		data := f.of(values)
		file, err := audio.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := file.Info().Frames; n != int64(len(values)) {
			t.Errorf("%s: %d frames, want %d", name, n, len(values))
		}
		x := make([]float32, 50)
		for k := range 40 {
			from := k * 7919 * 37 % (len(values) - len(x))
			if err := file.Read(x, int64(from)); err != nil {
				t.Errorf("%s: from %d: %v", name, from, err)
			} else if !slices.Equal(x, want[from:from+len(x)]) {
				t.Errorf("%s: from %d: got %v", name, from, x[:3])
			}
		}
	}
}

func TestChannels(t *testing.T) {
	stereo := wave(8000, 2, 100, 300, -4, 8, 32767, -32768)
	fsys := fstest.MapFS{"a/x.wav": {Data: stereo}}
	for _, c := range []struct {
		options []audio.Option
		spec    string
		want    string
	}{
		{[]audio.Option{audio.Channels(2)}, "waveform float32 (n, 2)", "[100 300 -4 8 32767 -32768]"},
		{[]audio.Option{audio.Channels(2), audio.CenterCrop(1)}, "waveform float32 (1, 2)", "[-4 8]"},
		{[]audio.Option{audio.Channels(2), audio.CenterCrop(4)}, "waveform float32 (4, 2)", "[100 300 -4 8 32767 -32768 0 0]"},
		{[]audio.Option{audio.Mono()}, "waveform float32 (n)", "[200 2 -0.5]"},
		{[]audio.Option{audio.Mono(), audio.CenterCrop(1)}, "waveform float32 (1)", "[2]"},
	} {
		ds := clips(t, fsys, c.options...)
		x := datatest.Sample(t, ds, 0)["waveform"].Data().([]float32)
		for i := range x {
			x[i] *= 32768
		}
		if got := fmt.Sprint(x); got != c.want || ds.Spec()[0].String() != c.spec {
			t.Errorf("%v: got %s, want %s of %s", ds.Spec()[0], got, c.want, c.spec)
		}
	}
	// More than a block of channels.
	values := make([]int16, 6*50000)
	for i := range values {
		values[i] = int16(i / 6 % 5000 * (i % 6))
	}
	x := datatest.Sample(t, clips(t, fstest.MapFS{"a/x.wav": {Data: wave(8000, 6, values...)}}, audio.Mono()), 0)["waveform"].Data().([]float32)
	for i, v := range x {
		if want := float32(i%5000) * 15 / 32768 / 6; v != want {
			t.Fatalf("frame %d: the mean is %v, want %v", i, v, want)
		}
	}
	if len(x) != 50000 {
		t.Errorf("%d frames", len(x))
	}
}

// twice makes ragged values twice as large, and a random number.
type twice struct{ fails bool }

func (s twice) Field() dataset.Field {
	return dataset.Field{Name: "features", Dtype: dataset.Float32, Ragged: true}
}

func (s twice) Open() (func(dst dataset.Slot, wave []float32, channels, rate int) error, error) {
	return func(dst dataset.Slot, wave []float32, channels, rate int) error {
		if s.fails {
			return errors.New("twice: no")
		}
		out := dataset.Grow[float32](dst, 0, len(wave)+3)
		for i, v := range wave {
			out[i], wave[i] = 2*v*32768, 0
		}
		out[len(wave)], out[len(wave)+1], out[len(wave)+2] = float32(channels), float32(rate), float32(dst.Rand().IntN(1000))
		return nil
	}, nil
}

func TestAStepGetsOneChannelAfterTheOther(t *testing.T) {
	fsys := fstest.MapFS{"a/x.wav": {Data: wave(8000, 2, 1, 2, 3, 4, 5, 6)}, "a/y.wav": {Data: wave(16000, 1, 7, 8, 9)}}
	ds := clips(t, fsys, audio.Apply(twice{}), audio.RandomCrop(3))
	if got, want := ds.Spec().String(), "features float32 (n), label int64 (), rate int64 ()"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r, slot := datatest.Open(t, ds), dataset.NewSlot(ds.Spec()...)
	for i, want := range []string{"[2 6 10 4 8 12 2 8000]", "[14 16 18 1 16000]"} {
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		x := dataset.Row[float32](slot, 0)
		if got := fmt.Sprint(x[:len(x)-1]); got != want {
			t.Errorf("sample %d: got %s, want %s", i, got, want)
		}
	}
	_, err := dataset.At(t.Context(), clips(t, fsys, audio.Apply(twice{fails: true})), 0)
	if want := "dataset: sample 0 (a/x.wav): twice: no"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// bytesOf is a dataset of files in memory.
func bytesOf(field string, all ...[]byte) dataset.Dataset {
	return dataset.Func(len(all), dataset.Spec{{Name: field, Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(all[i])), all[i])
		return nil
	})
}

func TestNothingIsAllocatedPerSample(t *testing.T) {
	all := [][]byte{ramp(16000, 0, 20000), flacFile{block: 1024, total: -1}.of(noise(30000)), wave(8000, 2, noise(5000)...), ramp(8000, 5, 10)}
	for _, options := range [][]audio.Option{
		{audio.Mono()},
		{audio.Mono(), audio.RandomCrop(3000)},
		{audio.Apply(twice{})},
		{audio.Apply(twice{}), audio.RandomCrop(3000)},
	} {
		datatest.PlacesWithoutAllocation(t, waveforms(t, bytesOf("audio", all...), options...))
	}
}

func TestRaw(t *testing.T) {
	for encoding, want := range map[string]string{
		"u8":    "[-0.9921875 -0.984375 -0.9765625 -0.96875 -0.9609375 -0.953125 -0.9453125 -0.9375]",
		"s8":    "[0.0078125 0.015625 0.0234375 0.03125 0.0390625 0.046875 0.0546875 0.0625]",
		"s16le": "[0.015655518 0.031341553 0.047027588 0.06271362]",
		"s16be": "[0.007873535 0.02355957 0.039245605 0.05493164]",
		"s32le": "[0.03134179 0.06271434]",
		"s32be": "[0.007873895 0.039246444]",
		"f32le": "[1.5399896e-36 4.063216e-34]",
		"f32be": "[2.3879393e-38 6.301941e-36]",
		"f64be": "[0]",
	} {
		data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		x, info, err := audio.Decode(data, audio.Raw(encoding, 8000, 1))
		if got := fmt.Sprint(x); err != nil || got != want || info.Rate != 8000 || info.Encoding != encoding {
			t.Errorf("%s: got %s, %+v, %v, want %s", encoding, got, info, err, want)
		}
	}
	x, _, err := audio.Decode([]byte{0, 0, 0x80, 0xff, 0xff, 0x7f}, audio.Raw("s24le", 8000, 2))
	if got := fmt.Sprint(x); err != nil || got != "[-1 0.9999999]" {
		t.Errorf("s24le: %s, %v", got, err)
	}
	x, _, err = audio.Decode([]byte{0x80, 0, 0, 0x7f, 0xff, 0xff}, audio.Raw("s24be", 8000, 2))
	if got := fmt.Sprint(x); err != nil || got != "[-1 0.9999999]" {
		t.Errorf("s24be: %s, %v", got, err)
	}
	if _, _, err = audio.Decode(make([]byte, 7), audio.Raw("s16le", 8000, 2)); err == nil || err.Error() != "audio: raw: 7 bytes: want a multiple of 4, a frame of 2 channels with s16le" {
		t.Error(err)
	}
	if x, _, err := audio.Decode(nil, audio.Raw("s16le", 8000, 2)); err != nil || len(x) != 0 {
		t.Error(x, err)
	}
}

func TestInfosReadHeadersAlone(t *testing.T) {
	var n atomic.Int64
	fsys := folder(t)
	ds := clips(t, counted{fsys, &n})
	infos, err := ds.Infos(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "[{WAV s16le 16000 1 16 20000} {FLAC  16000 1 16 30000} {WAV s16le 8000 1 16 25000} {WAV s16le 16000 1 16 700}]"
	if got := fmt.Sprint(infos); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n.Load() > 40000 {
		t.Errorf("%d bytes were read", n.Load())
	}
	if got := infos[2].Duration().String(); got != "3.125s" {
		t.Errorf("the third takes %s", got)
	}
	fsys["yes/c.WAV"].Data[9] = 'X'
	if _, err := ds.Infos(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "audio: sample 2 (yes/c.WAV): ") {
		t.Error(err)
	}
	unnamed := waveforms(t, bytesOf("audio", []byte("x")))
	if _, err := unnamed.Infos(t.Context()); err == nil || err.Error() != "audio: sample 0: audio: unknown format: the file begins with 78" {
		t.Error(err)
	}
}

func TestAFileOfLessThanNothingIsAnError(t *testing.T) {
	if _, err := audio.Open(bytes.NewReader(nil), -1); err == nil || err.Error() != "audio: the file is empty" {
		t.Error(err)
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	files := bytesOf("sound")
	for want, options := range map[string][]audio.Option{
		`audio: Waveforms: no field "audio": the dataset has sound uint8 (n) (Field names another one)`: nil,
		"audio: Channels(0): want 1 to 65535":                                          {audio.Channels(0)},
		"audio: Channels(70000): want 1 to 65535":                                      {audio.Channels(70000)},
		"audio: Mono and Channels(2): want one of them":                                {audio.Channels(2), audio.Mono()},
		"audio: Rate(0): want 1 or more":                                               {audio.Rate(0)},
		"audio: Rate(-5): want 1 or more":                                              {audio.Rate(-5)},
		"audio: MaxFrames(0): want 1 or more":                                          {audio.MaxFrames(0)},
		"audio: Timeout(0s): want more than 0":                                         {audio.Timeout(0)},
		"audio: a crop of 0 frames: want 1 to MaxFrames(67108864)":                     {audio.RandomCrop(0)},
		"audio: a crop of 11 frames: want 1 to MaxFrames(10)":                          {audio.CenterCrop(11), audio.MaxFrames(10)},
		"audio: Apply(nil): want a step":                                               {audio.Apply(nil)},
		`audio: Formats: "x": want the functions Is and New`:                           {audio.Formats(audio.Format{Name: "x"})},
		`audio: Raw("s16le", 0, 1): want a rate of 1 or more, and 1 to 65535 channels`: {audio.Raw("s16le", 0, 1)},
	} {
		if _, err := audio.Waveforms(files, options...); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := audio.Waveforms(files, audio.Raw("s17", 1, 1)); err == nil || !strings.HasPrefix(err.Error(), `audio: Raw("s17", 1, 1): no encoding has this name: want u8, s8, s16le`) {
		t.Error(err)
	}
	if _, err := audio.Waveforms(nil); err == nil {
		t.Error("no dataset")
	}
	if _, err := audio.Waveforms(datatest.Pairs(t), audio.Field("pair")); err == nil || err.Error() != "audio: Waveforms: field pair uint16 (2): want files, as ragged uint8" {
		t.Error(err)
	}
}

func TestWhatTheFilesHaveIsCompared(t *testing.T) {
	stereo := wave(8000, 2, 1, 2)
	for want, options := range map[string][]audio.Option{
		"dataset: sample 0: audio: WAV: a file of 2 channels: want one (Mono averages them, Channels(2) keeps them)": nil,
		"dataset: sample 0: audio: WAV: a file of 2 channels: want 3, as Channels says":                              {audio.Channels(3)},
		"dataset: sample 0: audio: WAV: 8000 Hz: want 16000, as Rate says":                                           {audio.Rate(16000), audio.Mono()},
	} {
		if _, err := dataset.At(t.Context(), waveforms(t, bytesOf("audio", stereo), options...), 0); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	long := ramp(8000, 0, 11)
	if _, _, err := audio.Decode(long, audio.MaxFrames(10)); err == nil || err.Error() != "audio: WAV: 11 frames, more than MaxFrames(10)" {
		t.Error(err)
	}
	if x := datatest.Sample(t, waveforms(t, bytesOf("audio", long), audio.MaxFrames(10), audio.CenterCrop(9)), 0)["waveform"].Data().([]float32); x[0] != 1./32768 {
		t.Error(x)
	}
	many := flacFile{block: 100, total: 1 << 29}.of(noise(100))
	if _, _, err := audio.Decode(many, audio.MaxFrames(1<<29)); err == nil || err.Error() != "audio: FLAC: 536870912 frames of one channel: want 536870911 values at most" {
		t.Error(err)
	}
}

func TestFilesBeginBehindATag(t *testing.T) {
	values := noise(300)
	for name, data := range map[string][]byte{"WAV": wave(16000, 1, values...), "FLAC": flacFile{block: 100, total: -1}.of(values)} {
		for _, n := range []int{3, 200} {
			tagged := append(append([]byte("ID3\x04\x00\x00\x00\x00"), byte(n>>7), byte(n&0x7f)), make([]byte, n)...)
			x, info, err := audio.Decode(append(tagged, data...))
			if err != nil || info.Format != name || !slices.Equal(x, floats(values)) {
				t.Errorf("%s behind a tag of %d bytes: %+v, %d frames: %v", name, n, info, len(x), err)
			}
		}
	}
}

func TestADurationIsNeverNegative(t *testing.T) {
	for want, info := range map[time.Duration]audio.Info{
		0:                       {Frames: 5},
		1500 * time.Millisecond: {Frames: 12000, Rate: 8000},
		math.MaxInt64:           {Frames: 1<<36 - 1, Rate: 1},
	} {
		if got := info.Duration(); got != want {
			t.Errorf("%d frames at %d Hz: %v, want %v", info.Frames, info.Rate, got, want)
		}
	}
}

func TestFilesOfOtherFormatsAreNamed(t *testing.T) {
	for head, want := range map[string]string{
		"ID3\x04\x00\x00\x00\x00\x00\x02ab":                "audio: cannot read MP3 (see FFmpeg)",
		"\xff\xfb\x90\x00":                                 "audio: cannot read MP3 (see FFmpeg)",
		"OggS" + strings.Repeat("\x00", 24) + "\x01vorbis": "audio: cannot read Ogg Vorbis (see FFmpeg)",
		"RIFF\x00\x00\x00\x00AVI ":                         "audio: cannot read RIFF, but not WAV (see FFmpeg)",
		"\x00\x00\x00\x20ftypM4A ":                         "audio: cannot read MP4 (see FFmpeg)",
		"hello, world":                                     "audio: unknown format: the file begins with 68 65 6c 6c 6f 2c 20 77",
		"x":                                                "audio: unknown format: the file begins with 78",
		"":                                                 "audio: the file is empty",
		string(riff(chunk("fmt ", format(2, 1, 8000, 4)...))): "audio: WAV: byte 20: cannot read encoding 0x0002 (MS ADPCM) of 4 bits",
	} {
		if _, _, err := audio.Decode([]byte(head)); err == nil || err.Error() != want || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestDamagedFilesAreErrorsWithTheByte(t *testing.T) {
	pcm := chunk("fmt ", format(1, 1, 8000, 16)...)
	good := flacFile{block: 100, total: -1}.of(noise(1000))
	changed := func(at int, to byte) []byte {
		b := slices.Clone(good)
		b[at] ^= to
		return b
	}
	for want, data := range map[string][]byte{
		"WAV: no frames: the file ends at byte 36, before a chunk data: unexpected EOF":     riff(pcm),
		"WAV: byte 12: a chunk data before any chunk fmt":                                   riff(chunk("data", 1, 2)),
		"WAV: byte 36: a chunk data of 4 bytes, the file has 2 after it: unexpected EOF":    riff(pcm, chunk("data", 1, 2, 3, 4))[:46],
		`WAV: byte 12: a chunk "LIST" of 70 bytes, the file has 2 after it: unexpected EOF`: riff([]byte("LIST\x46\x00\x00\x00ab")),
		"WAV: byte 12: a chunk fmt of 4 bytes, want 16 or more":                             riff(chunk("fmt ", 1, 2, 3, 4)),
		"WAV: byte 22: no channels":                                                                       riff(chunk("fmt ", format(1, 0, 8000, 16)...)),
		"WAV: byte 24: 0 frames per second":                                                               riff(chunk("fmt ", format(1, 1, 0, 16)...)),
		"WAV: byte 32: frames of 258 bytes, want 2 for one channel of s16le":                              riff(chunk("fmt ", append(format(1, 1, 8000, 16)[:12], 2, 1, 16, 0)...)),
		"WAV: byte 12: a chunk fmt of 16 bytes, want 40 for WAVE_FORMAT_EXTENSIBLE":                       riff(chunk("fmt ", format(0xfffe, 1, 8000, 16)...)),
		"WAV: byte 12: a chunk ds64 of 2 bytes, want 24 or more":                                          append([]byte("RF64\xff\xff\xff\xffWAVE"), chunk("ds64", 1, 2)...),
		"FLAC: file ended at byte 20, in the block that begins at byte 4: unexpected EOF":                 good[:20],
		"FLAC: byte 4: a block of metadata of type 3: want STREAMINFO first":                              changed(4, 3),
		"FLAC: byte 4: a STREAMINFO of 33 bytes: want 34":                                                 changed(7, 34^33),
		"FLAC: byte 42: not the header of a block":                                                        changed(42, 1),
		"FLAC: the block at byte 42 is damaged: its CRC-16 is":                                            changed(100, 1),
		"FLAC: byte 253: not the header of a block":                                                       changed(254, 1),
		"FLAC: byte 300, in the block at byte 253: file ended at byte 300: unexpected EOF":                good[:300],
		"FLAC: file ended at byte 253, after 100 of 1000 frames: unexpected EOF":                          good[:253],
		"FLAC: file ended at byte 256, in the block that begins at byte 253: unexpected EOF":              good[:256],
		"FLAC: byte 51, in the block at byte 42: the first bit of a channel is 1, want 0":                 changed(50, 0x80),
		"FLAC: byte 51, in the block at byte 42: unknown prediction 000011":                               changed(50, 4),
		"FLAC: byte 42: a block of 2 channels and 16 bits: want 1 and 16, as the header of the file says": nil,
	} {
		if data == nil {
			b := slices.Clone(good)
			b[45] |= 0x10
			b[49] = byte(crc(b[42:49], 7, 8))
			data = b
		}
		_, _, err := audio.Decode(data)
		if err == nil || !strings.HasPrefix(err.Error(), "audio: "+want) {
			t.Errorf("got  %v\nwant audio: %s", err, want)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) != strings.Contains(want, "EOF") {
			t.Errorf("%v: the cause", err)
		}
	}
}

func TestPromisesTakeNoMemory(t *testing.T) {
	huge := chunk("data")
	copy(huge[4:], "\xff\xff\xff\x7e")
	long := flacFile{block: 100, total: 1 << 26}.of(noise(1000))
	for name, data := range map[string][]byte{
		"WAV":  riff(chunk("fmt ", format(1, 1, 8000, 16)...), huge),
		"RF64": append(append(append([]byte("RF64\xff\xff\xff\xffWAVE"), chunk("ds64", slices.Concat(make([]byte, 8), []byte{0, 0, 0, 0, 0, 0, 0, 1}, make([]byte, 12))...)...), chunk("fmt ", format(1, 1, 8000, 16)...)...), "data\xff\xff\xff\xff"...),
		"FLAC": long,
	} {
		const most = 4 << 20 // of 256 MiB and more that are promised; the race detector's growing slices take the most
		if n := allocs.Bytes(most, func() {
			if _, _, err := audio.Decode(data); err == nil {
				t.Errorf("%s: no error", name)
			}
		}); n > most {
			t.Errorf("%s: %d bytes are allocated for a file of %d", name, n, len(data))
		}
	}
	if _, _, err := audio.Decode(flacFile{block: 100, total: 1<<26 + 1}.of(noise(100))); err == nil || err.Error() != "audio: FLAC: 67108865 frames, more than MaxFrames(67108864)" {
		t.Error(err)
	}
}

func TestAPlanSaysWhatIsDone(t *testing.T) {
	ds := clips(t, folder(t), audio.RandomCrop(100))
	want := "audio uint8 (n) → waveform float32 (100)\n  decode    WAV, FLAC\n  crop      100 frames, from a random one on"
	if got := ds.String(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestLocalFilesAreClosed(t *testing.T) {
	root := t.TempDir()
	for name, f := range folder(t) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	datatest.Same(t, clips(t, os.DirFS(root)), clips(t, folder(t)))
}

// BenchmarkFLAC decodes a file of 20,000 frames: all, and a random part of 4,000.
func BenchmarkFLAC(b *testing.B) {
	files, _ := sounds(b)
	data := files["flac/long.flac"]
	x := make([]float32, 20000)
	for name, read := range map[string]func(f *audio.File, k int) error{
		"whole": func(f *audio.File, _ int) error { return f.Read(x, 0) },
		"part":  func(f *audio.File, k int) error { return f.Read(x[:4000], int64(k*7919%16000)) },
	} {
		b.Run(name, func(b *testing.B) {
			for k := 0; b.Loop(); k++ {
				f, err := audio.Open(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					b.Fatal(err)
				}
				if err := read(f, k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
