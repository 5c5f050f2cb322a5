// Package lerobot reads datasets of robots in the layout of LeRobot: version 3, with several episodes in a file, and version 2, with a file per episode.
// Videos are decoded by the FFmpeg of the machine, whose programs ffmpeg and ffprobe must be in PATH.
//
//	ds, err := lerobot.Open(ctx, "aloha_mobile_cabinet",
//		lerobot.DeltaTimestamps("observation.images.cam_high", -0.2, -0.1, 0),
//		lerobot.DeltaTimestamps("action", 0, 0.02, 0.04),
//		lerobot.Index("aloha.index"))
//
// A sample is a frame of an episode, with the fields that LeRobotDataset gives it. See [Open].
package lerobot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/videofile"
)

// A Dataset is the frames of episodes, one after the other. [Open] makes it.
type Dataset struct {
	rows     dataset.Dataset // what the Parquet files say of every frame: the fields of hidden, then those of columns
	spec     dataset.Spec
	fields   []field
	around   []int // the frames that a sample needs, relative to its own, sorted
	cameras  []camera
	episodes []episode
	ends     []int // of episodes, in samples
	tasks    []string
	videos   *videofile.Folder
	files    []*videofile.File
	wrong    []error // of every file: why it cannot be read, or nil
	config
}

// A field is where a field of a sample comes from.
type field struct {
	column int   // of rows; -1 if it is not in the Parquet files
	camera int   // -1 if it is no video
	deltas []int // frames, relative to the sample's; nil if it is this one alone
}

// A camera is a feature whose frames are in videos.
type camera struct {
	key           string
	height, width int
}

// An episode is samples that follow each other.
type episode struct {
	number int
	first  int    // its first row in the files, which they call index
	clips  []clip // of every camera
}

// A clip is where an episode is in the videos of a camera.
type clip struct {
	file int
	from float64 // seconds
}

// An Option is an option of [Open]. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	deltas    map[string][]float64
	tolerance float64
	index     string
	numbers   []int // of episodes
	features  []string
	errs      []error
}

// DeltaTimestamps asks for several values of a feature: those at these seconds relative to the sample's frame. They are the first dimension of its
// field. A time before the episode is that of its first frame, and one after it that of the last; the field KEY_is_pad, bool of shape (times), says
// where this is so. Times must be multiples of 1/fps, within [Tolerance]. It is an entry of LeRobot's delta_timestamps.
func DeltaTimestamps(key string, seconds ...float64) Option {
	return Option{func(c *config) {
		if len(seconds) < 1 || len(seconds) > maxDeltas {
			c.errs = append(c.errs, fmt.Errorf("DeltaTimestamps(%q): %d times, want 1 to %d", key, len(seconds), maxDeltas))
		}
		if c.deltas == nil {
			c.deltas = map[string][]float64{}
		}
		c.deltas[key] = slices.Clone(seconds)
	}}
}

const maxDeltas = 1 << 16

// Tolerance is how far the frame of a video may be from the time that the Parquet files say, in seconds, and a time of [DeltaTimestamps] from a
// multiple of 1/fps: LeRobot's tolerance_s. The default is 1e-4.
func Tolerance(seconds float64) Option {
	return Option{func(c *config) {
		c.tolerance = seconds
		if !(seconds >= 0 && seconds <= math.MaxFloat64) {
			c.errs = append(c.errs, fmt.Errorf("Tolerance(%v): want 0 or more", seconds))
		}
	}}
}

// Episodes takes only these episodes, in the order of their numbers.
func Episodes(numbers ...int) Option {
	return Option{func(c *config) { c.numbers = append(make([]int, 0, len(numbers)), numbers...) }}
}

// Features takes only these features: videos that are not among them are not decoded.
func Features(keys ...string) Option {
	return Option{func(c *config) { c.features = append(make([]string, 0, len(keys)), keys...) }}
}

// Index keeps in a file of the operating system when each frame of the videos is shown, as [video.Index] does: an Open reads only videos that are new in
// it, or have changed. It may be the same file for other [Episodes] and [Features]. Without this option every Open reads the packets of all videos.
//
// [video.Index]: https://pkg.go.dev/github.com/penstock-go/penstock/dataset/video#Index
func Index(path string) Option { return Option{func(c *config) { c.index = path }} }

