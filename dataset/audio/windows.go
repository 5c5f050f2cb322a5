package audio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// A window is a part of a file, in frames.
type window struct {
	file    int
	from, n int64
}

// mostWindows is how many a file may have, however long its header says that it is.
const mostWindows = 1 << 20

// Windows is c with long recordings cut into parts: a sample is a window of that length, and each begins step after the one before it, so
// that two of them overlap if step is less than length. The last one of a recording ends with it and may be shorter; a recording without
// frames has one empty window. Both times are rounded to frames of the file, and only the part is read where that is possible. See [FFmpeg] for
// what it costs in other files: each window of a large one is decoded from the file's beginning on.
//
// Samples have one more field at their end, "seconds", float64: when the window begins. Windows reads the headers of all files, as [Clips.Infos] does.
// A crop ([RandomCrop], [CenterCrop]) cannot be taken of windows.
//
//	clips, err := audio.Waveforms(files, audio.Mono())
//	windows, err := clips.Windows(ctx, 30*time.Second, 25*time.Second) // five seconds of each are in the next one, too
func (c *Clips) Windows(ctx context.Context, length, step time.Duration) (*Clips, error) {
	switch {
	case c.windows != nil:
		return nil, errors.New("audio: Windows of windows")
	case c.frames > 0:
		return nil, fmt.Errorf("audio: Windows of crops of %d frames: want clips without a crop", c.frames)
	case length <= 0 || step <= 0:
		return nil, fmt.Errorf("audio: Windows(%v, %v): want more than 0", length, step)
	}
	files, err := c.Infos(ctx)
	if err != nil {
		return nil, err
	}
	w := &Clips{config: c.config, at: c.at, files: files, every: [2]time.Duration{length, step}, windows: []window{}}
	var of []int
	for k, info := range files {
		n, each := framesOf(length, info.Rate), framesOf(step, info.Rate)
		if n < 1 || each < 1 || n > c.maxFrames {
			return nil, c.sampleError(k, fmt.Errorf("windows of %d frames, every %d: want 1 to MaxFrames(%d)", n, each, c.maxFrames))
		}
		if (info.Frames-1)/each >= mostWindows {
			return nil, c.sampleError(k, fmt.Errorf("%d frames: want no more than %d windows, one every %d frames", info.Frames, mostWindows, each))
		}
		for from := int64(0); ; from += each {
			w.windows, of = append(w.windows, window{k, from, min(n, info.Frames-from)}), append(of, k)
			if from+n >= info.Frames || from+each >= info.Frames {
				break
			}
		}
	}
	if w.Wrap.Dataset, err = dataset.Subset(c.Dataset, of); err != nil {
		return nil, err
	}
	w.spec = append(slices.Clone(c.spec), dataset.Field{Name: "seconds", Dtype: dataset.Float64})
	if err := w.spec.Validate(); err != nil {
		return nil, fmt.Errorf("audio: Windows: %w", err)
	}
	return w, nil
}

// framesOf is how many frames a time has, or more than any file has.
func framesOf(d time.Duration, rate int) int64 {
	return int64(min(math.Round(d.Seconds()*float64(rate)), mostFrames))
}

// windowInfos are those of all windows.
func (c *Clips) windowInfos() []Info {
	infos := make([]Info, len(c.windows))
	for i, w := range c.windows {
		infos[i] = c.files[w.file]
		infos[i].Frames = w.n
	}
	return infos
}

// Name is the name of the file of sample i, and when its window begins: "talk.mp3, from 30s".
func (c *Clips) Name(i int) string {
	name := c.Wrap.Name(i)
	if c.windows == nil || name == "" {
		return name
	}
	w := c.windows[i]
	begin := Info{Rate: c.files[w.file].Rate, Frames: w.from}
	return fmt.Sprintf("%s, from %v", name, begin.Duration())
}
