// Package audio makes datasets of sound: it decodes WAV and FLAC files and raw PCM, whole or in part, to waveforms of float32.
// With [FFmpeg] the programs of that name decode all other formats: MP3, Ogg Vorbis, Opus, AAC and more.
//
//	files, err := audio.Folder(os.DirFS("speech"))             // a folder per class
//	clips, err := audio.Waveforms(files, audio.RandomCrop(48000)) // "waveform" float32 (48000), "label", "rate"
//
// [Waveforms] takes any dataset that holds the bytes of files: those of shards and Parquet files too. Of a local file it
// reads only the part that is wanted. [Open] is for single files, [Decode] for clips in memory.
//
// Values of WAV, FLAC and PCM are those of libsndfile and torchaudio, bit for bit: integers of b bits are divided by 2^(b-1), so that they
// are from -1 to 1, and floats stay as they are.
package audio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// Folder makes a dataset of the sound files in fsys, with a folder per class, as [dataset.ImageFolder] does of images. A
// sample has the fields "audio", ragged uint8, the file, and "label", int64. [Waveforms] decodes it.
//
// Sound files are those named .wav, .wave, .flac, .mp3, .ogg, .oga, .opus, .m4a, .aac or .webm, in lower or upper case; use [dataset.Files]
// for others. All but the first three need [FFmpeg].
func Folder(fsys fs.FS, options ...dataset.FolderOption) (*dataset.Folder, error) {
	return dataset.Files(fsys, "audio", []string{".wav", ".wave", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".webm"}, options...)
}

// Clips is a dataset of decoded sound. [Waveforms] makes it.
type Clips struct {
	dataset.Wrap // of the dataset of files
	config
	at   int          // index of the field, in both specs
	spec dataset.Spec // with the waveforms

	windows []window // if a sample is one; then all files are known
	files   []Info
	every   [2]time.Duration // how long a window is, and what lies between two beginnings

	lengths sync.Map // by sample: what FFmpeg found in files that are not held as a whole, each a found
}

// A found is what a file of that many bytes is known to be.
type found struct {
	size int64
	info Info
}

// Waveforms is ds with its field "audio" decoded, which is ragged uint8 and holds sound files of any format. In its place is
// "waveform", float32: ragged, with as many frames as the file has, or of fixed length with [RandomCrop] or [CenterCrop]. A
// frame is one value per channel. One channel gives the shape (n), and several (n, channels): see [Mono] and
// [Channels]. A last field "rate", int64, has the frames per second of the file. All other fields stay as they are.
//
// A damaged file is an error that names the byte. That of a format without a decoder ([FFmpeg], [Formats]) wraps [errors.ErrUnsupported].
func Waveforms(ds dataset.Dataset, options ...Option) (*Clips, error) {
	c := newConfig(options)
	if ds == nil {
		return nil, errors.New("audio: Waveforms: the dataset is nil")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.one = c.step == nil && !c.mono && c.channels == 0
	spec := slices.Clone(ds.Spec())
	k := spec.Index(c.field)
	switch {
	case k < 0:
		return nil, fmt.Errorf("audio: Waveforms: no field %q: the dataset has %v (Field names another one)", c.field, spec)
	case spec[k].Dtype != dataset.Uint8 || !spec[k].Ragged || len(spec[k].Shape) > 0:
		return nil, fmt.Errorf("audio: Waveforms: field %v: want files, as ragged uint8", spec[k])
	}
	spec[k] = c.waveform()
	spec = append(spec, dataset.Field{Name: "rate", Dtype: dataset.Int64})
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("audio: Waveforms: %w", err)
	}
	return &Clips{Wrap: dataset.Wrap{Dataset: ds}, config: c, at: k, spec: spec}, nil
}

// waveform is the field of the result.
func (c *config) waveform() dataset.Field {
	if c.step != nil {
		return c.step.Field()
	}
	f := dataset.Field{Name: "waveform", Dtype: dataset.Float32, Ragged: c.frames == 0}
	if !f.Ragged {
		f.Shape = dataset.Shape{c.frames}
	}
	if n := cmp.Or(c.channels, 1); n > 1 {
		f.Shape = append(f.Shape, n)
	}
	return f
}

// Spec is that of the dataset of files, with the waveforms in place of the files, and the field "rate".
func (c *Clips) Spec() dataset.Spec { return c.spec }

// String says what is decoded to what.
func (c *Clips) String() string {
	names := make([]string, len(c.formats))
	for i, f := range c.formats {
		names[i] = f.Name
	}
	text := fmt.Sprintf("%v → %v\n  decode    %s", c.Dataset.Spec()[c.at], c.spec[c.at], strings.Join(names, ", "))
	switch {
	case c.frames > 0 && c.random:
		text += fmt.Sprintf("\n  crop      %d frames, from a random one on", c.frames)
	case c.frames > 0:
		text += fmt.Sprintf("\n  crop      %d frames in the centre", c.frames)
	case c.windows != nil:
		text += fmt.Sprintf("\n  windows   %v, every %v", c.every[0], c.every[1])
	}
	if c.step != nil {
		text += fmt.Sprintf("\n  apply     %v", c.step)
	}
	return text
}

// Open makes a Reader for one goroutine. Readers share no memory.
func (c *Clips) Open() (dataset.Reader, error) {
	files := c.Dataset.Spec()
	r := &reader{Clips: c, input: dataset.NewCell(files[c.at]), cells: make([]dataset.Cell, len(files))}
	r.decoders.formats = c.formats
	if c.step != nil {
		apply, err := c.step.Open()
		if err != nil {
			return nil, err
		}
		r.apply = apply
	}
	inner, err := c.Dataset.Open()
	if err != nil {
		return nil, err
	}
	r.inner = inner
	r.parts, _ = inner.(dataset.PartReader)
	return r, nil
}

