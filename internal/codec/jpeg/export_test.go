package jpeg

// Portable makes d decode entropy code without a kernel.
func (d *Decoder) Portable() { d.stretch.off = true }
