package gpu

// Symbols are the names of all calls that the package makes.
func Symbols() []string { return symbols[:] }
