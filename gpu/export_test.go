package gpu

// Symbols are the names of all calls that the package makes.
func Symbols() []string { return symbols[:] }

// DefaultLibrary replaces the default file, without the effects of Library.
func DefaultLibrary(path string) Option { return Option{func(c *config) { c.library = path }} }