// Open opens a dataset in a folder of the operating system. A sample is a frame, and its fields are the features that meta/info.json lists, in the
// order of their names, and after them the pads of [DeltaTimestamps]:
//
//   - a video is uint8 of shape (height, width, 3), in RGB as [dataset/video] decodes it, and (times, height, width, 3) with [DeltaTimestamps];
//   - numbers have the dtype and the shape of the feature, and are scalars where that is (1); with DeltaTimestamps the times come first;
//   - an image is ragged uint8, the file; with DeltaTimestamps it is a clip for transform.Images, as those of dataset/video are;
//   - a text is ragged uint8, without DeltaTimestamps.
//
// They are those of LeRobotDataset, which has floats of shape (channels, height, width) instead of bytes, takes the dimension of one time away from
// videos, and adds the text of the task: see [Dataset.Tasks]. Depth maps in videos are errors: leave them out by [Features]. Features of other kinds are
// left out.
//
// The frame of a video is that shown nearest to the time of the sample, which must be within [Tolerance]. One ffmpeg decodes the frames that a sample has
// of a camera, from the last frame before them from which it can begin.
//
// A video that cannot be read is an error of the samples that need it, which loader.Skip leaves out. It is an error of Open if none of a camera's can be
// read.
//
// [dataset/video]: https://pkg.go.dev/github.com/penstock-go/penstock/dataset/video
func Open(ctx context.Context, dir string, options ...Option) (*Dataset, error) {
	c := config{tolerance: 1e-4}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	d, err := open(ctx, dir, c)
	if err != nil {
		return nil, fmt.Errorf("lerobot: %w", err)
	}
	return d, nil
}

func open(ctx context.Context, dir string, c config) (*Dataset, error) {
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	l, err := readLayout(ctx, dir)
	if err != nil {
		return nil, err
	}
	d := &Dataset{config: c, tasks: l.tasks}
	if err := d.describe(l); err != nil {
		return nil, err
	}
	names, err := d.choose(l)
	if err != nil {
		return nil, err
	}
	if d.rows, err = l.rows(ctx, d.columns()); err != nil {
		return nil, err
	}
	if err := d.restrict(); err != nil {
		return nil, err
	}
	return d, d.find(ctx, dir, names)
}

// columns are the fields that are read from Parquet files, in the order of their columns there.
func (d *Dataset) columns() (keys []string) {
	for f := range d.fields {
		if d.fields[f].column >= 0 {
			keys = append(keys, d.spec[f].Name)
		}
	}
	return keys
}

// describe makes the fields.
func (d *Dataset) describe(l *layout) error {
	var errs []error
	for _, key := range d.features {
		if l.features[key] == nil {
			errs = append(errs, fmt.Errorf("Features: there is no feature %q, only %q", key, l.keys()))
		}
	}
	columns := len(hidden)
	for _, key := range l.keys() {
		f := l.features[key]
		if d.features != nil && !slices.Contains(d.features, key) {
			continue
		}
		spec, err := f.field(key)
		if errors.Is(err, errOther) && d.features == nil && d.deltas[key] == nil {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("feature %q: %w", key, err))
			continue
		}
		made := field{column: -1, camera: -1}
		if f.Dtype == "video" {
			made.camera = len(d.cameras)
			d.cameras = append(d.cameras, camera{key, spec.Shape[0], spec.Shape[1]})
		} else {
			made.column = columns
			columns++
		}
		if seconds := d.deltas[key]; seconds != nil {
			if made.deltas, err = l.frames(seconds, d.tolerance); err == nil && f.Dtype == "string" {
				err = errors.New("texts have one time")
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("DeltaTimestamps(%q): %w", key, err))
				continue
			}
			if !spec.Ragged {
				spec.Shape = slices.Insert(spec.Shape, 0, len(seconds))
			}
		}
		d.spec, d.fields = append(d.spec, spec), append(d.fields, made)
	}
	for _, f := range d.fields {
		d.around = append(d.around, f.deltas...)
	}
	d.around = append(d.around, 0)
	slices.Sort(d.around)
	d.around = slices.Compact(d.around)
	for f, made := range d.fields {
		if made.deltas != nil {
			d.spec = append(d.spec, dataset.Field{Name: d.spec[f].Name + "_is_pad", Dtype: dataset.Bool, Shape: dataset.Shape{len(made.deltas)}})
			d.fields = append(d.fields, field{column: -1, camera: -1, deltas: made.deltas})
		}
	}
	for key := range d.deltas {
		if !slices.ContainsFunc(d.spec, func(f dataset.Field) bool { return f.Name == key }) && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("DeltaTimestamps(%q): want one of the features %q", key, l.keys()))
		}
	}
	return errors.Join(append(errs, d.spec.Validate())...)
}

