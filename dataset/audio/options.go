package audio

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/ffmpeg"
)

// An Option changes what [Waveforms], [Open] and [Decode] do. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	field     string
	formats   []Format
	channels  int  // 0 if not set
	mono      bool // channels are averaged
	one       bool // no option says how many there may be
	rate      int  // 0 for any
	frames    int  // 0 for all
	random    bool // which frames these are
	cropped   bool // frames was set
	maxFrames int64
	ffmpeg    bool
	timeout   time.Duration // of each of its programs
	step      Step
	errs      []error
}

func newConfig(options []Option) config {
	c := config{field: "audio", formats: []Format{wavFormat, flacFormat}, maxFrames: 1 << 26, timeout: ffmpeg.DefaultLimit}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if c.ffmpeg {
		c.formats = append(c.formats, c.programs())
	}
	return c
}

// programs is the format of what FFmpeg decodes.
func (c *config) programs() Format {
	probe, err := ffmpeg.Find("ffprobe", c.timeout)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("FFmpeg: %w", err))
	}
	decode, err := ffmpeg.Find("ffmpeg", c.timeout)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("FFmpeg: %w", err))
	}
	return ffmpegFormat(probe, decode)
}

// check reports everything that is wrong with the options.
func (c *config) check() error {
	errs := c.errs
	if c.mono && c.channels > 1 {
		errs = append(errs, fmt.Errorf("Mono and Channels(%d): want one of them", c.channels))
	}
	if c.maxFrames < 1 {
		errs = append(errs, fmt.Errorf("MaxFrames(%d): want 1 or more", c.maxFrames))
	}
	if c.timeout <= 0 {
		errs = append(errs, fmt.Errorf("Timeout(%v): want more than 0", c.timeout))
	}
	if c.cropped && (c.frames < 1 || int64(c.frames) > c.maxFrames) {
		errs = append(errs, fmt.Errorf("a crop of %d frames: want 1 to MaxFrames(%d)", c.frames, c.maxFrames))
	}
	if len(errs) > 0 {
		return fmt.Errorf("audio: %w", errors.Join(errs...))
	}
	return nil
}

// maxChannels is what the header of a WAV file can say.
const maxChannels = 1<<16 - 1

// Field names the field of ds that holds the files, if it is not "audio": in WebDataset it is their extension.
func Field(name string) Option { return Option{func(c *config) { c.field = name }} }

// Mono makes one channel of several: the mean of their values, as librosa's to_mono and torch's mean do.
func Mono() Option { return Option{func(c *config) { c.mono = true }} }

// Channels sets how many channels files have, if it is not one. A file with another number is an error.
func Channels(n int) Option {
	return Option{func(c *config) {
		if c.channels = n; n < 1 || n > maxChannels {
			c.errs = append(c.errs, fmt.Errorf("Channels(%d): want 1 to %d", n, maxChannels))
		}
	}}
}

// Rate sets how many frames per second files have. A file with another rate is an error. Without it, all rates are taken
// as they are, and nothing resamples them but a step ([Apply]).
func Rate(hz int) Option {
	return Option{func(c *config) {
		if c.rate = hz; hz < 1 {
			c.errs = append(c.errs, fmt.Errorf("Rate(%d): want 1 or more", hz))
		}
	}}
}

// RandomCrop takes n frames, from a random one on, and reads no others where the format and the storage allow it. A file with
// fewer is padded with zeros at its end. The place depends only on the loader's seed, the epoch and the sample's place in
// the order, as all random numbers do.
func RandomCrop(n int) Option {
	return Option{func(c *config) { c.frames, c.random, c.cropped = n, true, true }}
}

// CenterCrop takes the n frames in the middle of the file. One with fewer is padded with zeros at its end.
func CenterCrop(n int) Option {
	return Option{func(c *config) { c.frames, c.random, c.cropped = n, false, true }}
}

// MaxFrames sets how many frames of a file may be decoded. More are an error before memory for them is taken. The default
// is 2^26: 70 minutes of 16 kHz, and 256 MiB per channel. The length of files of which a part is read is not limited, but
// where a damaged file must be decoded up to that part.
func MaxFrames(n int64) Option { return Option{func(c *config) { c.maxFrames = n }} }

