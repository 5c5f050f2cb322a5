package gpu

// Symbols are the names of all calls that the package makes.
func Symbols() []string { return symbols[:] }

// DefaultLibrary is Library as if nobody had asked for the file.
func DefaultLibrary(path string) Option { return Option{func(c *config) { c.library = path }} }
