package source

import (
	"bytes"
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/codec/gif"
	"github.com/penstock-go/penstock/internal/codec/webp"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// A moving is the frames of a file.
type moving struct {
	files files.Bundle
	now   animation // if there are no files
	gif   gif.Animation
	webp  webp.Animation
	size  image.Point // of the frames of an animation
}

// An animation is a file of several frames.
type animation interface {
	header
	Len() int
	// Seek says which frame Decode is to write.
	Seek(k int)
}

// animatedPixels is how many times MaxPixels all frames of an animation may have together. Each of them takes work, whichever are wanted.
const animatedPixels = 16

// OpenClip reads what the frames of a file are, and returns how many there are.
func (f *Files) OpenClip(data []byte) (n int, err error) {
	m := &f.moving
	m.files = files.Bundle{}
	limit := min(animatedPixels*int64(f.Limit), 1<<50)
	m.gif.Limit, m.webp.Limit = limit, limit
	format := sniff(data)
	switch {
	case bytes.HasPrefix(data, []byte(files.BundleSignature)):
		if m.files, err = files.ParseBundle(data); err != nil {
			return 0, fmt.Errorf("transform: decode: %w", err)
		}
		return m.files.Len(), nil
	case format == nil:
		return 0, fmt.Errorf("transform: decode: %w", unknown(data))
	case format.name == "GIF":
		m.now = &m.gif
	case format.name == "WebP":
		m.now = &m.webp
	default:
		return 0, fmt.Errorf("transform: decode: a %s file is one image: want a clip, as package video makes it, or a GIF or WebP file", format.name)
	}
	f.name, f.now = format.name, m.now
	w, h, err := m.now.Header(data)
	switch {
	case err != nil:
		return 0, f.wrap(err)
	case w > f.Limit/h:
		return 0, fmt.Errorf("transform: decode: %s: %s, more than the limit of %d (see MaxPixels)", f.name, figures.Pixels(w, h), f.Limit)
	}
	m.size = image.Pt(w, h)
	return m.now.Len(), nil
}

// OpenFrame is Open for frame k of the clip that OpenClip has read.
func (f *Files) OpenFrame(k int) (w, h int, err error) {
	m := &f.moving
	if m.files.Len() > 0 {
		return f.Open(Encoded{Data: m.files.File(k)})
	}
	m.now.Seek(k)
	return m.size.X, m.size.Y, nil
}

// Frame makes s frame k of arrays of n bytes each.
func (s *Raw) Frame(all []byte, n, k int) { s.Pix = all[k*n : (k+1)*n : (k+1)*n] }
