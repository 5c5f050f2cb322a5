package audio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/ffmpeg"
)

// demuxers are the formats of files that FFmpeg may open, by its names: those that hold sound, and none that refers to other files.
const demuxers = "mp3,ogg,mov,matroska,webm,aac,flac,wav,w64,aiff,au,caf,amr,amrnb,amrwb,asf,ape,wv,tta,tak,mpc,mpc8,ac3,eac3,dts,truehd," +
	"mpegts,mpeg,flv,avi,oma,shn,nistsphere,voc,ircam,sox,loas,dsf,aptx,sbc"

// ffmpegFormat has the programs decode what they can.
func ffmpegFormat(probe, decode ffmpeg.Program) Format {
	return Format{
		Name: "FFmpeg",
		Is:   func(head []byte) bool { return len(head) > 0 },
		New:  func() Decoder { return &process{probe: probe, decode: decode, small: smallFile} },
	}
}

const (
	// smallFile is how many bytes a file has at most that is decoded at once when it is opened. To start a program takes longer than to decode
	// a minute of sound, so a second one that reads the packets before would take longer than it saves.
	smallFile = 1 << 20
	// mostWhole is how many bytes of values such a file has at most. Of others only the length is kept.
	mostWhole = 16 << 20
)

// A process is the decoder of a file that FFmpeg's programs read.
type process struct {
	probe, decode ffmpeg.Program
	small         int64 // bytes of a file that is decoded when it is opened
	file          io.ReaderAt
	size          int64
	info          Info

	whole    bool   // values holds all of the file
	values   []byte // a WAV file of float32, as ffmpeg writes it
	block    []byte
	waveform wav // reads values
	memory   bytes.Reader

	out io.Reader // of the program that decodes, while it runs
	at  int64     // the frame that it gives next
}

func isProcess(d Decoder) bool {
	_, ok := d.(*process)
	return ok
}

// Open makes a process a Decoder.
func (p *process) Open(file io.ReaderAt, size int64) (Info, error) {
	return p.open(context.Background(), file, size)
}

// open decodes a small file. Of a large one it reads the packets, and decodes it where these do not say how many frames there are.
func (p *process) open(ctx context.Context, file io.ReaderAt, size int64) (_ Info, err error) {
	p.file, p.size, p.info, p.whole = file, size, Info{}, false
	source, err := ffmpeg.Hold(file, size)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if size <= p.small {
		err = p.decodeSmall(ctx, source)
	} else {
		err = p.openLarge(ctx, source)
	}
	return p.info, err
}

// known is open for a file of which all is known that open would find.
func (p *process) known(file io.ReaderAt, size int64, info Info) {
	p.file, p.size, p.info, p.whole = file, size, info, false
}

