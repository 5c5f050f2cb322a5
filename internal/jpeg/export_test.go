package jpeg

// Portable makes d decode entropy code without a kernel.
func (d *Decoder) Portable() { d.stretch.off = true }

// Eager makes several goroutines decode small images too.
func (d *Decoder) Eager() { d.eager = true }
