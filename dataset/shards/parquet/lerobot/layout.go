package lerobot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/videofile"
)

// A layout is what the files in meta say.
type layout struct {
	dir string
	info
	features map[string]*feature
	episodes []described
	tasks    []string
}

// An info is meta/info.json.
type info struct {
	Version   string                     `json:"codebase_version"`
	FPS       float64                    `json:"fps"`
	ChunkSize int                        `json:"chunks_size"` // in version 2: episodes in a folder
	DataPath  string                     `json:"data_path"`
	VideoPath string                     `json:"video_path"`
	Features  map[string]json.RawMessage `json:"features"`
}

// A feature is an entry of its features.
type feature struct {
	Dtype string         `json:"dtype"`
	Shape []int          `json:"shape"`
	Info  map[string]any `json:"info"`
}

// A described episode is a row of meta/episodes, or a line of meta/episodes.jsonl.
type described struct {
	first, length int
	videos        map[string]place // by their keys; nil in version 2
}

// A place is where the video of an episode is.
type place struct {
	chunk, file int64
	from        float64
}

const (
	maxText   = 1 << 28 // bytes of a file of JSON
	maxValues = 1 << 24 // of a feature in a row
	maxPath   = 1 << 9  // bytes
)

// text is a file below meta.
func text(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, "meta", name))
	if err == nil {
		defer f.Close()
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, maxText+1)); err == nil && len(data) > maxText {
			err = fmt.Errorf("more than %d bytes", maxText)
		}
		if err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("meta/%s: %w", name, files.Cause(err))
}

func readLayout(ctx context.Context, dir string) (*layout, error) {
	data, err := text(dir, "info.json")
	if err != nil {
		return nil, err
	}
	l := &layout{dir: dir}
	if err := l.parseInfo(data); err != nil {
		return nil, fmt.Errorf("meta/info.json: %w", err)
	}
	if strings.HasPrefix(l.Version, "v2.") {
		return l, l.readLines()
	}
	if err := l.readEpisodes(ctx); err != nil {
		return nil, err
	}
	return l, l.readTasks(ctx)
}

// parseInfo parses meta/info.json.
func (l *layout) parseInfo(data []byte) error {
	l.info = info{ChunkSize: 1000}
	if err := json.Unmarshal(data, &l.info); err != nil {
		return err
	}
	switch {
	case !strings.HasPrefix(l.Version, "v2.") && !strings.HasPrefix(l.Version, "v3."):
		return fmt.Errorf("codebase_version %q: want v2.x or v3.x", l.Version)
	case !(l.FPS > 0 && l.FPS <= 1e6):
		return fmt.Errorf("fps %v: want a number above 0", l.FPS)
	case l.ChunkSize < 1:
		return fmt.Errorf("chunks_size %d: want 1 or more", l.ChunkSize)
	}
	l.features = map[string]*feature{}
	for key, text := range l.Features {
		var f feature
		if err := json.Unmarshal(text, &f); err != nil {
			f = feature{} // of another kind
		}
		l.features[key] = &f
	}
	return nil
}

// keys are those of the features, sorted.
func (l *layout) keys() []string { return slices.Sorted(maps.Keys(l.features)) }

// frames are times in frames, as LeRobot's get_delta_indices has them.
func (l *layout) frames(seconds []float64, tolerance float64) (frames []int, err error) {
	for _, s := range seconds {
		at := math.RoundToEven(s * l.FPS)
		if !(math.Abs(at) < 1<<30) || math.Abs(s*l.FPS-at)/l.FPS > tolerance {
			return nil, fmt.Errorf("%v s: want a multiple of 1/%v s, within %v s", s, l.FPS, tolerance)
		}
		frames = append(frames, int(at))
	}
	return frames, nil
}

// errOther is the error of a feature that is none of those that [Open] lists.
var errOther = errors.New("it is none of the kinds that are read")

// field is the field of a feature.
func (f *feature) field(key string) (dataset.Field, error) {
	spec := dataset.Field{Name: key, Dtype: dataset.Uint8}
	switch numbers, ok := columns[f.Dtype]; {
	case f.Dtype == "video":
		for _, name := range []string{"is_depth_map", "video.is_depth_map"} {
			if depth, _ := f.Info[name].(bool); depth {
				return spec, errors.New("it is a depth map, which is not read: leave it out by Features")
			}
		}
		s := f.Shape
		if len(s) == 3 && s[0] == 3 && s[2] != 3 { // as datasets that others have converted say it
			s = []int{s[1], s[2], s[0]}
		}
		if len(s) != 3 || s[2] != 3 || min(s[0], s[1]) < 1 || s[0] > videofile.MaxPixels/s[1] {
			return spec, fmt.Errorf("the shape is %v, want (height, width, 3) or (3, height, width) of 1 to %d pixels", f.Shape, videofile.MaxPixels)
		}
		spec.Shape = slices.Clone(dataset.Shape(s))
	case f.Dtype == "image":
		spec.Ragged, spec.Kind = true, dataset.Image
	case f.Dtype == "string":
		spec.Ragged = true
	case ok:
		spec.Dtype = numbers.dtype
		n := 1
		for _, side := range f.Shape {
			if side < 1 || side > maxValues/n {
				return spec, fmt.Errorf("the shape is %v, want 1 to %d values", f.Shape, maxValues)
			}
			n *= side
		}
		if !slices.Equal(f.Shape, []int{1}) {
			spec.Shape = slices.Clone(dataset.Shape(f.Shape))
		}
	default:
		return spec, fmt.Errorf("dtype %q: %w", f.Dtype, errOther)
	}
	return spec, nil
}

