package data

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Codec is how [Clips] compresses videos.
type Codec string

// The codecs of which FFmpeg has encoders that are fast enough for hundreds of videos.
const (
	H264 Codec = "h264"
	VP9  Codec = "vp9"
)

var codecs = map[Codec]struct {
	file string
	args []string // of ffmpeg
}{
	H264: {"mp4", []string{"-c:v", "libx264", "-preset", "veryfast"}},
	VP9:  {"webm", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-minrate", "250k", "-maxrate", "250k"}},
}

// The videos of [Clips].
const (
	ClipWidth, ClipHeight = 320, 240
	ClipFrames            = 300 // 10 s
	clipRate              = 30
)

// Clips makes n videos of 10 s with 320×240 pixels, 30 frames/s and 250 kbit/s, a key frame in gop frames at least, and returns the folder in
// root that holds them. A video is a part of a photo that moves, with noise, over which patches move. The FFmpeg in PATH compresses it;
// without one that has the encoder the error is [errors.ErrUnsupported].
func Clips(ctx context.Context, root string, n int, codec Codec, gop int) (dir string, err error) {
	how, ok := codecs[codec]
	if !ok || gop < 1 {
		return "", fmt.Errorf("data: videos of %q with %d frames from key to key: want %q or %q, and 1 or more", codec, gop, H264, VP9)
	}
	return made(root, fmt.Sprintf("clips-%s-%d", codec, gop), n, 100_000, func(dir string) error {
		return each(ctx, n, func(i int) error {
			args := []string{"-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", fmt.Sprintf("%dx%d", ClipWidth, ClipHeight), "-r", fmt.Sprint(clipRate), "-i", "pipe:0"}
			args = append(append(args, how.args...), "-b:v", "250k", "-g", fmt.Sprint(gop), "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact")
			return encoded(ctx, append(args, filepath.Join(dir, fmt.Sprintf("%06d.%s", i, how.file))), func(w io.Writer) error { return film(w, i) })
		})
	})
}

// encoded runs ffmpeg with what write writes as its input.
func encoded(ctx context.Context, args []string, write func(io.Writer) error) error {
	c := exec.CommandContext(ctx, "ffmpeg", args...)
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	} else if err != nil {
		return err
	}
	err = errors.Join(write(in), in.Close())
	if failed := c.Wait(); failed != nil {
		if strings.Contains(said.String(), "Unknown encoder") {
			failed = fmt.Errorf("%w: %w", errors.ErrUnsupported, failed)
		}
		return fmt.Errorf("ffmpeg: %w: %s", failed, strings.TrimSpace(said.String()))
	}
	return err
}

// film writes the frames of video i: planes of Y, Cb and Cr, of which the latter have half the width and height.
func film(w io.Writer, i int) error {
	r := rand.New(rand.NewPCG(uint64(i), 11))
	m := photo(i)
	size := m.Bounds().Size()
	var planes [3][]uint8 // of the whole photo, at full size
	for y := range size.Y {
		for x := range size.X {
			red, green, blue, _ := m.At(x, y).RGBA()
			l, cb, cr := color.RGBToYCbCr(uint8(red>>8), uint8(green>>8), uint8(blue>>8))
			planes[0], planes[1], planes[2] = append(planes[0], l), append(planes[1], cb), append(planes[2], cr)
		}
	}
	noise := make([]int8, 1<<16)
	for k := range noise {
		noise[k] = int8(r.IntN(9) - 4)
	}
	at := image.Pt(r.IntN(size.X-ClipWidth+1)&^1, r.IntN(size.Y-ClipHeight+1)&^1)
	step := image.Pt(2, 2) // of the part, which turns round at the borders of the photo
	patch, moves := image.Pt(r.IntN(ClipWidth-60), r.IntN(ClipHeight-60)), image.Pt(3, 2)
	frame := make([]uint8, ClipWidth*ClipHeight*3/2)
	for range ClipFrames {
		bounce(&at, &step, size.Sub(image.Pt(ClipWidth, ClipHeight)))
		bounce(&patch, &moves, image.Pt(ClipWidth-60, ClipHeight-60))
		grain := noise[r.IntN(1<<15):]
		to := frame
		for p, plane := range planes {
			every := min(p+1, 2)
			for y := 0; y < ClipHeight; y += every {
				row := plane[(at.Y+y)*size.X+at.X:]
				for x := 0; x < ClipWidth; x += every {
					v := int(row[x])
					switch {
					case image.Pt(x, y).Sub(patch).In(image.Rect(0, 0, 60, 60)):
						v = 255 - v
					case p == 0:
						v = min(max(v+int(grain[(y*67+x)&(1<<15-1)]), 0), 255)
					}
					to[0], to = uint8(v), to[1:]
				}
			}
		}
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

// bounce moves a point by a step, which turns round where the point would leave 0 to most.
func bounce(at, step *image.Point, most image.Point) {
	for _, c := range [2]struct {
		at, step *int
		most     int
	}{{&at.X, &step.X, most.X}, {&at.Y, &step.Y, most.Y}} {
		if next := *c.at + *c.step; next < 0 || next > c.most {
			*c.step = -*c.step
		}
		if next := *c.at + *c.step; next >= 0 && next <= c.most {
			*c.at = next
		}
	}
}
