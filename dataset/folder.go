package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

// A Folder is a dataset of images in one folder per class, made by
// [ImageFolder].
//
// A sample has two fields: "image", ragged uint8, holds the encoded file, and
// "label", int64, the class. The images of a class have consecutive indices.
// With [NoClasses] there is no label.
type Folder struct {
	fsys    fs.FS
	flat    bool          // one class without a name, and no label
	classes []folderClass // at least one
	ends    []int         // of every class, in samples
	max     int64         // bytes of a file
	skipped map[string]int
}

type folderClass struct {
	name    string
	files   files.Paths    // from the root of fsys
	skipped map[string]int // by extension
}

// A FolderOption changes what [ImageFolder] does.
type FolderOption struct{ set func(*folderConfig) }

type folderConfig struct {
	max   int64
	types []string
	flat  bool
}

// MaxFileSize sets how many bytes an image file may have. A larger file is an
// error when it is read, so that no file can take all memory. The default is
// 256 MiB.
func MaxFileSize(bytes int64) FolderOption {
	return FolderOption{func(c *folderConfig) { c.max = bytes }}
}

// Extensions adds extensions of image files, such as ".heic". The step that decodes the
// files must know their format: see Decoder in package transform.
func Extensions(extensions ...string) FolderOption {
	return FolderOption{func(c *folderConfig) { c.types = slices.Concat(c.types, extensions) }}
}

// NoClasses takes all images, at any depth, and no labels: for a folder of images to be
// classified. A sample has the field "image" alone. Files at the top come first, then those of
// the folders, sorted by path.
func NoClasses() FolderOption {
	return FolderOption{func(c *folderConfig) { c.flat = true }}
}

// ImageFolder makes a dataset of the images in fsys, usually an [os.DirFS], as
// PyTorch's ImageFolder does. Every folder at the top is a class. The classes
// are sorted by name, and the index of a class is its label. Within a class,
// files at the top come first, then those of its folders, sorted by path. Files
// of one folder are sorted by name. With [NoClasses] folders are no classes.
//
// Images are files named .jpg, .jpeg, .png, .gif, .webp, .bmp, .tif, .tiff,
// .ppm, .pgm, .pbm or .pnm, in lower or upper case, or as [Extensions] says.
// Other files are skipped, and so are files and folders whose names begin with a
// dot. Symbolic links are followed, except a link to a folder that contains it.
//
// Labels and indices are those of torchvision's ImageFolder unless there are such names:
// torchvision takes hidden files and folders, so that a class with a dot shifts the labels of
// those after it, and leaves out .gif, .pbm and .pnm, so that these shift the indices.
//
// A class without images is an error, and so is a folder that cannot be read.
// All of these errors are reported together.
func ImageFolder(fsys fs.FS, options ...FolderOption) (*Folder, error) {
	c := folderConfig{max: 256 << 20, types: imageTypes}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if fsys == nil {
		return nil, errors.New("dataset: ImageFolder: the file system is nil")
	}
	if c.max < 1 {
		return nil, fmt.Errorf("dataset: MaxFileSize(%d): want 1 or more", c.max)
	}
	for _, ext := range c.types {
		if len(ext) < 2 || path.Ext(ext) != ext {
			return nil, fmt.Errorf("dataset: Extensions(%q): want a dot and letters", ext)
		}
	}
	f := &Folder{fsys: files.AnyName(fsys), flat: c.flat, max: c.max}
	scan := scanClasses
	if f.flat {
		scan = scanFlat
	}
	classes, err := scan(f.fsys, c.types)
	if err != nil {
		return nil, err
	}
	f.classes = classes
	f.skipped = map[string]int{}
	n := 0
	for _, c := range classes {
		for ext, count := range c.skipped {
			f.skipped[ext] += count
		}
		n += c.files.Len()
		f.ends = append(f.ends, n)
	}
	return f, nil
}

// Len is the number of images.
func (f *Folder) Len() int { return f.ends[len(f.ends)-1] }

// Spec is "image", ragged uint8, the encoded file, and "label", int64, the
// class. With [NoClasses] it is "image" alone.
func (f *Folder) Spec() Spec {
	image := Field{Name: "image", Dtype: Uint8, Ragged: true, Kind: Image}
	if f.flat {
		return Spec{image}
	}
	return Spec{image, {Name: "label", Dtype: Int64}}
}

// Classes are the names of the classes, sorted; a label is an index into them. They are nil
// with [NoClasses].
func (f *Folder) Classes() []string {
	if f.flat {
		return nil
	}
	names := make([]string, len(f.classes))
	for i, c := range f.classes {
		names[i] = c.name
	}
	return names
}

// Skipped counts the image files that were left out, by the extension of their
// names. These are files of formats that this library does not read, such as
// ".heic" and ".avif", and JPEG files with an extension that PyTorch's
// ImageFolder skips too, such as ".jfif". Convert or rename them to load them.
func (f *Folder) Skipped() map[string]int { return maps.Clone(f.skipped) }

// String says how many images and classes there are, and what was skipped:
// "334 images of 10 classes, skipped 12 .heic".
func (f *Folder) String() string {
	text := figures.Count(f.Len(), "image", "images")
	if !f.flat {
		text += " of " + figures.Count(len(f.classes), "class", "classes")
	}
	return text + skippedText(f.skipped)
}

// Label is the class of image i, which must be from 0 to Len()-1. It is 0 with [NoClasses].
func (f *Folder) Label(i int) int { return sort.SearchInts(f.ends, i+1) }

// Path is the path of image i in fsys, separated by slashes. i must be from 0
// to Len()-1.
func (f *Folder) Path(i int) string {
	label := f.Label(i)
	files := &f.classes[label].files
	return files.At(i - f.ends[label] + files.Len())
}

// Name is the path of image i, or "" if i is out of range.
func (f *Folder) Name(i int) string {
	if CheckIndex(i, f.Len()) != nil {
		return ""
	}
	return f.Path(i)
}

// Labels are the classes of all images, in the order of the images, for
// [StratifiedSplit] and samplers that balance classes. They are nil with [NoClasses].
func (f *Folder) Labels() []int {
	if f.flat {
		return nil
	}
	labels := make([]int, 0, f.Len())
	for label, c := range f.classes {
		for range c.files.Len() {
			labels = append(labels, label)
		}
	}
	return labels
}

// Open makes a Reader. It holds no open file between two samples.
func (f *Folder) Open() (Reader, error) { return folderReader{f}, nil }

// Foresee begins to fetch the files before they are read, where that is of use: see
// [ForeseeFiles].
func (f *Folder) Foresee(future Future) (stop func()) {
	return ForeseeFiles(f.fsys, future, FileBlocks{
		Len: f.Len(),
		At:  func(i int, dst []FilePart) []FilePart { return append(dst, FilePart{Path: f.Path(i), Len: -1}) },
	})
}

type folderReader struct{ *Folder }

func (r folderReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(StageRead)
	if err := files.ReadSample(files.In(ctx, r.fsys), r.Path(i), slots.Cell(dst.Cell(0)), r.max); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if !r.flat {
		Set(dst, 1, int64(r.Label(i)))
	}
	return nil
}

func (r folderReader) Close() error { return nil }
