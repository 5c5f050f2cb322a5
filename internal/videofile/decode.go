// Package videofile decodes frames of video files by FFmpeg, whose programs must be in PATH. An index of the packets of a file says when each frame is
// shown, and from which frames a decoder can begin.
package videofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/ffmpeg"
	"github.com/penstock-go/penstock/internal/files"
)

// formats are those of containers that hold videos, by FFmpeg's names.
const formats = "mov,matroska,webm,avi,mpegts,mpeg,flv,ogg,asf,mxf,ivf"

// A Folder is video files below a folder of the operating system. Several goroutines may use it at once.
type Folder struct {
	root              string
	probing, decoding ffmpeg.Program
}

// In is the files below root, for each of which a program may run for the limit of [ffmpeg.Find].
func In(root string, limit time.Duration) (*Folder, error) {
	probing, err := ffmpeg.Find("ffprobe", limit)
	if err != nil {
		return nil, err
	}
	decoding, err := ffmpeg.Find("ffmpeg", limit)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	return &Folder{root, probing, decoding}, nil
}

// path is where a file is.
func (d *Folder) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Head is what comes before the pixels of a frame, in PPM.
func (v *File) Head() string { return fmt.Sprintf("P6\n%d %d\n255\n", v.Width, v.Height) }

// Pixels is the length of a frame without it.
func (v *File) Pixels() int { return 3 * v.Width * v.Height }

// mostRuns bounds the runs of frames that one process selects: they are in its arguments, of which Windows takes 32,767 characters.
const mostRuns = 512

// A Clip is what is decoded of a file.
type Clip struct {
	File   *File
	Frames []int // numbers in the order of time, each once
	// To says where the pixels of Frames[k] go, when they are there and have the size that the index says. It may be called again for a frame.
	To func(k int) ([]byte, error)
}

// Decode decodes the frames of a clip, one after the other. A file that has changed since the index was made is an error.
func (d *Folder) Decode(ctx context.Context, c Clip) error {
	if err := d.check(c.File); err != nil {
		return err
	}
	begun := 0
	for runs := range slices.Chunk(runsOf(c.Frames), mostRuns) {
		err := d.decodeRuns(ctx, c.File, runs, func(k int) ([]byte, error) { return c.To(begun + k) })
		if err != nil {
			return err
		}
		begun += length(runs)
	}
	return nil
}

// Together is how many clips [Folder.DecodeTogether] takes. If it is 1, there is no such thing.
const Together = ffmpeg.Outputs

// DecodeTogether decodes clips by one process, whose start takes longer than most clips do. To is called by several goroutines. An error does not
// say which of the clips cannot be decoded. Some that [Folder.Decode] decodes fail here: those that need several processes, or a second one because the
// file is not as its own table says.
func (d *Folder) DecodeTogether(ctx context.Context, clips []Clip) error {
	args := slices.Clone(general)
	var output []string
	var uses []func(io.Reader) error
	for k, c := range clips {
		if err := d.check(c.File); err != nil {
			return err
		}
		runs := runsOf(c.Frames)
		if len(runs) > mostRuns/Together {
			return fmt.Errorf("%d runs of frames, more than %d", len(runs), mostRuns/Together)
		}
		begin, sought := c.File.key(c.File.Pts[runs[0].first])
		args = append(args, d.input(c.File, begin, sought)...)
		output = append(output, c.File.output(k, runs)...)
		uses = append(uses, func(out io.Reader) error {
			return c.File.read(out, len(c.Frames), c.To)
		})
	}
	return d.decoding.Run(ctx, nil, append(args, output...), uses...)
}

// check compares the file with what it was when the index was made.
func (d *Folder) check(v *File) error {
	if info, err := os.Stat(d.path(v.Name)); err != nil {
		return files.Cause(err)
	} else if info.Size() != v.Size || info.ModTime().UnixNano() != v.Time {
		return fmt.Errorf("the file has changed: %w", fs.ErrInvalid)
	}
	return nil
}

// decodeRuns decodes runs of frames by one process.
func (d *Folder) decodeRuns(ctx context.Context, v *File, runs []run, to func(k int) ([]byte, error)) error {
	begin, sought := v.key(v.Pts[runs[0].first])
	err := d.decodeFrom(ctx, v, runs, to, begin, sought)
	if errors.Is(err, errFew) && sought {
		// The container's table is not what its packets are: without it, all frames are there.
		err = d.decodeFrom(ctx, v, runs, to, 0, false)
	}
	return err
}

