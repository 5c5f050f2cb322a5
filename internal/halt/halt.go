// Package halt lets a caller end a piece of work between two of its parts, such as the rows of an image. It starts no
// goroutines.
package halt

// A Func says whether work is to end, and with which error. The zero value never ends it.
type Func func() error

// Err is the error with which the work is to end, or nil if it is to go on.
func (f Func) Err() error {
	if f == nil {
		return nil
	}
	return f()
}
