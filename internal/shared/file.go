// Package shared has what datasets need whose folders several processes use at the same
// time: locks of files that the system ends with the process that holds them, however
// that ends, and files that can be removed while they are open.
package shared

import "os"

// Open opens a file for reading, as [OpenFile] does.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }
