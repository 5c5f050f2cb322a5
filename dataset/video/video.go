// Package video reads clips: some frames of a video, or of a folder of frames. A video is decoded by the FFmpeg of the machine, whose programs
// ffmpeg and ffprobe must be in PATH; there is no codec here.
//
// A sample is a clip. Its field "image" holds the frames as one record, which transform.Images reads with
// transform.UniformTemporalSubsample: all frames get the same random crop, flip and colours.
//
//	clips, err := video.Open(ctx, "kinetics/train", video.ClipsAtRandomIndices(1, 16, video.NumIndicesBetweenFrames(4)), video.Index("train.index"))
//	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(16), transform.Train(224)) // (16, 3, 224, 224)
package video

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"sort"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/ffmpeg"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/videofile"
)

// A Dataset is a dataset of clips. [Open] and [Frames] make it.
type Dataset struct {
	spec     dataset.Spec
	sampling Sampling
	names    []string // of the videos
	lines    []timeline
	wrong    []error // of every video: why it has no clips, each of which is this error; or nil
	ends     []int   // of every video, in clips
	labels   []int   // of every video; nil without classes
	classes  []string
	source   source
}

// A source opens readers of the frames of videos.
type source interface{ open() (frameReader, error) }

// A frameReader reads frames for one worker.
type frameReader interface {
	// read writes the clip of these frames of a video, which may repeat, to the field of the clip.
	read(ctx context.Context, video int, of []int, dst dataset.Slot) error
	close() error
}

// An Option is an option of [Open].
type Option struct{ set func(*config) }

type config struct {
	index   string
	flat    bool
	timeout time.Duration
}

// Index keeps the index in a file of the operating system. Open reads only the videos that are new in it, or have another size or time than they
// had; also after an Open that ended with an error. Without this option every Open reads all videos.
func Index(path string) Option { return Option{func(c *config) { c.index = path }} }

// NoClasses takes all videos, at any depth, and no labels, as [dataset.NoClasses].
func NoClasses() Option { return Option{func(c *config) { c.flat = true }} }

// Timeout is how long ffmpeg may take for a clip (or for each 512 runs of frames of a long one), or for all clips that share a process, and ffprobe for a
// video. The default is 10 minutes. A program that takes longer is killed, and is an error of the sample.
func Timeout(d time.Duration) Option { return Option{func(c *config) { c.timeout = d }} }