// Infos reads the headers of all files, several at a time, and decodes nothing: their lengths are those that
// sampler.ByLength asks for. Of what is no local file, the whole sample is read. With [FFmpeg] a program runs for every other file, as its
// documentation says. Those of [Clips.Windows] have the windows' lengths, and are known.
func (c *Clips) Infos(ctx context.Context) (_ []Info, err error) {
	if c.windows != nil {
		return c.windowInfos(), nil
	}
	if c.Len() < 0 {
		return nil, errors.New("audio: Infos: the length of the dataset is unknown")
	}
	infos := make([]Info, c.Len())
	free := make(chan *reader, files.Scanners) // never blocks: there are as many places as goroutines
	for range cap(free) {
		free <- nil
	}
	defer func() {
		for range cap(free) {
			if r := <-free; r != nil {
				err = errors.Join(err, r.Close())
			}
		}
	}()
	err = files.Scan(len(infos), cap(free), func(i int) error {
		r := <-free
		defer func() { free <- r }()
		if err := ctx.Err(); err != nil {
			return err
		}
		if r == nil {
			opened, err := c.Open()
			if err != nil {
				return err
			}
			r = opened.(*reader)
			r.slot = dataset.NewSlot(c.spec...)
		}
		info, err := r.open(ctx, i, r.slot)
		if err != nil {
			return c.sampleError(i, err)
		}
		infos[i] = info
		return nil
	})
	return infos, err
}

// sampleError says which sample err is about.
func (c *Clips) sampleError(i int, err error) error {
	if name := c.Name(i); name != "" {
		return fmt.Errorf("audio: sample %d (%s): %w", i, name, err)
	}
	return fmt.Errorf("audio: sample %d: %w", i, err)
}

// A reader decodes samples, for one worker.
type reader struct {
	*Clips
	inner    dataset.Reader
	parts    dataset.PartReader // inner, if it is one
	cells    []dataset.Cell     // of the inner slot
	input    dataset.Cell       // what the inner dataset places
	memory   bytes.Reader       // the input, where it is in memory
	decoders decoders
	sound    sound
	apply    func(dst dataset.Slot, wave []float32, channels, rate int) error
	slot     dataset.Slot // of Infos
}

func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	info, err := r.open(ctx, i, dst)
	if err != nil {
		return err
	}
	from, n, err := r.part(info, i, dst)
	if err != nil {
		return err
	}
	out := target{slot: dst.Fields(r.at, r.at+1), ragged: r.frames == 0}
	if r.step != nil {
		out.scratch = &r.sound.wave
	}
	wave, err := r.sound.read(ctx, from, n, out)
	if err != nil {
		r.lengths.Delete(i) // the file may be another one
		return fmt.Errorf("audio: %s: %w", info.Format, err)
	}
	dataset.Set(dst, len(r.cells), int64(info.Rate))
	if r.windows != nil {
		dataset.Set(dst, len(r.cells)+1, float64(from)/float64(info.Rate))
	}
	if r.step == nil {
		return nil
	}
	dst.Stage(stageApply)
	channels := r.sound.channels
	return r.apply(out.slot, r.sound.planar(wave, channels), channels, info.Rate)
}

// stageApply lasts while a Step works.
const stageApply = "apply"

// part is the frames of a file that the sample has, some of which may lie beyond its end. It draws once if they are random.
func (r *reader) part(info Info, i int, dst dataset.Slot) (from, n int64, err error) {
	n = int64(r.frames)
	switch rest := info.Frames - n; {
	case r.windows != nil:
		w := r.windows[i]
		if w.from+w.n > info.Frames {
			err = fmt.Errorf("audio: the file has %d frames, and had %d when Windows was called", info.Frames, r.files[w.file].Frames)
		}
		return w.from, w.n, err
	case n == 0:
		return 0, info.Frames, nil
	case r.random:
		return dst.Rand().Int64N(max(rest, 0) + 1), n, nil
	default:
		return max(rest, 0) / 2, n, nil
	}
}

// open lets the underlying dataset place its fields, and reads the header of the file.
func (r *reader) open(ctx context.Context, i int, dst dataset.Slot) (Info, error) {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	r.cells[r.at] = r.input
	inner := dst.With(r.cells)
	var (
		n     int
		parts io.ReaderAt
		err   error
	)
	if r.parts != nil {
		n, parts, err = r.parts.PlaceParts(ctx, i, r.at, inner)
	} else {
		err = r.inner.Place(ctx, i, inner)
	}
	if err != nil {
		return Info{}, err
	}
	if parts == nil {
		r.memory.Reset(r.input.Bytes())
		parts, n = &r.memory, r.memory.Len()
	}
	known := r.known(i, int64(n))
	dst.Stage(dataset.StageDecode)
	err = r.sound.open(ctx, &r.decoders, &r.config, parts, int64(n), known)
	if err != nil {
		return Info{}, fmt.Errorf("audio: %w", err)
	}
	if p, ok := r.sound.decoder.(*process); ok && known == nil && !p.whole && r.Len() >= 0 {
		r.lengths.Store(i, found{int64(n), r.sound.info})
	}
	return r.sound.info, nil
}

// known is what is known of the file of sample i, or nil.
func (r *reader) known(i int, size int64) *Info {
	if r.windows != nil {
		return &r.files[r.windows[i].file]
	}
	if !r.ffmpeg {
		return nil
	}
	if f, ok := r.lengths.Load(i); ok && f.(found).size == size {
		info := f.(found).info
		return &info
	}
	return nil
}