// FFmpeg has the programs ffmpeg and ffprobe, which must be in PATH, decode all files that no other format takes: MP3, Ogg Vorbis, Opus,
// AAC and whatever else they know, in files with or without pictures, of which the first stream of sound is read. Nothing is resampled, and
// values and lengths are those of the FFmpeg that is installed: torchcodec and torchaudio give the same with the same one.
//
// A file of 1 MiB or less is decoded as a whole by one process, also where a part is wanted, if its values take no more than 16 MiB. Of a larger one
// ffprobe reads the packets, whose lengths add up in MP3, in Ogg Opus and in AAC that is in no container; others are decoded to find how long they are.
// That is done once per file of a dataset. Then ffmpeg decodes the part, from the beginning of the file on, so that it has the bits that it has in the whole.
//
// Each process decodes with one thread, opens the one file alone, and has ended when the sample is there, or its error: see [Timeout]. What is in memory, as local
// files of 16 KiB or less are, too, is copied to a temporary file.
func FFmpeg() Option { return Option{func(c *config) { c.ffmpeg = true }} }

// Timeout is how long each process of [FFmpeg] may take. The default is 10 minutes. A program that takes longer is killed, and is an error of the
// sample.
func Timeout(d time.Duration) Option { return Option{func(c *config) { c.timeout = d }} }

// Formats adds decoders of other formats. A later one goes before an earlier one, and before those of this package.
func Formats(formats ...Format) Option {
	return Option{func(c *config) {
		for _, f := range formats {
			if f.Is == nil || f.New == nil {
				c.errs = append(c.errs, fmt.Errorf("Formats: %q: want the functions Is and New", f.Name))
				continue
			}
			c.formats = append([]Format{f}, c.formats...)
		}
	}}
}

// Raw says that all files are values without a header: frames of that many channels, whose encoding has FFmpeg's name: u8, s8,
// s16le, s24le, s32le, f32le, f64le, those with be for le, alaw or mulaw.
func Raw(encoding string, rate, channels int) Option {
	return Option{func(c *config) {
		r := &raw{info: Info{Format: "raw", Encoding: encoding, Rate: rate, Channels: channels}}
		if r.enc = encodingOf(encoding); r.enc == nil {
			c.errs = append(c.errs, fmt.Errorf("Raw(%q, %d, %d): no encoding has this name: want %s", encoding, rate, channels, encodingNames()))
			return
		}
		if rate < 1 || channels < 1 || channels > maxChannels {
			c.errs = append(c.errs, fmt.Errorf("Raw(%q, %d, %d): want a rate of 1 or more, and 1 to %d channels", encoding, rate, channels, maxChannels))
			return
		}
		r.info.Bits = 8 * r.enc.size
		c.formats = []Format{{Name: "raw", Is: func([]byte) bool { return true }, New: func() Decoder { return &pcm{raw: r} }}}
	}}
}

// Apply lets a step make another field of each waveform, in whose place it stands: features, or a waveform of another rate.
// The steps of package transform/audio are such.
func Apply(s Step) Option {
	return Option{func(c *config) {
		if s == nil {
			c.errs = append(c.errs, errors.New("Apply(nil): want a step"))
		}
		c.step = s
	}}
}

// A Step makes a field of every waveform.
type Step interface {
	// Field is what it makes.
	Field() dataset.Field
	// Open makes what one goroutine needs: it is called once per Reader, and the function for every sample.
	//
	// dst is a slot of that field alone, and has the sample's random numbers. wave holds one channel after the other, as many
	// as the file has, unless [Mono] or [Channels] is given. The function may change it, and must not keep it. rate is
	// the file's.
	Open() (func(dst dataset.Slot, wave []float32, channels, rate int) error, error)
}

// A Format is a kind of sound files.
type Format struct {
	Name string // for messages: "FLAC"
	// Is reports whether a file begins with these bytes, of which there are up to 64. If it begins with an ID3 tag, they are
	// those behind it; the Decoder gets the file with the tag.
	Is func(head []byte) bool
	// New makes a decoder.
	New func() Decoder
}

// A Decoder reads one file after the other, for one goroutine. It should keep its memory for the next file.
type Decoder interface {
	// Open reads the header of a file of that many bytes, and what else is needed to know its length, but takes no memory
	// because of what it promises.
	Open(file io.ReaderAt, size int64) (Info, error)
	// Read decodes frames from number from on, as many as dst has room for: len(dst) is a multiple of the channels, whose
	// values stand side by side. The file has that many. Its errors say at which byte the file is damaged.
	Read(dst []float32, from int64) error
}