// extensions are those of containers that ffmpeg may open here.
var extensions = []string{".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".flv", ".ogv", ".wmv", ".3gp", ".mxf"}

// Open makes a dataset of clips of the videos in a folder of the operating system, with a folder per class as [dataset.ImageFolder] has. Videos are
// files named .mp4, .m4v, .mov, .mkv, .webm, .avi, .mpg, .mpeg, .ts, .mts, .m2ts, .flv, .ogv, .wmv, .3gp or .mxf. It reads the packets of each,
// on all processors, to know when each frame is shown and from which frames a decoder can begin: see [Index].
//
// The clips of a video that cannot be read, or from which no clip can be taken, are errors when they are read, which name it: loader.Skip leaves them
// out. Of a video of unknown length there is one, if the length says how many. It is an error of Open if there is no other video.
//
// A sample has the fields "image", ragged uint8, the frames of a clip; "seconds", float64 of shape (frames), when each is shown; and "label", int64,
// the class. Frames are in RGB as ffmpeg's scaler makes them with sws_flags=bicubic, of the size in which they are stored: not turned as the file
// may ask for.
//
// An ffmpeg process decodes a clip. It begins at the last frame before the clip from which a decoder can begin, and gives those frames whose times are
// the clip's. It uses one thread, opens local files alone, and has ended when the sample is there, or its error.
//
// Clips that a worker places together share a process, because its start takes longer than a short clip: up to 16, of at most 16 MiB each. If it fails, each of
// them has its own, and only what fails there is an error. On Windows each has its own at once.
func Open(ctx context.Context, root string, s Sampling, options ...Option) (*Dataset, error) {
	c := config{timeout: ffmpeg.DefaultLimit}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	d, err := open(ctx, root, s, c)
	if err != nil {
		return nil, fmt.Errorf("video: %w", err)
	}
	return d, nil
}

func open(ctx context.Context, root string, s Sampling, c config) (*Dataset, error) {
	if c.timeout <= 0 {
		return nil, fmt.Errorf("Timeout(%v): want more than 0", c.timeout)
	}
	if err := s.mistakes(); err != nil {
		return nil, err
	}
	in, err := videofile.In(root, c.timeout)
	if err != nil {
		return nil, err
	}
	var how []dataset.FolderOption
	if c.flat {
		how = append(how, dataset.NoClasses())
	}
	folder, err := dataset.Files(os.DirFS(root), "image", extensions, how...)
	if err != nil {
		return nil, err
	}
	d := &Dataset{sampling: s, classes: folder.Classes(), labels: folder.Labels()}
	for i := range folder.Len() {
		d.names = append(d.names, folder.Name(i))
	}
	videos, wrong, err := in.Index(ctx, d.names, c.index)
	if err != nil {
		return nil, err
	}
	d.wrong, d.lines = wrong, make([]timeline, len(videos))
	for k, v := range videos {
		if v != nil {
			d.lines[k] = timeline{len(v.Pts), v.Seconds, v.Ends()}
		}
	}
	d.source = &decoders{in, videos}
	return d.finish(true)
}

// Frames makes a dataset of clips of folders of frames: files of one folder, in the order of their names, are a video. Use it with
// [dataset.ImageFolder]. Frames have no times, so clips are those at indices.
//
// A sample has the fields "image", ragged uint8, the files of a clip, and "label", int64, the class, if the folder has classes.
func Frames(folder *dataset.Folder, s Sampling) (*Dataset, error) {
	d, err := framesOf(folder, s)
	if err != nil {
		return nil, fmt.Errorf("video: %w", err)
	}
	return d, nil
}

func framesOf(folder *dataset.Folder, s Sampling) (*Dataset, error) {
	if folder == nil {
		return nil, errors.New("Frames: the folder is nil")
	}
	if err := s.mistakes(); err != nil {
		return nil, err
	}
	f := &folders{folder: folder}
	d := &Dataset{sampling: s, classes: folder.Classes(), source: f}
	labels := folder.Labels()
	for i := range folder.Len() {
		name := path.Dir(folder.Name(i))
		if n := len(d.names); n == 0 || d.names[n-1] != name {
			d.names, f.begins, d.lines = append(d.names, name), append(f.begins, i), append(d.lines, timeline{})
			if labels != nil {
				d.labels = append(d.labels, labels[i])
			}
		}
		d.lines[len(d.lines)-1].n++
	}
	return d.finish(false)
}

// finish counts the clips.
func (d *Dataset) finish(times bool) (*Dataset, error) {
	d.spec = dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}}
	if times {
		d.spec = append(d.spec, dataset.Field{Name: "seconds", Dtype: dataset.Float64, Shape: dataset.Shape{d.sampling.frames}})
	}
	if d.labels != nil {
		d.spec = append(d.spec, dataset.Field{Name: "label", Dtype: dataset.Int64})
	}
	if d.wrong == nil {
		d.wrong = make([]error, len(d.names))
	}
	n, all := 0, true
	for v := range d.lines {
		clips := max(1, d.sampling.clips)
		if d.wrong[v] == nil {
			if some, err := d.sampling.count(&d.lines[v]); err == nil {
				clips, all = some, false
			} else {
				d.wrong[v] = err
			}
		}
		if n > math.MaxInt32-clips {
			return nil, fmt.Errorf("more than %d clips", math.MaxInt32)
		}
		n += clips
		d.ends = append(d.ends, n)
	}
	if all {
		for v, err := range d.wrong {
			d.wrong[v] = fmt.Errorf("%s: %w", d.names[v], err)
		}
		return nil, files.Join(d.wrong)
	}
	return d, nil
}

// Len is the number of clips.
func (d *Dataset) Len() int { return d.ends[len(d.ends)-1] }

// Spec has the fields of a clip: see [Open] and [Frames].
func (d *Dataset) Spec() dataset.Spec { return d.spec }

// Classes are the names of the classes, sorted; a label is an index into them. They are nil without classes.
func (d *Dataset) Classes() []string { return slices.Clone(d.classes) }

