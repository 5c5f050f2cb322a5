package transform

// toHSV is Pillow's convert("HSV"): hue, saturation and value from 0 to 255,
// rounded down, in the same mixture of float32 and float64 as Pillow's C code.
func toHSV(r, g, b uint8) (h, s, v uint8) {
	most, least := max(r, g, b), min(r, g, b)
	if most == least {
		return 0, 0, most
	}
	spread := float32(most - least)
	rc := float32(most-r) / spread
	gc := float32(most-g) / spread
	bc := float32(most-b) / spread
	var hue float32
	switch most {
	case r:
		hue = bc - gc
	case g:
		hue = float32(2 + float64(rc) - float64(bc))
	default:
		hue = float32(4 + float64(gc) - float64(rc))
	}
	turn := float64(hue)/6 + 1 // between 0 and 2
	if turn >= 1 {
		turn--
	}
	hue = float32(turn)
	saturation := spread / float32(most)
	return uint8(int(float64(hue) * 255)), uint8(int(float64(saturation) * 255)), most
}

// fromHSV converts back to RGB as Pillow does.
func fromHSV(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	sixths := float64(float32(h)) * 6 / 255
	sector := int(sixths)
	f := float32(sixths - float64(float32(sector)))
	fs := float32(float64(float32(s)) / 255)
	p := toByte(float64(v) * (1 - float64(fs)))
	q := toByte(float64(v) * (1 - float64(fs*f)))
	t := toByte(float64(v) * (1 - float64(float64(fs)*(1-float64(f)))))
	return inSector(sector, v, p, q, t)
}

// inSector are the colours of a sixth of the hues, of which v is the greatest and p the least. 6 is 0.
func inSector[T uint8 | float32](sector int, v, p, q, t T) (r, g, b T) {
	switch sector {
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	case 5:
		return v, p, q
	}
	return v, t, p
}

// toByte rounds a number from 0 to 255. Halves go up.
func toByte(v float64) uint8 { return uint8(int(v + 0.5)) }
