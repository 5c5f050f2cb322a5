package videofile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/ffmpeg"
	"github.com/penstock-go/penstock/internal/files"
)

// A File is what the index says of a video.
type File struct {
	Name          string // from the root
	Size, Time    int64  // of the file: bytes, and nanoseconds since 1970
	Width, Height int
	Num, Den      int64   // of a unit of time in seconds
	Pts           []int64 // when frames are shown, in order
	Keys          []int64 // of those from which a decoder can begin, in order
	End           int64   // of the last frame
}

const (
	indexVersion = 1
	maxSide      = 1 << 16
	maxTime      = 1 << 52 // in units: numbers that ffmpeg compares as floats
)

// MaxPixels bounds a frame: it is that of Pillow's images.
const MaxPixels = 178_956_970

// An index is what is kept of all videos.
type index struct {
	Penstock string // what the file is
	Version  int
	Videos   []*File
}

const indexName = "an index of videos"

// seconds is a time of the video.
func (v *File) seconds(pts int64) float64 { return float64(pts) * float64(v.Num) / float64(v.Den) }

// Seconds is when frame k is shown.
func (v *File) Seconds(k int) float64 { return v.seconds(v.Pts[k]) }

// Nearest is the frame that is shown nearest to a time, the first of two.
func (v *File) Nearest(seconds float64) int {
	k := sort.Search(len(v.Pts), func(k int) bool { return v.Seconds(k) >= seconds })
	if k == len(v.Pts) || k > 0 && seconds-v.Seconds(k-1) <= v.Seconds(k)-seconds {
		k--
	}
	return k
}

// Ends is when the last frame ends.
func (v *File) Ends() float64 { return v.seconds(v.End) }

// check is the error of numbers that no video has.
func (v *File) check() error {
	switch {
	case v.Width < 1 || v.Height < 1 || v.Width > maxSide || v.Height > maxSide || v.Width > MaxPixels/v.Height:
		return fmt.Errorf("frames of %d×%d pixels: want 1 to %d", v.Height, v.Width, MaxPixels)
	case v.Num < 1 || v.Den < 1:
		return fmt.Errorf("the unit of time is %d/%d s", v.Num, v.Den)
	case len(v.Pts) == 0:
		return errors.New("there is no frame")
	}
	for _, list := range [][]int64{v.Pts, v.Keys} {
		for i := 1; i < len(list); i++ {
			if list[i] <= list[i-1] {
				return fmt.Errorf("two frames are shown at %v s", v.seconds(list[i]))
			}
		}
	}
	if v.End <= v.Pts[len(v.Pts)-1] {
		return errors.New("the last frame has no end")
	}
	return nil
}

// probe reads the packets of a video, without decoding them.
func (d *Folder) probe(ctx context.Context, file string, v *File) error {
	args := ffmpeg.Probe("V:0", "packet=pts,duration,flags:stream=width,height,time_base", file, formats)
	var last int64 // the duration of the frame that is shown last
	streams, packets := 0, int64(0)
	err := d.probing.Run(ctx, nil, args, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			values := ffmpeg.Values(lines.Text())
			switch {
			case values[""] == "packet":
				if packets++; packets > v.Size {
					return fmt.Errorf("more packets than the file's %d bytes", v.Size)
				}
				pts, err := strconv.ParseInt(values["pts"], 10, 64)
				if err != nil || pts < -maxTime || pts > maxTime {
					return fmt.Errorf("packet %d has the time %q: want a number, as in MP4, MOV, Matroska and WebM", packets-1, values["pts"])
				}
				if strings.Contains(values["flags"], "K") {
					v.Keys = append(v.Keys, pts)
				}
				if strings.Contains(values["flags"], "D") {
					continue // decoded for the frames after it, and not shown
				}
				v.Pts = append(v.Pts, pts)
				if len(v.Pts) == 1 || pts >= v.End {
					v.End = pts
					last, _ = strconv.ParseInt(values["duration"], 10, 64)
				}
			case values["width"] != "" && streams == 0:
				streams++
				v.Width, _ = strconv.Atoi(values["width"])
				v.Height, _ = strconv.Atoi(values["height"])
				num, den, _ := strings.Cut(values["time_base"], "/")
				v.Num, _ = strconv.ParseInt(num, 10, 64)
				v.Den, _ = strconv.ParseInt(den, 10, 64)
			}
		}
		return lines.Err()
	})
	if err != nil {
		return err
	}
	if streams == 0 {
		return fmt.Errorf("%s: there is no video in it", d.probing.Name)
	}
	slices.Sort(v.Pts)
	slices.Sort(v.Keys)
	v.Keys = slices.Compact(v.Keys)
	if n := len(v.Pts); last < 1 && n > 1 {
		last = v.End - v.Pts[n-2]
	}
	v.End += max(1, min(last, maxTime))
	return v.check()
}

// readIndex is the index that was kept in a file, or nothing.
func readIndex(path string) (map[string]*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var x index
	if err := json.Unmarshal(text, &x); err != nil || x.Penstock != indexName {
		return nil, errors.New("another file has this name")
	}
	kept := map[string]*File{}
	if x.Version == indexVersion {
		for _, v := range x.Videos {
			if v != nil && v.check() == nil {
				kept[v.Name] = v
			}
		}
	}
	return kept, nil
}

// writeIndex keeps the index.
func writeIndex(path string, videos []*File) error {
	return files.WriteWhole(path, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(index{indexName, indexVersion, videos})
	})
}

// Index makes the index of files, on all processors. It takes from path what has not changed, and keeps it there, beside what others have kept of files
// below the same root. Without a path it is kept nowhere. Of a video that cannot be read it returns why, in wrong.
func (d *Folder) Index(ctx context.Context, names []string, path string) (videos []*File, wrong []error, err error) {
	var kept map[string]*File
	if path != "" {
		if kept, err = readIndex(path); err != nil {
			return nil, nil, fmt.Errorf("index %s: %w", path, files.Cause(err))
		}
	}
	videos, wrong = make([]*File, len(names)), make([]error, len(names))
	files.Scan(len(names), runtime.GOMAXPROCS(0), func(k int) error {
		videos[k], wrong[k] = d.known(ctx, names[k], kept)
		return nil
	})
	// What is not read now stays in the index: it may be another time.
	var known []*File
	changed := false
	for k, v := range videos {
		old := kept[names[k]]
		delete(kept, names[k])
		if v == nil {
			v = old
		}
		changed = changed || v != old
		if v != nil {
			known = append(known, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if _, err := os.Stat(d.path(name)); err == nil {
			known = append(known, kept[name])
		} else {
			changed = true
		}
	}
	err = ctx.Err()
	if path != "" && changed {
		if failed := writeIndex(path, known); failed != nil {
			err = errors.Join(err, fmt.Errorf("index %s: %w", path, failed))
		}
	}
	return videos, wrong, err
}

// known is what is known of a video: from the index, or from its packets.
func (d *Folder) known(ctx context.Context, name string, kept map[string]*File) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file := d.path(name)
	info, err := os.Stat(file)
	if err != nil {
		return nil, files.Cause(err)
	}
	v := &File{Name: name, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if old := kept[name]; old != nil && old.Size == v.Size && old.Time == v.Time {
		return old, nil
	}
	if err := d.probe(ctx, file, v); err != nil {
		return nil, err
	}
	return v, nil
}
