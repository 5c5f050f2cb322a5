package raster

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/figures"
)

// MaxChannels is the limit of channels.
const MaxChannels = 4096

// Describe is what steps must keep.
func (m *Planes) Describe() string {
	return fmt.Sprintf("%s of %s in %d values of %s",
		figures.Count(m.Channels, "channel", "channels"), figures.Pixels(m.Width, m.Height), len(m.Pix), m.Dtype.String())
}

// Describe is what steps must keep.
func (m *Image) Describe() string {
	return fmt.Sprintf("%s in %d bytes", figures.Pixels(m.Width, m.Height), len(m.Pix))
}