// Numbers are a dtype of a column of numbers.
type numbers struct {
	dtype  dataset.Dtype
	column func(key string, shape []int) shards.Field
}

func numbersOf[T dataset.Element]() numbers {
	return numbers{dataset.DtypeOf[T](), func(key string, shape []int) shards.Field {
		if len(shape) == 0 {
			return shards.Scalar[T](key, key)
		}
		return shards.Array[T](key, shape, key)
	}}
}

// columns are the dtypes of numbers, by LeRobot's names.
var columns = map[string]numbers{
	"bool": numbersOf[bool](), "float32": numbersOf[float32](), "float64": numbersOf[float64](), "float16": numbersOf[dataset.F16](),
	"int8": numbersOf[int8](), "int16": numbersOf[int16](), "int32": numbersOf[int32](), "int64": numbersOf[int64](),
	"uint8": numbersOf[uint8](), "uint16": numbersOf[uint16](), "uint32": numbersOf[uint32](), "uint64": numbersOf[uint64](),
}

// hidden are fields that every row is read with, before those of features.
var hidden = []shards.Field{
	shards.Scalar[float64]("the time", "timestamp"), shards.Scalar[int64]("the index", "index"), shards.Scalar[int64]("the episode", "episode_index"),
}

const ( // in hidden
	atTimestamp = iota
	atIndex
	atEpisode
)

// rows are the rows of the files in data, with these features.
func (l *layout) rows(ctx context.Context, keys []string) (dataset.Dataset, error) {
	fields, names := slices.Clone(hidden), []string{"timestamp", "index", "episode_index"}
	for _, key := range keys {
		names = append(names, key)
		spec, err := l.features[key].field(key)
		if err != nil {
			return nil, err
		}
		if spec.Ragged {
			fields = append(fields, shards.Bytes(key, key))
		} else {
			fields = append(fields, columns[l.features[key].Dtype].column(key, spec.Shape))
		}
	}
	return l.table(ctx, "data/*/*.parquet", names, fields)
}

