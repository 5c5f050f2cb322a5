package jpeg

// Portable makes d decode entropy code without a kernel.
func (d *Decoder) Portable() { d.stretch.off = true }

// Eager makes several goroutines decode small images too, in bands of this number of
// MCU rows, 8 at most.
func (d *Decoder) Eager(rows int) { d.eager = rows }
