package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/penstock-go/penstock/internal/files"
)

// wavFormat is RIFF WAVE: also with more than 4 GiB (RF64, BW64), and with the longer header (WAVE_FORMAT_EXTENSIBLE); a file may
// begin with an ID3 tag.
var wavFormat = Format{
	Name: "WAV",
	Is: func(head []byte) bool {
		return len(head) >= 12 && string(head[8:12]) == "WAVE" && (string(head[:4]) == "RIFF" || string(head[:4]) == "RF64" || string(head[:4]) == "BW64")
	},
	New: func() Decoder { return new(wav) },
}

type wav struct {
	pcm
	scratch [40]byte
}

// unknownSize is what writers say at least if they do not know how many bytes will follow: SoX says this number, FFmpeg
// and others the largest one.
const unknownSize = 0x7ffff000

// Open reads the header: chunks of a name, a length and a content, up to that of the frames.
func (w *wav) Open(file io.ReaderAt, size int64) (Info, error) {
	w.file, w.size, w.enc, w.info, w.data = file, size, nil, Info{Format: "WAV"}, 0
	head := w.scratch[:12]
	if err := files.FillWithin(file, size, head, 0); err != nil {
		return Info{}, err
	}
	start := tagEnd(head)
	if start > 0 {
		if err := files.FillWithin(file, size, head, start); err != nil {
			return Info{}, err
		}
	}
	long, whole := string(head[:4]) != "RIFF", int64(binary.LittleEndian.Uint32(head[4:]))
	frames := int64(-1) // bytes of the frames, as a chunk ds64 says
	for at := start + 12; ; {
		head := w.scratch[:8]
		if at > size-8 {
			return Info{}, fmt.Errorf("no frames: the file ends at byte %d, before a chunk data: %w", size, io.ErrUnexpectedEOF)
		}
		if err := files.FillWithin(file, size, head, at); err != nil {
			return Info{}, err
		}
		name, length := [4]byte(head), int64(binary.LittleEndian.Uint32(head[4:]))
		begin := at + 8
		if string(name[:]) == "data" {
			if w.enc == nil {
				return Info{}, fmt.Errorf("byte %d: a chunk data before any chunk fmt", at)
			}
			if long && length == math.MaxUint32 && frames >= 0 {
				length = frames
			}
			return w.frames(begin, length, start+whole)
		}
		if length > size-begin {
			return Info{}, fmt.Errorf("byte %d: a chunk %q of %d bytes, the file has %d after it: %w", at, string(name[:]), length, size-begin, io.ErrUnexpectedEOF)
		}
		var err error
		switch {
		case string(name[:]) == "fmt ":
			err = w.format(begin, length)
		case string(name[:]) == "ds64" && long:
			frames, err = w.long(begin, length)
		}
		if err != nil {
			return Info{}, err
		}
		at = begin + length + length&1 // a chunk begins at an even byte
	}
}

// long reads how many bytes of frames a file of more than 4 GiB has.
func (w *wav) long(begin, length int64) (int64, error) {
	if length < 24 {
		return 0, fmt.Errorf("byte %d: a chunk ds64 of %d bytes, want 24 or more", begin-8, length)
	}
	b := w.scratch[:24]
	if err := files.FillWithin(w.file, w.size, b, begin); err != nil {
		return 0, err
	}
	frames := binary.LittleEndian.Uint64(b[8:])
	if frames > math.MaxInt64 {
		return 0, fmt.Errorf("byte %d: the frames have %d bytes, more than any file", begin+8, frames)
	}
	return int64(frames), nil
}