// choose takes the episodes that are wanted, and returns the names of the videos that they are in.
func (d *Dataset) choose(l *layout) (names []string, err error) {
	numbers := slices.Clone(d.numbers)
	slices.Sort(numbers)
	for k, n := range numbers {
		if n < 0 || n >= len(l.episodes) || k > 0 && numbers[k-1] == n {
			return nil, fmt.Errorf("Episodes: %d: want different numbers from 0 to %d", n, len(l.episodes)-1)
		}
	}
	known := map[string]int{}
	n := 0
	for k, e := range l.episodes {
		if numbers != nil {
			if _, ok := slices.BinarySearch(numbers, k); !ok {
				continue
			}
		}
		taken := episode{number: k, first: e.first}
		for _, c := range d.cameras {
			name, from, err := l.video(k, c.key)
			if err != nil {
				return nil, fmt.Errorf("episode %d: %w", k, err)
			}
			file, ok := known[name]
			if !ok {
				file = len(names)
				known[name], names = file, append(names, name)
			}
			taken.clips = append(taken.clips, clip{file, from})
		}
		n += e.length
		d.episodes, d.ends = append(d.episodes, taken), append(d.ends, n)
	}
	if n == 0 {
		return nil, errors.New("there is no frame")
	}
	return names, nil
}

// restrict leaves the rows of the chosen episodes.
func (d *Dataset) restrict() (err error) {
	all := d.Len() == d.rows.Len()
	for k, e := range d.episodes {
		if end := e.first + d.length(k); end > d.rows.Len() {
			return fmt.Errorf("episode %d ends with row %d, and the files in data have %d rows", e.number, end, d.rows.Len())
		}
		all = all && e.first == d.begin(k)
	}
	if all {
		return nil
	}
	rows := make([]int, 0, d.Len())
	for k, e := range d.episodes {
		for i := range d.length(k) {
			rows = append(rows, e.first+i)
		}
	}
	d.rows, err = dataset.Subset(d.rows, rows)
	return err
}

// length is the number of frames of a chosen episode.
func (d *Dataset) length(k int) int { return d.ends[k] - d.begin(k) }

// begin is the first sample of a chosen episode.
func (d *Dataset) begin(k int) int {
	if k == 0 {
		return 0
	}
	return d.ends[k-1]
}

// find finds out when the frames of all videos are shown.
func (d *Dataset) find(ctx context.Context, dir string, names []string) (err error) {
	if len(names) == 0 {
		return nil
	}
	if d.videos, err = videofile.In(dir, 0); err != nil {
		return err
	}
	if d.files, d.wrong, err = d.videos.Index(ctx, names, d.index); err != nil {
		return err
	}
	for _, e := range d.episodes {
		for k, c := range e.clips {
			v, want := d.files[c.file], d.cameras[k]
			if v != nil && d.wrong[c.file] == nil && (v.Height != want.height || v.Width != want.width) {
				d.wrong[c.file] = fmt.Errorf("frames of %d×%d pixels, and meta/info.json says that they have %d×%d", v.Height, v.Width, want.height, want.width)
			}
		}
	}
	for k, err := range d.wrong {
		if err != nil {
			d.wrong[k] = fmt.Errorf("%s: %w", names[k], err)
		}
	}
	for k, c := range d.cameras {
		readable, wrong := false, make([]error, len(names))
		for _, e := range d.episodes {
			file := e.clips[k].file
			wrong[file] = d.wrong[file]
			readable = readable || wrong[file] == nil
		}
		if !readable {
			return fmt.Errorf("no video of %q can be read: %w", c.key, files.Join(wrong))
		}
	}
	return nil
}

// Len is the number of frames.
func (d *Dataset) Len() int { return d.ends[len(d.ends)-1] }

// Spec has the fields of a sample: see [Open].
func (d *Dataset) Spec() dataset.Spec { return d.spec }

// Ends says where each episode ends, in samples, for [sampler.Grouped].
//
// [sampler.Grouped]: https://pkg.go.dev/github.com/penstock-go/penstock/sampler#Grouped
func (d *Dataset) Ends() []int { return slices.Clone(d.ends) }

