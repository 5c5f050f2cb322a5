package objects

import "github.com/penstock-go/penstock/dataset"

// A Block is a range of an object that is read as a whole, by one ReadAt. The blocks
// of a dataset may be several such ranges each: see [Blocks].
type Block struct {
	Object   Object
	Off, Len int64 // in bytes
}

// Blocks says which block each sample of a dataset is read from. Several goroutines call
// its functions at once.
type Blocks struct {
	// Len is the number of blocks.
	Len int
	// Of is the number of the block that holds a sample, or -1 if there is no such sample.
	Of func(sample int) int
	// At appends the ranges of a block to dst, exactly as ReadAt will name them. There are
	// none if the block will not be read, or if that is not known yet.
	At func(block int, dst []Block) []Block
	// Once says that the dataset keeps a block in memory for all of its samples, so that it
	// reads its ranges once per epoch. Otherwise it reads them for every sample.
	Once bool
}

// A Foreseer is a [Store] that fetches blocks in advance, when it knows which samples will
// be placed. Datasets pass what [dataset.Foreseer] tells them on to it.
type Foreseer interface {
	// Foresee is like that of [dataset.Foreseer], for samples of these blocks.
	Foresee(f dataset.Future, b Blocks) (stop func())
}

// A Holder is a [Store] that keeps copies nearby, such as one with a cache on the local disk.
type Holder interface {
	// Has reports whether n bytes of o from byte off on can be read without a request.
	Has(o Object, off, n int64) bool
	// Forget drops the copy of these bytes, because they are damaged: the reader knows their
	// checksum. The next read requests them again.
	Forget(o Object, off, n int64)
}

// ForeseeFiles tells the store which parts of files a dataset will read. It returns nil if the
// store is no [Foreseer].
//
// A file whose size is not known yet is left out, and so are parts that a file does not have.
func (f *fileSystem) ForeseeFiles(future dataset.Future, files dataset.FileBlocks) (stop func()) {
	s, ok := f.store.(Foreseer)
	if !ok {
		return nil
	}
	b := Blocks{Len: files.Len, Of: files.Of, Once: files.Once}
	if b.Of == nil {
		b.Of = func(sample int) int { return sample }
	}
	b.At = func(block int, dst []Block) []Block {
		for _, part := range files.At(block, nil) {
			o, ok := f.known(part.Path)
			if part.Len < 0 {
				part.Len = o.Size - part.Off
			}
			if ok && part.Off >= 0 && part.Len <= o.Size-part.Off {
				dst = append(dst, Block{Object: o, Off: part.Off, Len: part.Len})
			}
		}
		return dst
	}
	return s.Foresee(future, b)
}

// known is an object whose size is known without a request.
func (f *fileSystem) known(name string) (Object, bool) {
	i, ok := f.find(name)
	if !ok {
		return Object{}, false
	}
	o := &f.objects[i]
	if o.Size >= 0 {
		return *o, true
	}
	if found, ok := f.measured.Load(o); ok {
		return found.(Object), true
	}
	return Object{}, false
}
