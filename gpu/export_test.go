package gpu

// Symbols are the names of all calls that the package makes.
func Symbols() []string { return symbols[:] }

// DefaultLibrary replaces the default file, without the effects of Library.
func DefaultLibrary(path string) Option { return Option{func(c *config) { c.library = path }} }

// Next runs f in the place of the next driver call that may wait.
func (p *Pinned) Next(f func()) {
	p.device.waits.do(func() error {
		f()
		return nil
	})
}