// table reads columns of Parquet files.
func (l *layout) table(ctx context.Context, pattern string, names []string, fields []shards.Field) (*shards.Dataset, error) {
	store := objects.Folder(l.dir)
	index, err := shards.Scan(ctx, store, parquet.Format(parquet.Columns(names...)), []string{pattern})
	if err != nil {
		return nil, err
	}
	ds, err := shards.Open(store, index, fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	return ds, nil
}

// cameras are the keys of the videos.
func (l *layout) cameras() (keys []string) {
	for _, key := range l.keys() {
		if l.features[key].Dtype == "video" {
			keys = append(keys, key)
		}
	}
	return keys
}

// readEpisodes reads the episodes of version 3.
func (l *layout) readEpisodes(ctx context.Context) error {
	names := []string{"episode_index", "dataset_from_index", "dataset_to_index"}
	var fields []shards.Field
	cameras := l.cameras()
	for _, key := range cameras {
		names = append(names, "videos/"+key+"/chunk_index", "videos/"+key+"/file_index")
	}
	for _, name := range names {
		fields = append(fields, shards.Scalar[int64](name, name))
	}
	for _, key := range cameras {
		name := "videos/" + key + "/from_timestamp"
		names, fields = append(names, name), append(fields, shards.Scalar[float64](name, name))
	}
	ds, err := l.table(ctx, "meta/episodes/*/*.parquet", names, fields)
	if err != nil {
		return err
	}
	return each(ctx, ds, func(k int, row dataset.Slot) error {
		whole := func(f int) int64 { return dataset.Row[int64](row, f)[0] }
		number, first, end := whole(0), whole(1), whole(2)
		before := 0 // where the episodes before it end: none shares a row with another
		if k > 0 {
			before = l.episodes[k-1].first + l.episodes[k-1].length
		}
		if number != int64(k) || first < int64(before) || end <= first || end > math.MaxInt32 {
			return fmt.Errorf("episode_index %d with the rows %d to %d: want episode %d with a row or more, from row %d on", number, first, end, k, before)
		}
		e := described{first: int(first), length: int(end - first), videos: map[string]place{}}
		for c, key := range cameras {
			e.videos[key] = place{whole(3 + 2*c), whole(4 + 2*c), dataset.Row[float64](row, 3+2*len(cameras)+c)[0]}
		}
		l.episodes = append(l.episodes, e)
		return nil
	})
}

// each calls do with every row of a table.
func each(ctx context.Context, ds *shards.Dataset, do func(k int, row dataset.Slot) error) error {
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	row := dataset.NewSlot(ds.Spec()...)
	for k := range ds.Len() {
		err := r.Place(ctx, k, row)
		if err == nil {
			err = do(k, row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ds.Name(k), err)
		}
	}
	return nil
}

// readTasks reads the tasks of version 3, if there is a table of them.
func (l *layout) readTasks(ctx context.Context) error {
	const name = "meta/tasks.parquet"
	if _, err := os.Stat(filepath.Join(l.dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ds, err := l.table(ctx, name, nil, []shards.Field{shards.Scalar[int64]("index", "task_index"), shards.Bytes("task", "task", "__index_level_0__")})
	if err != nil {
		return err
	}
	return each(ctx, ds, func(k int, row dataset.Slot) error {
		return l.addTask(dataset.Row[int64](row, 0)[0], string(dataset.Row[uint8](row, 1)))
	})
}

func (l *layout) addTask(index int64, task string) error {
	if index != int64(len(l.tasks)) {
		return fmt.Errorf("task_index %d: want %d", index, len(l.tasks))
	}
	l.tasks = append(l.tasks, task)
	return nil
}

// readLines reads the episodes and tasks of version 2.
func (l *layout) readLines() error {
	data, err := text(l.dir, "episodes.jsonl")
	if err != nil {
		return err
	}
	if err := l.parseEpisodes(data); err != nil {
		return fmt.Errorf("meta/episodes.jsonl: %w", err)
	}
	if data, err = text(l.dir, "tasks.jsonl"); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	err = lines(data, func(t struct {
		Index int64  `json:"task_index"`
		Task  string `json:"task"`
	}) error {
		return l.addTask(t.Index, t.Task)
	})
	if err != nil {
		return fmt.Errorf("meta/tasks.jsonl: %w", err)
	}
	return nil
}

// parseEpisodes parses meta/episodes.jsonl.
func (l *layout) parseEpisodes(data []byte) error {
	first := 0
	return lines(data, func(e struct {
		Index  int `json:"episode_index"`
		Length int `json:"length"`
	}) error {
		if e.Index != len(l.episodes) || e.Length < 1 || e.Length > math.MaxInt32-first {
			return fmt.Errorf("episode_index %d with the length %d: want episode %d with a frame or more", e.Index, e.Length, len(l.episodes))
		}
		l.episodes = append(l.episodes, described{first: first, length: e.Length})
		first += e.Length
		return nil
	})
}

// lines parses a value of JSON in each line.
func lines[T any](data []byte, do func(T) error) error {
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, len(data)+1)
	for k := 1; s.Scan(); k++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var v T
		err := json.Unmarshal(s.Bytes(), &v)
		if err == nil {
			err = do(v)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", k, err)
		}
	}
	return s.Err()
}

// video is the file with the video of an episode, and the second in it at which the episode begins.
func (l *layout) video(episode int, key string) (name string, from float64, err error) {
	at := l.episodes[episode].videos[key]
	numbers := map[string]int64{
		"episode_index": int64(episode), "episode_chunk": int64(episode / l.ChunkSize),
		"chunk_index": at.chunk, "file_index": at.file,
	}
	name, err = format(l.VideoPath, key, numbers)
	if err != nil || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return "", 0, errors.Join(fmt.Errorf("video_path %.100q: want the path of a file, such as videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4", l.VideoPath), err)
	}
	if math.IsNaN(at.from) || math.IsInf(at.from, 0) {
		return "", 0, fmt.Errorf("from_timestamp of %q: %v", key, at.from)
	}
	return name, at.from, nil
}

// format puts numbers and the key into a path, as Python's str.format: {name} and {name:03d}.
func format(pattern, key string, numbers map[string]int64) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		if b.Len()+len(before) > maxPath {
			return "", fmt.Errorf("a path of more than %d bytes", maxPath)
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, width, _ := strings.Cut(inner, ":")
		number, known := numbers[name]
		switch {
		case closed && inner == "video_key":
			b.WriteString(key)
		case closed && known && width == "":
			b.WriteString(strconv.FormatInt(number, 10))
		case closed && known && len(width) == 3 && width[0] == '0' && width[1] >= '1' && width[1] <= '9' && width[2] == 'd':
			fmt.Fprintf(&b, "%0*d", int(width[1]-'0'), number)
		default:
			return "", fmt.Errorf("%.100q is not known", "{"+inner+"}")
		}
		pattern = after
	}
}