// decodeSmall decodes all of a file, and keeps its values if they are not too many.
func (p *process) decodeSmall(ctx context.Context, source *ffmpeg.Source) error {
	p.values = p.values[:0]
	total := int64(0)
	err := p.decodeAll(ctx, source, "wav", func(block []byte) error {
		if total += int64(len(block)); len(p.values) < mostWhole {
			p.values = append(p.values, block...)
		}
		if total > 4*maxValues {
			return fmt.Errorf("more than %d values in a file of %d bytes", maxValues, p.size)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.memory.Reset(p.values)
	info, err := p.waveform.Open(&p.memory, int64(len(p.values)))
	if err != nil {
		return fmt.Errorf("what %s wrote: %w", p.decode.Name, err)
	}
	p.info = Info{Rate: info.Rate, Channels: info.Channels, Frames: (total - p.waveform.data) / 4 / int64(info.Channels)}
	p.whole = p.info.Frames == info.Frames
	return nil
}

// openLarge reads the packets of a file.
func (p *process) openLarge(ctx context.Context, source *ffmpeg.Source) error {
	var found packets
	const entries = "packet=duration:packet_side_data=skip_samples,discard_padding:stream=codec_name,sample_rate,channels,time_base"
	args := ffmpeg.Probe("a:0", entries, source.Path(), demuxers)
	err := p.probe.Run(ctx, source, args, func(out io.Reader) error { return found.read(out, p.size) })
	if err != nil {
		return err
	}
	if found.stream == nil {
		return fmt.Errorf("%s: there is no sound in it", p.probe.Name)
	}
	p.info = Info{Rate: found.number("sample_rate"), Channels: found.number("channels")}
	if p.info.Rate < 1 || p.info.Channels < 1 {
		return fmt.Errorf("%s: %s at %d Hz", p.probe.Name, channels(p.info.Channels), p.info.Rate)
	}
	n, known := found.frames(p.info.Rate)
	if !known {
		n, err = p.count(ctx, source)
	}
	p.info.Frames = n
	return err
}

// packets are what ffprobe says of those of a file.
type packets struct {
	stream  map[string]string
	n       int64
	length  int64 // of each but the last one, in units of time, or -1 if they differ
	last    int64 // of the last one
	padding int64 // frames at its end that are not sound
	left    int64 // all frames that are not sound
}

// mostFrames is more than any file has.
const mostFrames = 1 << 40

// read reads the lines of ffprobe, of which there are fewer than a file of that size has bytes.
func (p *packets) read(out io.Reader, size int64) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		values := ffmpeg.Values(lines.Text())
		switch {
		case values[""] == "packet":
			if p.n++; p.n > size {
				return fmt.Errorf("more packets than the file's %d bytes", size)
			}
			if p.n > 1 && p.last != p.length {
				p.length = -1
			}
			n, err := strconv.ParseInt(values["duration"], 10, 64)
			if err != nil {
				n = -1
			}
			if p.n == 1 {
				p.length = n
			}
			p.last = n
			p.padding, _ = strconv.ParseInt(values["discard_padding"], 10, 64)
			skipped, _ := strconv.ParseInt(values["skip_samples"], 10, 64)
			if p.left += skipped + p.padding; min(skipped, p.padding) < 0 || max(skipped, p.padding, p.left) > mostFrames {
				return fmt.Errorf("packet %d: %d and %d frames that are no sound", p.n-1, skipped, p.padding)
			}
		case values["codec_name"] != "" && p.stream == nil:
			p.stream = values
		}
	}
	return lines.Err()
}

// number is one of those of the stream.
func (p *packets) number(name string) int {
	n, err := strconv.ParseInt(p.stream[name], 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// frames is how many there are, if packets say so: where all have as many, the unit of time is a part of a frame and not a millisecond, and what the last
// one has less than the others is what its side data takes away. If it is only a shorter time, versions of FFmpeg differ in what they decode.
func (p *packets) frames(rate int) (n int64, known bool) {
	num, den, _ := strings.Cut(p.stream["time_base"], "/")
	b, err := strconv.ParseInt(den, 10, 32)
	if p.n == 0 || num != "1" || err != nil || b < 1 || b%int64(rate) != 0 || !slices.Contains([]string{"mp3", "opus", "aac"}, p.stream["codec_name"]) {
		return 0, false
	}
	units := b / int64(rate)
	each := p.length / units
	if p.length < 1 || p.length%units != 0 || each > mostFrames/p.n || p.last != p.length && p.last+p.padding*units != p.length {
		return 0, false
	}
	n = p.n*each - p.left
	return n, n >= 0
}

// count decodes the file to find how many frames it has.
func (p *process) count(ctx context.Context, source *ffmpeg.Source) (n int64, err error) {
	frame := 4 * int64(p.info.Channels)
	err = p.decodeAll(ctx, source, "f32le", func(block []byte) error {
		if n += int64(len(block)); n/frame > maxCount {
			return fmt.Errorf("the packets do not say how many frames there are, and there are more than %d", maxCount)
		}
		return nil
	})
	return n / frame, err
}

// decodeAll calls take with all that ffmpeg makes of the file, block by block.
func (p *process) decodeAll(ctx context.Context, source *ffmpeg.Source, format string, take func(block []byte) error) error {
	p.block = slices.Grow(p.block[:0], blockBytes)[:blockBytes]
	return p.decode.Run(ctx, source, p.args(source, 0, math.MaxInt64, format), func(out io.Reader) error {
		for {
			n, err := out.Read(p.block)
			if wrong := take(p.block[:n]); wrong != nil {
				return wrong
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

// args are those of ffmpeg to write frames, as float32 in a WAV file or without a header. It decodes from the beginning on, because what
// most decoders make of a packet depends on those before it.
func (p *process) args(source *ffmpeg.Source, from, to int64, format string) []string {
	args := append([]string{"-nostdin", "-hide_banner", "-v", "error", "-xerror", "-threads", "1", "-filter_threads", "1", "-reinit_filter", "0"}, ffmpeg.Input(source.Path(), demuxers)...)
	var part []string
	if from > 0 {
		part = append(part, fmt.Sprintf("start_sample=%d", from))
	}
	if to < p.info.Frames {
		part = append(part, fmt.Sprintf("end_sample=%d", to))
	}
	filters := "asetpts=N/SR/TB" // where one recording follows another in a file, times begin anew, which a WAV file does not take
	if part != nil {
		filters = "atrim=" + strings.Join(part, ":") + "," + filters
	}
	return append(args, "-map", "0:a:0", "-af", filters, "-c:a", "pcm_f32le", "-f", format, "pipe:1")
}

// run calls read, which reads n frames from number from on. Meanwhile ffmpeg decodes them, unless they are there.
func (p *process) run(ctx context.Context, from, n int64, read func() error) (err error) {
	if p.whole {
		return read()
	}
	source, err := ffmpeg.Hold(p.file, p.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	return p.decode.Run(ctx, source, p.args(source, from, from+n, "f32le"), func(out io.Reader) error {
		p.out, p.at = out, from
		defer func() { p.out = nil }()
		if err := read(); err != nil {
			return err
		}
		if k, err := io.ReadFull(out, make([]byte, 1)); k > 0 {
			return fmt.Errorf("it has more than the %d frames that its packets say", p.info.Frames)
		} else if err != io.EOF {
			return err
		}
		return nil
	})
}

// Read reads what the program writes, or has written.
func (p *process) Read(dst []float32, from int64) error {
	if p.whole {
		return p.waveform.Read(dst, from)
	}
	if p.out == nil || from != p.at {
		return fmt.Errorf("no program decodes frame %d", from)
	}
	values := dense.Bytes(dst)
	n, err := io.ReadFull(p.out, values)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("file ended after %d of %d frames: %w", from+int64(n/4/p.info.Channels), p.info.Frames, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	if !bulk.LittleEndian() {
		bulk.Swap(values, 4)
	}
	p.at += int64(len(dst) / p.info.Channels)
	return nil
}
