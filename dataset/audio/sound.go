package audio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// An Info is what a file says of its sound.
type Info struct {
	Format   string // "WAV", "FLAC", "MP3", or "FFmpeg" for what has no name here
	Encoding string // of the values in a file that is not compressed, by FFmpeg's name: "s16le"
	Rate     int    // frames per second
	Channels int
	Bits     int   // of a value before it was compressed; 0 if it had none, as in MP3, or ffmpeg decodes it
	Frames   int64 // a value per channel each
}

// Duration is how long the sound is. What is longer than any Duration is the longest one.
func (i Info) Duration() time.Duration {
	if i.Rate < 1 {
		return 0
	}
	seconds, rest := i.Frames/int64(i.Rate), i.Frames%int64(i.Rate)
	if seconds >= math.MaxInt64/int64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(seconds)*time.Second + time.Duration(rest)*time.Second/time.Duration(i.Rate)
}

// A File is a sound file that is open for reading, by one goroutine at a time. [Open] makes it.
type File struct{ sound sound }

// Open reads the header of a file of that many bytes. Of the options, those about channels and rate and [Formats],
// [FFmpeg], [Raw] and [MaxFrames] count.
func Open(file io.ReaderAt, size int64, options ...Option) (*File, error) {
	c := newConfig(options)
	if err := c.check(); err != nil {
		return nil, err
	}
	c.frames, c.step = 0, nil
	f := new(File)
	d := decoders{formats: c.formats}
	if err := f.sound.open(context.Background(), &d, &c, file, size, nil); err != nil {
		return nil, fmt.Errorf("audio: %w", err)
	}
	return f, nil
}

// Info is what the header says.
func (f *File) Info() Info { return f.sound.info }

// Read decodes frames from number from on, as many as dst has room for. A frame is one value per channel, side by side:
// len(dst) is a multiple of the number of channels. Frames that the file does not have are an error.
func (f *File) Read(dst []float32, from int64) error {
	s := &f.sound
	n := int64(len(dst) / s.channels)
	switch {
	case len(dst)%s.channels != 0:
		return fmt.Errorf("audio: Read: %d values: want a multiple of %d, a value per channel", len(dst), s.channels)
	case from < 0 || n > s.info.Frames-from:
		return fmt.Errorf("audio: Read: frames %d to %d of %d", from, from+n, s.info.Frames)
	}
	if err := s.whileDecoded(context.Background(), from, n, func() error { return s.fill(context.Background(), dst, from) }); err != nil {
		return fmt.Errorf("audio: %s: %w", s.info.Format, err)
	}
	return nil
}

// Decode decodes a clip in memory, as a server does. A frame is one value per channel, side by side. Options are as in [Open].
func Decode(file []byte, options ...Option) (wave []float32, info Info, err error) {
	f, err := Open(bytes.NewReader(file), int64(len(file)), options...)
	if err != nil {
		return nil, Info{}, err
	}
	wave, err = f.sound.read(context.Background(), 0, f.sound.info.Frames, target{scratch: &wave})
	if err != nil {
		return nil, Info{}, fmt.Errorf("audio: %s: %w", f.sound.info.Format, err)
	}
	return wave, f.sound.info, nil
}

// A sound is a file that is decoded, one after the other.
type sound struct {
	decoder    Decoder
	info       Info
	channels   int   // of the result
	max        int64 // frames
	input      int64 // bytes of the file
	blocks     []float32
	wave, wide []float32 // scratch memory: for a step, and with its channels one after the other
}

// open reads the header of the next file, and checks it. What known says of a file that a program decodes is not read again.
func (s *sound) open(ctx context.Context, d *decoders, c *config, file io.ReaderAt, size int64, known *Info) error {
	decoder, format, err := d.find(file, size)
	if err != nil {
		return err
	}
	info, err := opened(ctx, decoder, file, size, known)
	if c.ffmpeg && !isProcess(decoder) && errors.Is(err, errors.ErrUnsupported) { // such as MP3 in WAV
		decoder = d.decoder(len(d.formats) - 1)
		info, err = opened(ctx, decoder, file, size, known)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", format, err)
	}
	if info.Format == "" {
		info.Format = format
	}
	s.decoder, s.info, s.max, s.input, s.channels = decoder, info, c.maxFrames, size, info.Channels
	switch {
	case info.Rate < 1 || info.Channels < 1 || info.Channels > maxChannels || info.Frames < 0:
		return fmt.Errorf("%s: the decoder says %d channels, %d frames, %d Hz", format, info.Channels, info.Frames, info.Rate)
	case c.rate > 0 && info.Rate != c.rate:
		return fmt.Errorf("%s: %d Hz: want %d, as Rate says", format, info.Rate, c.rate)
	case c.mono:
		s.channels = 1
	case c.channels > 0 && info.Channels != c.channels:
		return fmt.Errorf("%s: a file of %s: want %d, as Channels says", format, channels(info.Channels), c.channels)
	case c.one && info.Channels != 1:
		return fmt.Errorf("%s: a file of %s: want one (Mono averages them, Channels(%d) keeps them)", format, channels(info.Channels), info.Channels)
	}
	return nil
}

