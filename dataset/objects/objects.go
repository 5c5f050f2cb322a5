// Package objects makes file systems of objects: of files that an HTTP server or a
// bucket holds. Every dataset of this library that reads an [fs.FS] then reads
// objects, without a change:
//
//	server, err := objects.HTTP("https://data.example.org/photos/", objects.Index("index.txt"))
//	client, err := objects.NewClient(server)
//	fsys, err := objects.NewFS(ctx, client, "train")
//	photos, err := dataset.ImageFolder(fsys)
//
// A [Remote] is what a protocol offers: requests that may fail, stall or be slow.
// [HTTP] makes one, and packages objects/s3, objects/gcs and objects/azure, modules of their
// own, make one of a bucket. A [Client] makes a [Store] of it, which reads on after a broken
// request, tries again, and sends a second request where the first is slow. [Folder]
// is a Store of local files. [NewFS] makes a file system over any Store. Package cache, in this
// folder, is a Store that keeps the bytes of another one on the local disk. Package
// prefetch is a Store that fetches bytes before a loader needs them.
//
// # Versions
//
// A listing, or the first request for an object, tells its version. Every later read
// is of that version. If the object was replaced in the meantime, the read fails with
// [ErrReplaced]. It never returns bytes of two versions.
//
// # Errors
//
// [errors.Is] tells why an object cannot be read: [fs.ErrNotExist] if it is missing,
// [fs.ErrPermission] if access is forbidden, [ErrExpired] if a credential or a
// presigned URL is too old, [ErrReplaced] if it was replaced. These errors are not
// tried again. Errors name the object. They hold no credentials, no URL and no query.
//
// A loader that skips or replaces damaged samples does so for a missing object alone. Every other
// error of a [Client] ends the loop (see dataset.MayPass): otherwise the batches would depend on
// the time and on who reads.
package objects

import (
	"context"
	"io"
	"iter"

	"github.com/penstock-go/penstock/dataset"
)

// An Object is one version of a file in a store.
type Object struct {
	// Name is the path from the root of the store, with slashes: "train/cat/1.jpg".
	Name string
	// Size is the length in bytes. It is negative if it is not known.
	Size int64
	// Version changes whenever the bytes change: an ETag with its quotes, a
	// Last-Modified date, a generation. It is empty if it is not known.
	Version string
}

// A Store reads objects. Several goroutines use it at once.
//
// Its errors name the object and satisfy [errors.Is] as the package describes.
type Store interface {
	// List yields the objects whose names begin with prefix, in any order. Sizes and
	// versions may be unknown. An error is the last thing that it yields.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Stat finds the size and the version of an object.
	Stat(ctx context.Context, name string) (Object, error)
	// ReadAt reads len(p) bytes of o, from byte off on. After an error p may hold
	// anything. If the version of o is unknown, the store remembers the version that
	// it first reads, and reads that from then on.
	ReadAt(ctx context.Context, o Object, p []byte, off int64) error
	// Identity names the service and where in it the objects are, so that a cache can tell
	// stores apart. It is the same in later runs, and holds no credentials. It is empty if it
	// is not known.
	Identity() string
}

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
// be placed. Datasets pass what [dataset.Foresee] tells them on to it.
type Foreseer interface {
	// Foresee is like that of [dataset.Foresee], for samples of these blocks.
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

// A Remote sends requests to a service that holds objects, one request per call. It
// does not try again: [Client] does. Several goroutines use it at once.
//
// An error that satisfies [errors.Is] for [fs.ErrNotExist], [fs.ErrPermission],
// [ErrExpired] or [ErrReplaced], or that [Permanent] made, is final. After any other
// error the request is sent again.
type Remote interface {
	// Identity is that of [Store].
	Identity() string
	// List yields the objects whose names begin with prefix, in an order that does not
	// change. If after is not empty, it begins with the object that follows the one of
	// that name. In place of an object that it leaves out it may yield the zero Object, to
	// show that the service is not silent.
	List(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
	// Get requests n bytes of o from byte off on. It returns as soon as the response
	// begins, with the size and the version that the response tells; the caller closes
	// the body. If o has a version and the service holds another one, the error is
	// ErrReplaced. A body that ends early is no error of Get.
	//
	// The context also ends the reading of the body.
	Get(ctx context.Context, o Object, off, n int64) (body io.ReadCloser, found Object, err error)
}