// Labels are the classes of all clips, in their order. They are nil without classes.
func (d *Dataset) Labels() []int {
	if d.labels == nil {
		return nil
	}
	labels := make([]int, 0, d.Len())
	for i := range d.Len() {
		v, _ := d.at(i)
		labels = append(labels, d.labels[v])
	}
	return labels
}

// Name is the path of the video of clip i and which of its clips it is, "walk/a.mp4, clip 0", or "" if i is out of range.
func (d *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	v, k := d.at(i)
	return fmt.Sprintf("%s, clip %d", d.names[v], k)
}

// at is the video of clip i, and its number there.
func (d *Dataset) at(i int) (video, clip int) {
	v := sort.SearchInts(d.ends, i+1)
	if v > 0 {
		i -= d.ends[v-1]
	}
	return v, i
}

// Foresee begins to fetch the frames of regular clips before they are read, where that is of use: see [dataset.ForeseeFiles]. Which frames random clips
// have is known only when they are read, and of videos nothing is fetched, because ffmpeg reads local files.
func (d *Dataset) Foresee(f dataset.Future) (stop func()) {
	s, ok := d.source.(*folders)
	if !ok || d.sampling.random {
		return nil
	}
	return dataset.Foresee(s.folder, ahead{f, d, s.begins})
}

// An ahead is the files that clips need.
type ahead struct {
	dataset.Future
	clips  *Dataset
	begins []int // the first file of every video
}

// At appends the files that the clips of a batch read, in the order in which they do.
func (a ahead) At(batch int, dst []int) []int {
	var frames []int
	for _, i := range a.Future.At(batch, nil) {
		if dataset.CheckIndex(i, a.clips.Len()) != nil {
			continue
		}
		v, k := a.clips.at(i)
		var err error
		if frames, err = a.clips.pick(v, k, nil, frames[:0]); err != nil {
			continue // an error of the sample
		}
		slices.Sort(frames)
		for _, f := range slices.Compact(frames) {
			dst = append(dst, a.begins[v]+f)
		}
	}
	return dst
}

// pick appends the frames of clip k of video v. Random gives the random numbers of the sample.
func (d *Dataset) pick(v, k int, random func() *rand.Rand, frames []int) ([]int, error) {
	if err := d.wrong[v]; err != nil {
		return frames, err
	}
	return d.sampling.pick(&d.lines[v], k, random, frames)
}

// Open makes a Reader, which is a [dataset.BatchReader] of videos. It runs at most one ffmpeg at a time.
func (d *Dataset) Open() (dataset.Reader, error) {
	f, err := d.source.open()
	if err != nil {
		return nil, fmt.Errorf("video: %w", err)
	}
	r := reader{Dataset: d, from: f}
	if videos, ok := f.(*decoding); ok && videofile.Together > 1 {
		return &batchReader{reader: r, videos: videos}, nil
	}
	return &r, nil
}

type reader struct {
	*Dataset
	from   frameReader
	frames []int
}

// Place places clip i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	v, k := r.at(i)
	if err := r.place(ctx, v, k, dst); err != nil {
		return fmt.Errorf("video: %s: %w", r.names[v], err)
	}
	return nil
}

func (r *reader) place(ctx context.Context, v, k int, dst dataset.Slot) (err error) {
	if r.frames, err = r.pick(v, k, dst.Rand, r.frames[:0]); err != nil {
		return err
	}
	r.tell(v, dst)
	return r.from.read(ctx, v, r.frames, dst)
}

// tell places what is known of the clip without its frames.
func (r *reader) tell(v int, dst dataset.Slot) {
	f := 1
	if line := &r.lines[v]; line.seconds != nil {
		for j, at := range r.frames {
			dataset.Row[float64](dst, f)[j] = line.seconds(at)
		}
		f++
	}
	if r.labels != nil {
		dataset.Set(dst, f, int64(r.labels[v]))
	}
}

// Close ends the Reader.
func (r *reader) Close() error { return r.from.close() }

// decoders decode videos.
type decoders struct {
	in     *videofile.Folder
	videos []*videofile.File
}

func (d *decoders) open() (frameReader, error) { return &decoding{decoders: d}, nil }

type decoding struct {
	*decoders
	distinct files.Distinct
}