// opened opens a file, by a program until ctx is done.
func opened(ctx context.Context, d Decoder, file io.ReaderAt, size int64, known *Info) (Info, error) {
	p, ok := d.(*process)
	switch {
	case !ok:
		return d.Open(file, size)
	case known != nil:
		p.known(file, size, *known)
		return *known, nil
	}
	return p.open(ctx, file, size)
}

// whileDecoded calls read, which reads n frames from number from on. Meanwhile the program runs that decodes them, if one does.
func (s *sound) whileDecoded(ctx context.Context, from, n int64, read func() error) error {
	if p, ok := s.decoder.(*process); ok && n > 0 {
		return p.run(ctx, from, n, read)
	}
	return read()
}

func channels(n int) string {
	if n == 1 {
		return "one channel"
	}
	return fmt.Sprintf("%d channels", n)
}

// A target is where a waveform goes: a field of a sample, or scratch memory.
type target struct {
	scratch *[]float32
	slot    dataset.Slot
	ragged  bool
}

// grow makes room for n frames, and keeps those that are there.
func (t target) grow(n int64, channels int) []float32 {
	switch {
	case t.scratch != nil:
		values := int(n) * channels
		*t.scratch = slices.Grow((*t.scratch)[:min(len(*t.scratch), values)], max(values-len(*t.scratch), 0))[:values]
		return *t.scratch
	case t.ragged:
		return dataset.Grow[float32](t.slot, 0, int(n))
	}
	return dataset.Row[float32](t.slot, 0)
}

// read decodes n frames from number from on into t. Those beyond the end of the file are zeros. Memory grows with what has been
// decoded, so a header that promises much takes little.
func (s *sound) read(ctx context.Context, from, n int64, t target) ([]float32, error) {
	switch {
	case n > s.max:
		return nil, fmt.Errorf("%d frames, more than MaxFrames(%d)", n, s.max)
	case n > maxValues/int64(s.channels):
		return nil, fmt.Errorf("%d frames of %s: want %d values at most", n, channels(s.channels), maxValues)
	}
	there := max(min(n, s.info.Frames-from), 0)
	if isProcess(s.decoder) {
		return s.decoded(ctx, from, there, n, t)
	}
	return s.grow(ctx, from, there, n, t)
}

// decoded is grow while a program decodes. It is a function of its own because read would allocate its closure for every file.
func (s *sound) decoded(ctx context.Context, from, there, n int64, t target) (out []float32, err error) {
	err = s.whileDecoded(ctx, from, there, func() (err error) {
		out, err = s.grow(ctx, from, there, n, t)
		return err
	})
	return out, err
}

// grow decodes the frames that are there, and adds zeros up to n of them.
func (s *sound) grow(ctx context.Context, from, there, n int64, t target) ([]float32, error) {
	var out []float32
	if t.scratch != nil {
		*t.scratch = (*t.scratch)[:0]
	}
	likely := (budget.Base + budget.Memory*s.input) / 4 / int64(s.channels)
	for have := int64(0); have < there; {
		next := min(there, max(likely, 2*have, 1))
		out = t.grow(next, s.channels)
		if err := s.fill(ctx, out[have*int64(s.channels):next*int64(s.channels)], from+have); err != nil {
			return nil, err
		}
		have = next
	}
	if out = t.grow(n, s.channels); n > there {
		clear(out[there*int64(s.channels):])
	}
	return out, nil
}

// maxValues bounds a waveform, so that no product overflows.
const maxValues = 1<<29 - 1

// blockValues is how many values are decoded between two looks at the context, and before channels are averaged.
const blockValues = 1 << 16

// fill decodes the frames that dst has room for.
func (s *sound) fill(ctx context.Context, dst []float32, from int64) error {
	step := max(blockValues/s.info.Channels, 1)
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(step, len(dst)/s.channels)
		if err := s.block(dst[:n*s.channels], from); err != nil {
			return err
		}
		dst, from = dst[n*s.channels:], from+int64(n)
	}
	return nil
}

// block decodes a few frames.
func (s *sound) block(dst []float32, from int64) error {
	if s.channels == s.info.Channels {
		return s.decoder.Read(dst, from)
	}
	c := s.info.Channels
	s.blocks = slices.Grow(s.blocks[:0], len(dst)*c)[:len(dst)*c]
	if err := s.decoder.Read(s.blocks, from); err != nil {
		return err
	}
	for i := range dst {
		frame := s.blocks[i*c:][:c]
		sum := frame[0]
		for _, x := range frame[1:] {
			sum += x
		}
		dst[i] = sum / float32(c)
	}
	return nil
}

