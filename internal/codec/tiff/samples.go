package tiff

// readSamples reads the layout of samples. What they become follows the table of
// Pillow's TiffImagePlugin.
func (p *storedImage) readSamples(d *directory, separate bool) error {
	bits, err := d.uints(bitsPerSample)
	if err != nil {
		return err
	}
	formats, err := d.uints(sampleFormat)
	if err != nil {
		return err
	}
	extra, err := d.uints(extraSamples)
	if err != nil {
		return err
	}
	if p.samples, err = d.uint(samplesPerPixel, 1); err != nil {
		return err
	}
	if p.asStored = p.asStored && p.settleStored(bits, formats); p.asStored {
		p.planes = separate && p.samples > 1
		return nil
	}
	s := sampling{
		storedImage: p,
		bits:        bits.ints(&p.rooms[0]),
		extra:       extra.ints(&p.rooms[1]),
		format:      1,
	}
	if f := formats.ints(&p.rooms[2]); len(f) > 0 {
		if s.format = f[0]; !alike(f, s.format) {
			return unsupported("sample formats %v", f)
		}
	}
	if len(s.bits) == 0 {
		s.bits = append(s.bits, 1)
	}
	p.bands = p.samples
	if separate && len(s.extra) > 0 && alike(s.extra, 0) { // planes without a meaning
		p.bands -= len(s.extra)
		s.extra = nil
	}
	if p.bands < 1 || p.samples > 6 {
		return unsupported("%d samples per pixel", p.samples)
	}
	p.planes = separate && p.samples > 1
	for len(s.bits) < p.bands && alike(s.bits, s.bits[0]) {
		s.bits = append(s.bits, s.bits[0])
	}
	s.bits = s.bits[:min(len(s.bits), p.bands)]
	p.bits = s.bits[0]
	if p.photometric == separated {
		return unsupported("colours of inks (CMYK)")
	}
	if p.photometric == ycbcrPhoto && p.compression != newJPEG {
		return unsupported("YCbCr without JPEG compression")
	}
	if !alike(s.bits, p.bits) || len(s.bits) < p.bands || !s.settle() {
		return unsupported("photometric interpretation %d, %d samples of %v bits, extra samples %v, sample format %d, byte order %v",
			p.photometric, p.samples, s.bits, s.extra, s.format, d.order)
	}
	// To libtiff, a sample that the file does not describe has no meaning. Pillow
	// takes such a sample for alpha, and the others for premultiplied, if it decompresses planes.
	p.alpha = p.alpha || p.planes && p.compression != none && p.photometric == rgb && p.bands == 4 && len(s.extra) == 0
	if p.planes && p.bands > 1 && p.bits < 8 {
		return unsupported("planes of %d bits per sample", p.bits)
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A sampling holds the fields that decide the image's kind.
type sampling struct {
	*storedImage
	bits, extra []int
	format      int // 1 unsigned, 2 signed, 3 floating point
}

// settle sets the kind, and reports whether Pillow reads such samples.
func (s *sampling) settle() bool {
	p := s.storedImage
	bits := p.bits
	plain := s.format == 1
	switch p.photometric {
	case whiteIsZero, blackIsZero:
		if len(s.bits) == 2 {
			p.kind = gray8
			return plain && p.photometric == blackIsZero && bits == 8 && len(s.extra) == 1 && s.extra[0] == 2
		}
		return len(s.bits) == 1 && len(s.extra) == 0 && s.settleGray(plain)
	case rgb:
		return s.settleColours()
	case paletted:
		p.kind = indices
		switch {
		case len(s.bits) == 1 && len(s.extra) == 0:
			return plain && (bits == 1 || bits == 2 || bits == 4 || bits == 8)
		case len(s.bits) == 2 && len(s.extra) == 1:
			return plain && bits == 8 && (s.extra[0] == 0 || s.extra[0] == 2)
		}
	case ycbcrPhoto:
		p.kind = colours8 // the JPEG decoder converts to RGB
		return plain && bits == 8 && len(s.extra) == 0 && len(s.bits) == 3
	}
	return false
}

// settleGray is settle for a single sample. Grey of more than 8 bits is not inverted,
// as in Pillow.
func (s *sampling) settleGray(plain bool) bool {
	p := s.storedImage
	black := p.photometric == blackIsZero
	p.invert = !black
	switch p.bits {
	case 1, 2, 4:
		p.kind = indices
		return plain
	case 8:
		p.kind = gray8
		return plain || s.format == 2 && black
	case 16:
		p.kind = gray16
		if s.format == 2 {
			p.kind = signed16
			return black
		}
		return s.format == 1 && (black || !p.high)
	case 32:
		p.kind = signed32
		switch s.format {
		case 1:
			return black && !p.high
		case 2:
			return black
		case 3:
			p.kind = float32s
			return true
		}
	}
	return false
}

// settleColours is settle for red, green and blue, which may have other samples after
// them.
func (s *sampling) settleColours() bool {
	p := s.storedImage
	more := len(s.bits) - 3
	p.kind = colours8
	if p.bits == 16 {
		p.kind = colours16
	}
	switch {
	case s.format != 1 || p.bits != 8 && p.bits != 16:
		return false
	case more == 0 && len(s.extra) == 0:
		return true
	case more < 1 || more > 1 && p.bits == 16:
		return false
	case more == 1 && len(s.extra) == 0:
		return true
	case len(s.extra) != more || !alike(s.extra[1:], 0):
		return false
	}
	p.alpha = s.extra[0] == 1
	return s.extra[0] <= 2
}