// Tasks are the texts of tasks. The field "task_index" is an index into them.
func (d *Dataset) Tasks() []string { return slices.Clone(d.tasks) }

// Name is the episode of sample i and its frame there, "episode 3, frame 17", or "" if i is out of range.
func (d *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	k := d.at(i)
	return fmt.Sprintf("episode %d, frame %d", d.episodes[k].number, i-d.begin(k))
}

// at is the chosen episode of sample i.
func (d *Dataset) at(i int) int { return sort.SearchInts(d.ends, i+1) }

// Foresee begins to fetch the rows of samples before they are read. Of videos nothing is fetched, because ffmpeg reads local files.
func (d *Dataset) Foresee(f dataset.Future) (stop func()) { return dataset.Foresee(d.rows, f) }

// Open makes a Reader, which is a [dataset.BatchReader] if there are videos. It runs at most one ffmpeg at a time.
func (d *Dataset) Open() (dataset.Reader, error) {
	rows, err := d.rows.Open()
	if err != nil {
		return nil, fmt.Errorf("lerobot: %w", err)
	}
	r := &reader{Dataset: d, rows: rows}
	if d.videos != nil && videofile.Together > 1 {
		return &batchReader{r}, nil
	}
	return r, nil
}

// A reader has the rows that a sample needs in slots of its own.
type reader struct {
	*Dataset
	rows     dataset.Reader
	of       []int          // the samples whose rows they are, sorted
	slots    []dataset.Slot // of each
	wanted   []int          // the frames of a field, or the samples that have its images
	distinct files.Distinct // of wanted
	views    []view         // of samples of which the rest has been placed
}

// A view is what is decoded for a field of a sample: frames of a camera, (times, height, width, 3).
type view struct {
	field int
	clip  videofile.Clip
	dst   []uint8
	of    []int // for every time, which of clip.Frames it has
	first []int // for each of these the time at which it is decoded
}

// Place places frame i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	r.views = r.views[:0]
	if err := r.place(ctx, i, r.at(i), dst); err != nil {
		return fmt.Errorf("lerobot: %w", err)
	}
	for _, v := range r.views {
		dst.Stage(dataset.StageDecode)
		if err := r.videos.Decode(ctx, v.clip); err != nil {
			return fmt.Errorf("lerobot: %s: %s: %w", r.spec[v.field].Name, v.clip.File.Name, err)
		}
		v.repeat()
	}
	return nil
}

// A batchReader decodes the videos of several samples by one process.
type batchReader struct{ *reader }

// PlaceBatch places frames. An error of a video does not say of which, and may be that they cannot be decoded together.
func (r *batchReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	r.views = r.views[:0]
	for k, i := range indices {
		if err := dataset.CheckIndex(i, r.Len()); err != nil {
			return err
		}
		if err := r.place(ctx, i, r.at(i), dst.At(k)); err != nil {
			return fmt.Errorf("lerobot: %w", err)
		}
	}
	var clips []videofile.Clip
	for views := range slices.Chunk(r.views, videofile.Together) {
		dst.At(0).Stage(dataset.StageDecode)
		clips = clips[:0]
		for _, v := range views {
			clips = append(clips, v.clip)
		}
		if err := r.videos.DecodeTogether(ctx, clips); err != nil {
			return fmt.Errorf("lerobot: %w", err)
		}
		for _, v := range views {
			v.repeat()
		}
	}
	return nil
}

// place places what is not in videos, and adds to the views what is.
func (r *reader) place(ctx context.Context, i, k int, dst dataset.Slot) error {
	dst.Stage(dataset.StageRead)
	if err := r.read(ctx, i, k); err != nil {
		return err
	}
	for f, made := range r.fields {
		deltas := made.deltas
		if deltas == nil {
			deltas = now
		}
		switch {
		case made.camera >= 0:
			v, err := r.view(i, k, made.camera, deltas, dataset.Row[uint8](dst, f))
			if err != nil {
				return fmt.Errorf("%s: %w", r.spec[f].Name, err)
			}
			v.field = f
			r.views = append(r.views, v)
		case made.column < 0:
			pads := dataset.Row[bool](dst, f)
			for t, delta := range deltas {
				pads[t] = r.clamp(i+delta, k) != i+delta
			}
		case !r.spec[f].Ragged:
			to := dst.Cell(f).Bytes()
			for _, delta := range deltas {
				to = to[copy(to, r.cell(i+delta, k, made.column).Bytes()):]
			}
		case made.deltas == nil:
			from := r.cell(i, k, made.column).Bytes()
			copy(dst.Cell(f).Grow(len(from)), from)
		default:
			if err := r.bundle(i, k, made, dst.Cell(f)); err != nil {
				return fmt.Errorf("%s: %w", r.spec[f].Name, err)
			}
		}
	}
	return nil
}