// planar puts the channels of a waveform one after the other.
func (s *sound) planar(wave []float32, channels int) []float32 {
	if channels == 1 {
		return wave
	}
	n := len(wave) / channels
	s.wide = slices.Grow(s.wide[:0], len(wave))[:len(wave)]
	for c := range channels {
		plane := s.wide[c*n:][:n]
		for i := range plane {
			plane[i] = wave[i*channels+c]
		}
	}
	return s.wide
}

// decoders are those of one goroutine, by their formats.
type decoders struct {
	formats []Format
	made    []Decoder
	head    [64]byte
}

// find is the decoder of a file, and the name of its format.
func (d *decoders) find(file io.ReaderAt, size int64) (Decoder, string, error) {
	d.made = slices.Grow(d.made, len(d.formats))[:len(d.formats)]
	head, err := d.begin(file, size, 0)
	if at := tagEnd(head); err == nil && at > 0 && at < size {
		if head, err = d.begin(file, size, at); err == nil {
			if found, name := d.match(head); found != nil && !isProcess(found) {
				return found, name, nil
			}
			head, err = d.begin(file, size, 0)
		}
	}
	if err != nil {
		return nil, "", err
	}
	switch found, name := d.match(head); {
	case found == nil:
		return nil, "", unread(nameOf(head))
	case isProcess(found):
		return found, cmp.Or(kindOf(head), name), nil
	default:
		return found, name, nil
	}
}

// match is the decoder of files that begin so, or nil.
func (d *decoders) match(head []byte) (Decoder, string) {
	for k, f := range d.formats {
		if f.Is(head) {
			return d.decoder(k), f.Name
		}
	}
	return nil, ""
}

// decoder is that of format k.
func (d *decoders) decoder(k int) Decoder {
	if d.made[k] == nil {
		d.made[k] = d.formats[k].New()
	}
	return d.made[k]
}

// begin reads up to 64 bytes.
func (d *decoders) begin(file io.ReaderAt, size, at int64) ([]byte, error) {
	head := d.head[:max(min(size-at, int64(len(d.head))), 0)]
	return head, files.ReadFull(file, head, at)
}

// tagEnd is the length of the ID3 tag with which a file begins, or 0.
func tagEnd(head []byte) int64 {
	if len(head) < 10 || string(head[:3]) != "ID3" {
		return 0
	}
	n := int64(0)
	for _, b := range head[6:10] {
		n = n<<7 | int64(b&0x7f)
	}
	return 10 + n
}

// unread is the error of a file in a format without a decoder. It is an errors.ErrUnsupported.
type unread string

func (u unread) Error() string { return string(u) }

// Is makes it an errors.ErrUnsupported.
func (u unread) Is(target error) bool { return target == errors.ErrUnsupported }

// others are the beginnings of files of formats that this package does not read.
var others = []struct {
	at          int
	magic, name string
}{
	{0, "ID3", "MP3"},
	{0, "\xff\xfb", "MP3"},
	{0, "\xff\xfa", "MP3"},
	{0, "\xff\xf3", "MP3"},
	{28, "\x01vorbis", "Ogg Vorbis"},
	{28, "OpusHead", "Ogg Opus"},
	{0, "OggS", "Ogg"},
	{0, "RIFX", "WAV with big-endian numbers"},
	{0, "RIFF", "RIFF, but not WAV"},
	{0, "FORM", "AIFF"},
	{0, ".snd", "Sun AU"},
	{0, "caff", "Core Audio Format"},
	{4, "ftyp", "MP4"},
	{0, "\x1a\x45\xdf\xa3", "WebM or Matroska"},
	{0, "wvpk", "WavPack"},
	{0, "MAC ", "Monkey's Audio"},
	{0, "#!AMR", "AMR"},
	{0, "riff\x2e\x91\xcf\x11", "Wave64"},
}

// kindOf is the name of the format of a file that begins so, or "".
func kindOf(head []byte) string {
	for _, o := range others {
		if o.at < len(head) && strings.HasPrefix(string(head[o.at:]), o.magic) {
			return o.name
		}
	}
	return ""
}

// nameOf is what can be said of a file that no decoder takes.
func nameOf(head []byte) string {
	if len(head) == 0 {
		return "the file is empty"
	}
	if name := kindOf(head); name != "" {
		return "cannot read " + name + " (see FFmpeg)"
	}
	return fmt.Sprintf("unknown format: the file begins with % x", head[:min(len(head), 8)])
}
