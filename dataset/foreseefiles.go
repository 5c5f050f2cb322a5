package dataset

import "io/fs"

// A FileForeseer is a file system that fetches parts of its files in advance, when it knows
// which samples will be placed. The file system of package objects is one, if its store is.
type FileForeseer interface {
	// ForeseeFiles is like Foresee of a [Foreseer], for samples in these blocks. It returns
	// nil if it does not use f.
	ForeseeFiles(f Future, b FileBlocks) (stop func())
}

// FileBlocks says which parts of files each sample of a dataset is read from. Several
// goroutines call its functions at once.
type FileBlocks struct {
	// Len is the number of blocks.
	Len int
	// Of is the number of the block that a sample is read from, or -1 if there is none. If Of
	// is nil, sample i is in block i.
	Of func(sample int) int
	// At appends the parts of files that a block consists of to dst. There are none if it
	// will not be read, because it is in memory.
	At func(block int, dst []FilePart) []FilePart
	// Once says that the dataset keeps a block in memory for all of its samples. Otherwise it
	// reads it for every sample.
	Once bool
}

// A FilePart is a part of a file that is read by one ReadAt.
type FilePart struct {
	Path string // as the file is opened
	Off  int64
	Len  int64 // in bytes, or -1 for the whole file
}

// ForeseeFiles passes f on to fsys if it is a [FileForeseer]. Datasets that read files use it in
// their method Foresee.
//
// Of any other file system it begins to open the files. If they are files of the operating
// system, it asks it to read their parts ahead (Linux and macOS), as far as the next batch and 16
// MiB. Of parts that are all in memory it looks at one per batch.
//
// A FileForeseer finds a part again by its path, offset and length alone. So a Reader must read
// it by one ReadAt of exactly these bytes.
func ForeseeFiles(fsys fs.FS, f Future, b FileBlocks) (stop func()) {
	if s, ok := fsys.(FileForeseer); ok {
		return s.ForeseeFiles(f, b)
	}
	return advise(fsys, f, b)
}