// now are the deltas of a feature that has none.
var now = []int{0}

// clamp is the sample of episode k that is nearest to i.
func (d *Dataset) clamp(i, k int) int { return min(max(i, d.begin(k)), d.ends[k]-1) }

// read reads the rows that sample i, which is of episode k, needs.
func (r *reader) read(ctx context.Context, i, k int) error {
	r.of = r.of[:0]
	for _, delta := range r.around {
		r.of = append(r.of, r.clamp(i+delta, k))
	}
	r.of = slices.Compact(r.of)
	for s, row := range r.of {
		if len(r.slots) == s {
			r.slots = append(r.slots, dataset.NewSlot(r.Dataset.rows.Spec()...))
		}
		if err := r.rows.Place(ctx, row, r.slots[s]); err != nil {
			return err
		}
		e := &r.episodes[k]
		index, episode := dataset.Row[int64](r.slots[s], atIndex)[0], dataset.Row[int64](r.slots[s], atEpisode)[0]
		if want := e.first + row - r.begin(k); index != int64(want) || episode != int64(e.number) {
			return fmt.Errorf("row %d of the files in data has index %d and episode_index %d, want %d and %d", want, index, episode, want, e.number)
		}
	}
	return nil
}

// slot has the row of the sample of episode k that is nearest to i.
func (r *reader) slot(i, k int) dataset.Slot {
	s, _ := slices.BinarySearch(r.of, r.clamp(i, k))
	return r.slots[s]
}

// cell is a column of that row.
func (r *reader) cell(i, k, column int) dataset.Cell { return r.slot(i, k).Cell(column) }

// bundle places the files of images as a clip.
func (r *reader) bundle(i, k int, made field, dst dataset.Cell) error {
	r.wanted = r.wanted[:0]
	for _, delta := range made.deltas {
		r.wanted = append(r.wanted, r.clamp(i+delta, k))
	}
	r.distinct.Set(r.wanted)
	for _, image := range r.distinct.Numbers {
		r.distinct.Add(int64(len(r.cell(image, k, made.column).Bytes())))
	}
	to, err := r.distinct.Begin(dst.Grow)
	if err != nil {
		return err
	}
	for _, image := range r.distinct.Numbers {
		to = to[copy(to, r.cell(image, k, made.column).Bytes()):]
	}
	return nil
}

// view is what a camera shows around sample i, of episode k.
func (r *reader) view(i, k, camera int, deltas []int, dst []uint8) (view, error) {
	c := r.episodes[k].clips[camera]
	if err := r.wrong[c.file]; err != nil {
		return view{}, err
	}
	v := r.files[c.file]
	r.wanted = r.wanted[:0]
	for _, delta := range deltas {
		at := c.from + dataset.Row[float64](r.slot(i+delta, k), atTimestamp)[0]
		frame := v.Nearest(at)
		if off := math.Abs(v.Seconds(frame) - at); !(off <= r.tolerance) {
			return view{}, fmt.Errorf("%s: no frame is shown at %v s, and the nearest at %v s: see Tolerance", v.Name, at, v.Seconds(frame))
		}
		r.wanted = append(r.wanted, frame)
	}
	r.distinct.Set(r.wanted)
	first := make([]int, len(r.distinct.Numbers))
	for t, f := range slices.Backward(r.distinct.Of) {
		first[f] = t
	}
	to := func(f int) ([]byte, error) { return dst[first[f]*v.Pixels():][:v.Pixels()], nil }
	clip := videofile.Clip{File: v, Frames: slices.Clone(r.distinct.Numbers), To: to}
	return view{clip: clip, dst: dst, of: slices.Clone(r.distinct.Of), first: first}, nil
}

// repeat copies what has been decoded to the other times that have the same frame.
func (v *view) repeat() {
	pixels := v.clip.File.Pixels()
	for t, f := range v.of {
		if t != v.first[f] {
			copy(v.dst[t*pixels:][:pixels], v.dst[v.first[f]*pixels:])
		}
	}
}

// Close ends the Reader.
func (r *reader) Close() error { return r.rows.Close() }