// frames is what the header says once the chunk of the frames is found. The whole file should end 8
// bytes behind byte whole.
func (w *wav) frames(begin, length, whole int64) (Info, error) {
	rest := w.size - begin
	unclosed := length == 0 && (whole <= begin-8 || whole >= math.MaxUint32) // its writer never came back to the header
	switch {
	case unclosed, length > rest && length >= unknownSize && length <= math.MaxUint32:
		length = rest
	case length > rest:
		return Info{}, fmt.Errorf("byte %d: a chunk data of %d bytes, the file has %d after it: %w", begin-8, length, rest, io.ErrUnexpectedEOF)
	}
	w.data = begin
	w.info.Frames = length / int64(w.enc.size*w.info.Channels)
	return w.info, nil
}

// Numbers of encodings in a chunk fmt. Those of codecs that compress are named for the error only.
const (
	tagPCM        = 1
	tagFloat      = 3
	tagALaw       = 6
	tagMuLaw      = 7
	tagExtensible = 0xfffe
)

var tags = map[int]string{
	0x0002: "MS ADPCM", 0x0011: "IMA ADPCM", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0050: "MPEG", 0x0055: "MP3",
	0x0161: "Windows Media Audio", 0x00ff: "AAC", 0x674f: "Vorbis", 0x704f: "Opus", 0xf1ac: "FLAC",
}

// subformats are the last 14 bytes of a WAVE_FORMAT_EXTENSIBLE's identifier, whose first two are a tag: Microsoft's, and
// that of ambisonic files.
var subformats = [][]byte{
	{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71},
	{0, 0, 0x21, 0x07, 0xd3, 0x11, 0x86, 0x44, 0xc8, 0xc1, 0xca, 0, 0, 0},
}

// format reads a chunk fmt.
func (w *wav) format(begin, length int64) error {
	if length < 16 {
		return fmt.Errorf("byte %d: a chunk fmt of %d bytes, want 16 or more", begin-8, length)
	}
	b := w.scratch[:min(length, 40)]
	if err := files.FillWithin(w.file, w.size, b, begin); err != nil {
		return err
	}
	word := func(at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }
	tag, align, bits := word(0), word(12), word(14)
	rate := binary.LittleEndian.Uint32(b[4:])
	w.info.Channels, w.info.Rate, w.info.Bits = word(2), int(min(rate, math.MaxInt32)), bits
	if tag == tagExtensible {
		switch {
		case len(b) < 40:
			return fmt.Errorf("byte %d: a chunk fmt of %d bytes, want 40 for WAVE_FORMAT_EXTENSIBLE", begin-8, length)
		case !bytes.Equal(b[26:40], subformats[0]) && !bytes.Equal(b[26:40], subformats[1]):
			return unread(fmt.Sprintf("byte %d: unknown subformat % x", begin+24, b[24:40]))
		}
		tag = word(24)
	}
	name := ""
	switch {
	case tag == tagPCM && bits > 0 && bits <= 32: // the upper bits of 1 to 4 bytes, of which one is unsigned
		name = [...]string{"u8", "s16le", "s24le", "s32le"}[(bits-1)/8]
	case tag == tagFloat && (bits == 32 || bits == 64):
		name = [...]string{"f32le", "f64le"}[bits/64]
	case tag == tagALaw && bits == 8:
		name = "alaw"
	case tag == tagMuLaw && bits == 8:
		name = "mulaw"
	default:
		known := ""
		if tags[tag] != "" {
			known = " (" + tags[tag] + ")"
		}
		return unread(fmt.Sprintf("byte %d: cannot read encoding %#04x%s of %d bits", begin, tag, known, bits))
	}
	w.enc = encodingOf(name)
	w.info.Encoding = w.enc.name
	switch frame := w.info.Channels * w.enc.size; {
	case w.info.Channels == 0:
		return fmt.Errorf("byte %d: no channels", begin+2)
	case rate == 0 || rate > math.MaxInt32:
		return fmt.Errorf("byte %d: %d frames per second", begin+4, rate)
	case align != 0 && align != frame:
		return fmt.Errorf("byte %d: frames of %d bytes, want %d for %s of %s", begin+12, align, frame, channels(w.info.Channels), name)
	}
	return nil
}
