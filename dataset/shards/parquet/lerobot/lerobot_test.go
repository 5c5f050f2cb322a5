package lerobot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/parquet/lerobot"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// ffmpeg skips a test without FFmpeg, and returns its version.
func ffmpeg(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("ffprobe"); err != nil {
		t.Skip("ffprobe is not in PATH")
	}
	text, err := exec.Command("ffmpeg", "-version").Output()
	if err != nil {
		t.Skip("ffmpeg is not in PATH")
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(text), "ffmpeg version "), "-")
	return version
}

func open(t testing.TB, dir string, options ...lerobot.Option) *lerobot.Dataset {
	t.Helper()
	ds, err := lerobot.Open(t.Context(), dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// hashes are those of n images of bytes.
func hashes(pixels []byte, n int) (all []any) {
	for k := range n {
		sum := sha256.Sum256(pixels[k*len(pixels)/n:][:len(pixels)/n])
		all = append(all, hex.EncodeToString(sum[:])[:16])
	}
	return all
}

// decoded are the pixels of a PNG file, in RGB.
func decoded(t testing.TB, file []byte) (pixels []byte) {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			r, g, b, _ := m.At(x, y).RGBA()
			pixels = append(pixels, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	return pixels
}

// plain is a value as items.json has it: numbers in lists of lists, and hashes of images.
func plain(t testing.TB, key string, v dataset.Tensor) any {
	t.Helper()
	shape := v.Shape()
	switch {
	case strings.HasPrefix(key, "observation.images.still") && v.Dtype() == dataset.Uint8:
		file := dataset.ValuesOf[uint8](v)
		clip, err := files.ParseBundle(file)
		if err != nil {
			return hashes(decoded(t, file), 1)
		}
		var all []byte
		for k := range clip.Len() {
			all = append(all, decoded(t, clip.File(k))...)
		}
		return hashes(all, clip.Len())
	case key == "note":
		return string(dataset.ValuesOf[uint8](v))
	case v.Dtype() == dataset.Uint8:
		n := 1
		if len(shape) == 4 {
			n = shape[0]
		}
		return hashes(dataset.ValuesOf[uint8](v), n)
	}
	var values []any
	switch v.Dtype() {
	case dataset.Float32:
		for _, x := range dataset.ValuesOf[float32](v) {
			values = append(values, float64(x))
		}
	case dataset.Float64: // torch.tensor makes float32 of them
		for _, x := range dataset.ValuesOf[float64](v) {
			values = append(values, float64(float32(x)))
		}
	case dataset.Int64:
		for _, x := range dataset.ValuesOf[int64](v) {
			values = append(values, float64(x))
		}
	case dataset.Bool:
		for _, x := range dataset.ValuesOf[bool](v) {
			values = append(values, x)
		}
	default:
		t.Fatalf("%s: %v", key, v.Dtype())
	}
	for k := len(shape) - 1; k >= 0; k-- {
		var lists []any
		for list := range slices.Chunk(values, shape[k]) {
			lists = append(lists, list)
		}
		values = lists
	}
	return values[0]
}

// TestItemsAreLeRobots compares with what testdata/make.py wrote.
func TestItemsAreLeRobots(t *testing.T) {
	var g struct {
		FFmpeg string
		Cases  []struct {
			Deltas   map[string][]float64
			Episodes []int
			Len      int
			Items    map[string]map[string]any
		}
	}
	datatest.JSON(t, "testdata/items.json", &g)
	same := ffmpeg(t) == g.FFmpeg
	if !same {
		t.Logf("frames are not compared: they are those of FFmpeg %s, whose conversion of colours may differ", g.FFmpeg)
	}
	for k, c := range g.Cases {
		var options []lerobot.Option
		for key, seconds := range c.Deltas {
			options = append(options, lerobot.DeltaTimestamps(key, seconds...))
		}
		if c.Episodes != nil {
			options = append(options, lerobot.Episodes(c.Episodes...))
		}
		ds := open(t, "testdata/robot", options...)
		if ds.Len() != c.Len {
			t.Fatalf("case %d: %d samples, want %d", k, ds.Len(), c.Len)
		}
		for i, want := range c.Items {
			n, err := strconv.Atoi(i)
			if err != nil {
				t.Fatal(err)
			}
			item, err := dataset.At(t.Context(), ds, n)
			if err != nil {
				t.Fatalf("case %d: %v", k, err)
			}
			if got, want := ds.Tasks()[dataset.ValuesOf[int64](item["task_index"])[0]], want["task"]; got != want {
				t.Errorf("case %d, item %s: task %q, want %q", k, i, got, want)
			}
			delete(want, "task")
			if len(item) != len(want) {
				t.Errorf("case %d, item %s: fields %v, want %d", k, i, ds.Spec(), len(want))
			}
			for key, value := range want {
				got, err := json.Marshal(plain(t, key, item[key]))
				if err != nil {
					t.Fatal(err)
				}
				want, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				if isVideo := key == "observation.images.top" || key == "observation.images.wrist"; !bytes.Equal(got, want) && (same || !isVideo) {
					t.Errorf("case %d, item %s, %s: got %s, want %s", k, i, key, got, want)
				}
			}
		}
	}
}

// TestFramesOfADeltaAreThoseOfTheirSamples also where FFmpeg is another one than that of the golden values.
func TestFramesOfADeltaAreThoseOfTheirSamples(t *testing.T) {
	ffmpeg(t)
	const key = "observation.images.wrist"
	alone, clips := open(t, "testdata/robot", lerobot.Features(key)), open(t, "testdata/robot", lerobot.Features(key), lerobot.DeltaTimestamps(key, 0.2, -0.1, 0, 0.2))
	if got, want := clips.Spec().String(), key+" uint8 (4, 32, 40, 3), "+key+"_is_pad bool (4)"; got != want {
		t.Fatalf("fields %s, want %s", got, want)
	}
	var frames [][]uint8
	for i := range alone.Len() {
		s, err := dataset.At(t.Context(), alone, i)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, dataset.ValuesOf[uint8](s[key]))
		if i > 0 && bytes.Equal(frames[i], frames[i-1]) {
			t.Fatalf("frames %d and %d are the same", i-1, i)
		}
	}
	begin := 0
	for e, end := range clips.Ends() {
		for i := begin; i < end; i++ {
			if begin+2 < i && i < end-4 {
				continue // as those before
			}
			s, err := dataset.At(t.Context(), clips, i)
			if err != nil {
				t.Fatal(err)
			}
			pads := dataset.ValuesOf[bool](s[key+"_is_pad"])
			for k, delta := range []int{2, -1, 0, 2} {
				at := min(max(i+delta, begin), end-1)
				if got := dataset.ValuesOf[uint8](s[key])[k*32*40*3:][:32*40*3]; !bytes.Equal(got, frames[at]) || pads[k] != (at != i+delta) {
					t.Errorf("%s: frame %d is not frame %d of the dataset, or its pad is %v", clips.Name(i), k, at, pads[k])
				}
			}
			if want := fmt.Sprintf("episode %d, frame %d", e, i-begin); clips.Name(i) != want {
				t.Errorf("name %q, want %q", clips.Name(i), want)
			}
		}
		begin = end
	}
}

// TestItemsOfABatchAreWhatTheyAreAlone: their videos are decoded by one process.
func TestItemsOfABatchAreWhatTheyAreAlone(t *testing.T) {
	ffmpeg(t)
	if runtime.GOOS == "windows" {
		t.Skip("a process has one output there")
	}
	ds := open(t, "testdata/robot", lerobot.Episodes(1), lerobot.DeltaTimestamps("observation.images.top", -0.1, 0, 0, 0.1))
	datatest.PlacesTogether(t, ds)
}

// TestLoadersGiveTheSameItems has 1 and 3 workers, of which each runs an ffmpeg, and resumes.
func TestLoadersGiveTheSameItems(t *testing.T) {
	ffmpeg(t)
	const key = "observation.images.top"
	frames := open(t, "testdata/robot", lerobot.Features(key, "index"), lerobot.Episodes(1), lerobot.DeltaTimestamps(key, -0.1, 0), lerobot.Index(filepath.Join(t.TempDir(), "index")))
	ds, err := transform.Images(frames, transform.Field(key), transform.UniformTemporalSubsample(2), transform.Train(16))
	if err != nil {
		t.Fatal(err)
	}
	load := func(workers int, from func(l *loader.Loader) loader.Position) (pixels []float32, index []int64, middle loader.Position) {
		l, err := loader.New(ds, loader.BatchSize(2), loader.Shuffle(true), loader.Seed(2), loader.Workers(workers))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for batch, err := range l.From(t.Context(), from(l), 1) {
			if err != nil {
				t.Fatal(err)
			}
			pixels = append(pixels, loader.Values[float32](batch, key)...)
			index = append(index, loader.Values[int64](batch, "index")...)
			if len(index) == 4 {
				middle = batch.Position()
			}
		}
		return pixels, index, middle
	}
	begin := func(l *loader.Loader) loader.Position { return l.Position(0) }
	pixels, index, middle := load(1, begin)
	more, moreIndex, _ := load(3, begin)
	if len(pixels) != 9*2*3*16*16 || !slices.Equal(pixels, more) || !slices.Equal(index, moreIndex) {
		t.Error("3 workers give other items than one")
	}
	rest, restIndex, _ := load(2, func(*loader.Loader) loader.Position { return middle })
	if !slices.Equal(restIndex, index[4:]) || !slices.Equal(rest, pixels[4*2*3*16*16:]) {
		t.Errorf("a resumed loader gives the items %v, want %v", restIndex, index[4:])
	}
}

// copied is a copy of the dataset that a test may change.
func copied(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/robot")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// change replaces text in a file.
func change(t testing.TB, file, old, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s does not have %q", file, old)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(old), []byte(text)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestVersion2HasAFilePerEpisode: the rows of the episodes in files of their own, beside lines of JSON. Episodes 0 and 1 keep the video in which they are
// the first.
func TestVersion2HasAFilePerEpisode(t *testing.T) {
	ffmpeg(t)
	const camera = "observation.images.top"
	dir := copied(t)
	for _, folder := range []string{"data", "meta/episodes", "videos"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	info := filepath.Join(dir, "meta/info.json")
	change(t, info, `"v3.0"`, `"v2.1"`)
	change(t, info, `"chunks_size": 1000`, `"chunks_size": 2`)
	change(t, info, "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4", "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4")
	rowsOf := open(t, "testdata/robot", lerobot.Features("action", "timestamp", "next.done"))
	keys := lerobot.Features(camera, "action", "index", "timestamp", "next.done")
	now := open(t, "testdata/robot", keys, lerobot.DeltaTimestamps("action", -0.1, 0))
	var episodes strings.Builder
	begin := 0
	for e, end := range now.Ends() {
		fmt.Fprintf(&episodes, "{\"episode_index\": %d, \"tasks\": [\"a\"], \"length\": %d}\n", e, end-begin)
		type row struct {
			Action    []float32 `parquet:"action,list"`
			Done      bool      `parquet:"next.done"`
			Timestamp float32   `parquet:"timestamp"`
			Index     int64     `parquet:"index"`
			Episode   int64     `parquet:"episode_index"`
		}
		var rows []row
		for i := begin; i < end; i++ {
			s, err := dataset.At(t.Context(), rowsOf, i)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row{dataset.ValuesOf[float32](s["action"]), dataset.ValuesOf[bool](s["next.done"])[0], dataset.ValuesOf[float32](s["timestamp"])[0], int64(i), int64(e)})
		}
		chunk := fmt.Sprintf("chunk-%03d", e/2)
		video := filepath.Join(dir, "videos", chunk, camera)
		for _, folder := range []string{filepath.Join(dir, "data", chunk), video} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := pq.WriteFile(filepath.Join(dir, "data", chunk, fmt.Sprintf("episode_%06d.parquet", e)), rows); err != nil {
			t.Fatal(err)
		}
		from, err := os.ReadFile(fmt.Sprintf("testdata/robot/videos/%s/chunk-000/file-00%d.mp4", camera, e/2))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(video, fmt.Sprintf("episode_%06d.mp4", e)), from, 0o644); err != nil {
			t.Fatal(err)
		}
		begin = end
	}
	for name, text := range map[string]string{"episodes.jsonl": episodes.String(), "tasks.jsonl": "{\"task_index\": 0, \"task\": \"a\"}\n\n{\"task_index\": 1, \"task\": \"b\"}\n"} {
		if err := os.WriteFile(filepath.Join(dir, "meta", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := open(t, dir, keys, lerobot.DeltaTimestamps("action", -0.1, 0))
	if got := fmt.Sprint(old.Tasks(), old.Ends(), old.Spec()); got != fmt.Sprint([]string{"a", "b"}, now.Ends(), now.Spec()) {
		t.Errorf("got %s", got)
	}
	for _, i := range []int{0, 1, 11, 21, 22, 35} { // in version 3 the frames of episode 1 are behind those of episode 0
		got, err := dataset.At(t.Context(), old, i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := dataset.At(t.Context(), now, i)
		if err != nil {
			t.Fatal(err)
		}
		for key := range want {
			if !bytes.Equal(got[key].Bytes(), want[key].Bytes()) {
				t.Errorf("item %d: %s differs", i, key)
			}
		}
	}
}

// TestAnUnreadableVideoIsAnErrorOfItsSamples, and a loader that skips samples goes on.
func TestAnUnreadableVideoIsAnErrorOfItsSamples(t *testing.T) {
	ffmpeg(t)
	dir := copied(t)
	file := filepath.Join(dir, "videos/observation.images.top/chunk-000/file-001.mp4")
	if err := os.WriteFile(file, []byte("no video"), 0o644); err != nil {
		t.Fatal(err)
	}
	ds := open(t, dir, lerobot.Features("observation.images.top", "index"), lerobot.Episodes(1, 2))
	l, err := loader.New(ds, loader.BatchSize(6), loader.Skip(15))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := 0
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n += batch.Len()
	}
	if n != 9 {
		t.Errorf("%d samples, want 9", n)
	}
	const want = "lerobot: observation.images.top: videos/observation.images.top/chunk-000/file-001.mp4: ffprobe: "
	if _, err := dataset.At(t.Context(), ds, 18); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "episode 2, frame 9") {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := os.Remove(filepath.Join(dir, "videos/observation.images.top/chunk-000/file-000.mp4")); err != nil {
		t.Fatal(err)
	}
	if _, err := lerobot.Open(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `no video of "observation.images.top" can be read`) {
		t.Errorf("error %v, want that no video can be read", err)
	}
	if err := os.Remove(filepath.Join(dir, "videos/observation.images.wrist/chunk-000/file-000.mp4")); err != nil {
		t.Fatal(err)
	}
	if _, err := lerobot.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), `no video of "observation.images.top" can be read`) || strings.Contains(err.Error(), "wrist") {
		t.Errorf("error %v, want that of the videos of one camera", err)
	}
}

// TestTheIndexServesOtherEpisodesToo: what an Open has kept of videos stays in the index when another one does without them, until they are gone.
func TestTheIndexServesOtherEpisodesToo(t *testing.T) {
	ffmpeg(t)
	const key, first, second = "observation.images.top", "videos/observation.images.top/chunk-000/file-000.mp4", "videos/observation.images.top/chunk-000/file-001.mp4"
	dir, index := copied(t), filepath.Join(t.TempDir(), "index")
	for _, c := range []struct {
		episode int
		remove  string
		want    []string
	}{{0, "", []string{first}}, {2, "", []string{first, second}}, {0, "", []string{first, second}}, {0, second, []string{first}}} {
		if c.remove != "" {
			if err := os.Remove(filepath.Join(dir, c.remove)); err != nil {
				t.Fatal(err)
			}
		}
		open(t, dir, lerobot.Features(key), lerobot.Episodes(c.episode), lerobot.Index(index))
		text, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		var kept struct{ Videos []struct{ Name string } }
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range kept.Videos {
			names = append(names, v.Name)
		}
		if slices.Sort(names); !slices.Equal(names, c.want) {
			t.Errorf("after episode %d the index has %q, want %q", c.episode, names, c.want)
		}
	}
}

// TestEpisodesShareNoRows: so a small file that says many times that an episode has all rows does not make a large dataset.
func TestEpisodesShareNoRows(t *testing.T) {
	type span struct {
		Episode int64 `parquet:"episode_index"`
		From    int64 `parquet:"dataset_from_index"`
		To      int64 `parquet:"dataset_to_index"`
	}
	type row struct {
		Action    float32 `parquet:"action"`
		Timestamp float32 `parquet:"timestamp"`
		Index     int64   `parquet:"index"`
		Episode   int64   `parquet:"episode_index"`
	}
	var rows []row
	for i := range 6 {
		rows = append(rows, row{Index: int64(i), Episode: int64(i / 3)})
	}
	for want, spans := range map[string][]span{
		"": {{0, 0, 3}, {1, 3, 6}},
		"episode_index 1 with the rows 0 to 6: want episode 1 with a row or more, from row 3 on": {{0, 0, 3}, {1, 0, 6}},
		"episode_index 1 with the rows 2 to 6: want episode 1 with a row or more, from row 3 on": {{0, 0, 3}, {1, 2, 6}},
		"episode_index 0 with the rows -1 to 3: want episode 0":                                  {{0, -1, 3}},
		"episode_index 2 with the rows 3 to 6: want episode 1":                                   {{0, 0, 3}, {2, 3, 6}},
		"episode_index 1 with the rows 3 to 3: want episode 1":                                   {{0, 0, 3}, {1, 3, 3}},
		"episode_index 0 with the rows 0 to 2147483648: want episode 0":                          {{0, 0, 1 << 31}},
	} {
		dir := t.TempDir()
		for _, folder := range []string{"meta/episodes/chunk-000", "data/chunk-000"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		info := `{"codebase_version": "v3.0", "fps": 10, "features": {"action": {"dtype": "float32", "shape": [1]}}}`
		if err := errors.Join(
			os.WriteFile(filepath.Join(dir, "meta/info.json"), []byte(info), 0o644),
			pq.WriteFile(filepath.Join(dir, "meta/episodes/chunk-000/file-000.parquet"), spans),
			pq.WriteFile(filepath.Join(dir, "data/chunk-000/file-000.parquet"), rows),
		); err != nil {
			t.Fatal(err)
		}
		ds, err := lerobot.Open(t.Context(), dir)
		switch {
		case want == "" && (err != nil || ds.Len() != 6):
			t.Errorf("error %v, want 6 samples", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	ffmpeg(t)
	for want, options := range map[string][]lerobot.Option{
		`Tolerance(-1): want 0 or more`:                         {lerobot.Tolerance(-1)},
		`DeltaTimestamps("action"): 0 times, want 1 to 65536`:   {lerobot.DeltaTimestamps("action")},
		`DeltaTimestamps("actoin"): want one of the features [`: {lerobot.DeltaTimestamps("actoin", 0)},
		`DeltaTimestamps("action"): 0.15 s: want a multiple`:    {lerobot.DeltaTimestamps("action", 0, 0.15)},
		`DeltaTimestamps("note"): texts have one time`:          {lerobot.DeltaTimestamps("note", 0)},
		`Features: there is no feature "x"`:                     {lerobot.Features("x")},
		`Episodes: 3: want different numbers from 0 to 2`:       {lerobot.Episodes(1, 3)},
		`Episodes: 1: want different numbers from 0 to 2`:       {lerobot.Episodes(1, 1)},
		`there is no frame`:                                     {lerobot.Episodes()},
	} {
		if _, err := lerobot.Open(t.Context(), "testdata/robot", options...); err == nil || !strings.HasPrefix(err.Error(), "lerobot: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestDamageIsAnError changes meta/info.json.
func TestDamageIsAnError(t *testing.T) {
	ffmpeg(t)
	for _, c := range []struct{ old, text, want string }{
		{`"v3.0"`, `"v1.6"`, `meta/info.json: codebase_version "v1.6": want v2.x or v3.x`},
		{`"fps": 10`, `"fps": 0`, "meta/info.json: fps 0: want a number above 0"},
		{`{video_key}/chunk-`, `../../{video_key}/chunk-`, "video_path \"videos/../../{video_key}"},
		{`{file_index:03d}.mp4`, `{file:03d}.mp4`, `"{file:03d}" is not known`},
		{`{file_index:03d}.mp4`, `{file_index:99d}.mp4`, `"{file_index:99d}" is not known`},
		{`48,`, `47,`, "frames of 48×64 pixels, and meta/info.json says that they have 47×64"},
		{`"video.is_depth_map": false`, `"video.is_depth_map": true`, `feature "observation.images.top": it is a depth map`},
		{`    4`, `    400000000`, `feature "observation.state": the shape is [400000000]`},
		{`"codebase_version"`, `codebase_version`, "meta/info.json: invalid character"},
	} {
		dir := copied(t)
		change(t, filepath.Join(dir, "meta/info.json"), c.old, c.text)
		if _, err := lerobot.Open(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), "lerobot: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
	dir := copied(t)
	change(t, filepath.Join(dir, "meta/info.json"), `"fps": 10`, `"fps": 10, "more": 1`)
	if err := os.Rename(filepath.Join(dir, "data/chunk-000/file-001.parquet"), filepath.Join(dir, "data/chunk-000/a.parquet")); err != nil {
		t.Fatal(err)
	}
	ds := open(t, dir)
	if _, err := dataset.At(t.Context(), ds, 0); err == nil || !strings.Contains(err.Error(), "row 0 of the files in data has index 21 and episode_index 2, want 0 and 0") {
		t.Errorf("error %v, want that of rows out of order", err)
	}
	if err := os.Remove(filepath.Join(dir, "data/chunk-000/a.parquet")); err != nil {
		t.Fatal(err)
	}
	if _, err := lerobot.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "episode 2 ends with row 36, and the files in data have 21 rows") {
		t.Errorf("error %v, want that of missing rows", err)
	}
}

// TestShapesMayBeginWithTheChannels: datasets that were converted from other formats say so of their videos.
func TestShapesMayBeginWithTheChannels(t *testing.T) {
	ffmpeg(t)
	dir := copied(t)
	change(t, filepath.Join(dir, "meta/info.json"), "[\n    48,\n    64,\n    3\n", "[\n    3,\n    48,\n    64\n")
	s, err := dataset.At(t.Context(), open(t, dir, lerobot.Features("observation.images.top")), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := s["observation.images.top"].Shape(); !slices.Equal(got, []int{48, 64, 3}) {
		t.Errorf("shape %v", got)
	}
}

// TestTimesOutsideOfTheToleranceAreErrors of their samples.
func TestTimesOutsideOfTheToleranceAreErrors(t *testing.T) {
	ffmpeg(t)
	dir := copied(t)
	file := filepath.Join(dir, "videos/observation.images.wrist/chunk-000/file-000.mp4")
	out := filepath.Join(dir, "late.mp4")
	if text, err := exec.Command("ffmpeg", "-v", "error", "-itsoffset", "0.01", "-i", file, "-c", "copy", "-copyts", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := os.Rename(out, file); err != nil {
		t.Fatal(err)
	}
	ds := open(t, dir)
	if _, err := dataset.At(t.Context(), ds, 13); err == nil || !strings.Contains(err.Error(), "no frame is shown at 1.30") || !strings.Contains(err.Error(), "see Tolerance") {
		t.Errorf("error %v, want that of no frame", err)
	}
	if _, err := dataset.At(t.Context(), open(t, dir, lerobot.Tolerance(0.02)), 13); err != nil {
		t.Error(err)
	}
}