// A run is frames that follow each other.
type run struct{ first, last int }

// runsOf divides frames into runs.
func runsOf(frames []int) (runs []run) {
	for _, f := range frames {
		if n := len(runs); n > 0 && runs[n-1].last == f-1 {
			runs[n-1].last = f
		} else {
			runs = append(runs, run{f, f})
		}
	}
	return runs
}

// length is how many frames there are in runs.
func length(runs []run) (n int) {
	for _, r := range runs {
		n += r.last - r.first + 1
	}
	return n
}

// key is the time of the last frame before pts, or at it, from which a decoder can begin, and whether that is not the beginning.
func (v *File) key(pts int64) (at int64, later bool) {
	k, found := slices.BinarySearch(v.Keys, pts)
	if !found {
		k--
	}
	if k <= 0 {
		return 0, false
	}
	return v.Keys[k], true
}

var errFew = errors.New("the file has fewer frames than packets say, or at other times")

func (d *Folder) decodeFrom(ctx context.Context, v *File, runs []run, to func(k int) ([]byte, error), begin int64, sought bool) error {
	args := slices.Concat(general, d.input(v, begin, sought), v.output(0, runs))
	return d.decoding.Run(ctx, nil, args, func(out io.Reader) error { return v.read(out, length(runs), to) })
}

// general are the options of ffmpeg for all files.
var general = []string{"-nostdin", "-hide_banner", "-v", "error", "-filter_threads", "1", "-copyts"}

// input are the options for a file, from a key frame on if that is sought.
func (d *Folder) input(v *File, begin int64, sought bool) []string {
	args := []string{"-threads", "1", "-noaccurate_seek", "-noautorotate"}
	if sought {
		args = append(args, "-seek_timestamp", "1", "-ss", strconv.FormatFloat(float64(begin)*float64(v.Num)/float64(v.Den), 'f', 6, 64))
	}
	return append(args, ffmpeg.Input(d.path(v.Name), formats)...)
}

// output are the options for the frames of runs of file k, as output k. The decoder ends at the frame after them: with several outputs, -frames:v ends only
// what is written.
func (v *File) output(k int, runs []run) []string {
	trim := fmt.Sprintf("trim=end_pts=%d,select='%s'", v.Pts[runs[len(runs)-1].last]+1, v.within(runs))
	return []string{"-map", strconv.Itoa(k) + ":V:0", "-vf", trim, "-frames:v", strconv.Itoa(length(runs)),
		"-fps_mode", "passthrough", "-sws_flags", "bicubic", "-pix_fmt", "rgb24", "-c:v", "ppm", "-f", "image2pipe", ffmpeg.Pipe(k)}
}

// read reads an output of so many frames.
func (v *File) read(out io.Reader, frames int, to func(k int) ([]byte, error)) error {
	head := []byte(v.Head())
	begins := make([]byte, len(head))
	for k := range frames {
		if got, err := io.ReadFull(out, begins); got == 0 && err == io.EOF {
			return fmt.Errorf("%w: %d of %d: %w", errFew, k, frames, io.ErrUnexpectedEOF)
		} else if err != nil {
			return err
		}
		if !bytes.Equal(begins, head) {
			return fmt.Errorf("a frame begins with %q, want %q: all frames have the size that the file says", begins, head)
		}
		pixels, err := to(k)
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(out, pixels[:v.Pixels()]); err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
	if n, err := out.Read(make([]byte, 1)); n > 0 {
		return fmt.Errorf("more than %d frames", frames)
	} else if err != io.EOF {
		return err
	}
	return nil
}

// within is the expression for runs of frames. A sum of many is halved: ffmpeg takes 100 in a row, and computes it for each frame that it decodes.
func (v *File) within(runs []run) string {
	if n := len(runs); n > 32 {
		return fmt.Sprintf("if(lt(pts,%d),%s,%s)", v.Pts[runs[n/2].first], v.within(runs[:n/2]), v.within(runs[n/2:]))
	}
	var terms []string
	for _, r := range runs {
		if first, last := v.Pts[r.first], v.Pts[r.last]; first == last {
			terms = append(terms, fmt.Sprintf("eq(pts,%d)", first))
		} else {
			terms = append(terms, fmt.Sprintf("between(pts,%d,%d)", first, last))
		}
	}
	return strings.Join(terms, "+")
}