func (d *decoding) read(ctx context.Context, k int, of []int, dst dataset.Slot) error {
	dst.Stage(dataset.StageDecode)
	v := d.videos[k]
	n := begin(&d.distinct, v, of)
	var room []byte
	return d.in.Decode(ctx, videofile.Clip{File: v, Frames: d.distinct.Numbers, To: func(k int) (_ []byte, err error) {
		if room == nil {
			if room, err = d.distinct.Begin(dst.Cell(0).Grow); err != nil {
				return nil, err
			}
		}
		return frame(room, v, n, k), nil
	}})
}

func (d *decoding) close() error { return nil }

// begin begins with a clip of frames of v. A frame has n bytes, with its head.
func begin(to *files.Distinct, v *videofile.File, of []int) (n int) {
	to.Set(of)
	n = len(v.Head()) + v.Pixels()
	for range to.Numbers {
		to.Add(int64(n))
	}
	return n
}

// frame is where the pixels of frame k go, after its head.
func frame(room []byte, v *videofile.File, n, k int) []byte {
	return room[k*n+copy(room[k*n:], v.Head()):]
}

// A batchReader decodes several clips by one process.
type batchReader struct {
	reader
	videos *decoding
	clips  []videofile.Clip
}

// most is how many bytes the frames of a clip have, of those that are decoded together: they are all in memory at once.
const most = 16 << 20

// PlaceBatch places clips. An error does not say which cannot be placed, and may be that they cannot be placed together.
func (r *batchReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	if len(indices) == 1 {
		return r.Place(ctx, indices[0], dst.At(0))
	}
	r.clips = r.clips[:0]
	for k, i := range indices {
		if err := r.add(i, dst.At(k)); err != nil {
			return err
		}
		if len(r.clips) == videofile.Together || k == len(indices)-1 {
			dst.At(k).Stage(dataset.StageDecode)
			if err := r.videos.in.DecodeTogether(ctx, r.clips); err != nil {
				return fmt.Errorf("video: %w", err)
			}
			r.clips = r.clips[:0]
		}
	}
	return nil
}

// add adds clip i to those that are decoded together.
func (r *batchReader) add(i int, dst dataset.Slot) (err error) {
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	n, k := r.at(i)
	if r.frames, err = r.pick(n, k, dst.Rand, r.frames[:0]); err != nil {
		return err
	}
	r.tell(n, dst)
	v, distinct := r.videos.videos[n], &r.videos.distinct
	size := begin(distinct, v, r.frames)
	if len(distinct.Numbers) > most/size {
		return fmt.Errorf("video: %s: the frames of clip %d have more than %d bytes", r.names[n], k, most)
	}
	room, err := distinct.Begin(dst.Cell(0).Grow)
	to := func(k int) ([]byte, error) { return frame(room, v, size, k), nil }
	r.clips = append(r.clips, videofile.Clip{File: v, Frames: slices.Clone(distinct.Numbers), To: to})
	return err
}

// folders read files of frames.
type folders struct {
	folder *dataset.Folder
	begins []int // the first file of every video
}

func (f *folders) open() (frameReader, error) {
	r, err := f.folder.Open()
	if err != nil {
		return nil, err
	}
	return &filesReader{folders: f, inner: r}, nil
}

type filesReader struct {
	*folders
	inner    dataset.Reader
	distinct files.Distinct
	slots    []dataset.Slot // a frame in each
}

func (f *filesReader) read(ctx context.Context, k int, of []int, dst dataset.Slot) error {
	dst.Stage(dataset.StageRead)
	f.distinct.Set(of)
	for i, frame := range f.distinct.Numbers {
		if len(f.slots) == i {
			f.slots = append(f.slots, dataset.NewSlot(f.folder.Spec()...))
		}
		if err := f.inner.Place(ctx, f.begins[k]+frame, f.slots[i]); err != nil {
			return fmt.Errorf("frame %d: %w", frame, err)
		}
		f.distinct.Add(int64(len(f.slots[i].Cell(0).Bytes())))
	}
	room, err := f.distinct.Begin(dst.Cell(0).Grow)
	if err != nil {
		return err
	}
	for i := range f.distinct.Numbers {
		room = room[copy(room, f.slots[i].Cell(0).Bytes()):]
	}
	return nil
}

func (f *filesReader) close() error { return f.inner.Close() }
