package raster

// MixBegin remembers the image, and begins a sum with weight times it.
func (m *Bytes) MixBegin(weight float32) {
	m.before, m.sum = Grow(m.before, len(m.Pix)), GrowFloats(m.sum, len(m.Pix))
	copy(m.before, m.Pix)
	for i, v := range m.Pix {
		m.sum[i] = weight * float32(v)
	}
}

// MixAgain makes the image what it was when the sum began.
func (m *Bytes) MixAgain() { copy(m.Pix, m.before) }

// MixAdd adds weight times the image to the sum.
func (m *Bytes) MixAdd(weight float32) {
	sum := m.sum[:len(m.Pix)]
	for i, v := range m.Pix {
		sum[i] += float32(weight * float32(v))
	}
}

// MixEnd makes the image the sum, rounded down.
func (m *Bytes) MixEnd() {
	pix := m.Pix[:len(m.sum)]
	for i, v := range m.sum {
		pix[i] = uint8(min(max(v, 0), 255))
	}
}

// MixBegin remembers the image, and begins a sum with weight times it.
func (m *Floats) MixBegin(weight float32) {
	m.before, m.sum = GrowFloats(m.before, len(m.Pix)), GrowFloats(m.sum, len(m.Pix))
	copy(m.before, m.Pix)
	for i, v := range m.Pix {
		m.sum[i] = weight * v
	}
}

// MixAgain makes the image what it was when the sum began.
func (m *Floats) MixAgain() { copy(m.Pix, m.before) }

// MixAdd adds weight times the image to the sum.
func (m *Floats) MixAdd(weight float32) {
	for i, v := range m.Pix {
		m.sum[i] += float32(weight * v)
	}
}

// MixEnd makes the image the sum. Integers lose their fraction.
func (m *Floats) MixEnd() {
	copy(m.Pix, m.sum)
	if d := m.depth(); d.Whole {
		for i, v := range m.Pix {
			m.Pix[i] = d.trunc(v)
		}
	}
}
