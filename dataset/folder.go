package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

// A Folder is a dataset of files in one folder per class. [ImageFolder] and [Files] make
// it. The files of a class have consecutive indices.
type Folder struct {
	fsys    fs.FS
	spec    Spec
	classes []folderClass // at least one; with NoClasses one without a name
	ends    []int         // of every class, in samples
	max     int64         // bytes of a file
	parted  atomic.Bool   // parts of files are read
}

type folderClass struct {
	name    string
	files   files.Paths    // from the root of fsys
	skipped map[string]int // by extension
}

// A FolderOption changes what [ImageFolder] and [Files] do.
type FolderOption struct{ set func(*folderConfig) }

type folderConfig struct {
	max  int64
	flat bool
}

// MaxBytes sets how many bytes a file may have. A larger file is an error when it is
// read. The default is 256 MiB.
func MaxBytes(n int64) FolderOption {
	return FolderOption{func(c *folderConfig) { c.max = n }}
}

// NoClasses takes all files, at any depth, and no labels: for a folder of images to be
// classified. Files at the top come first, then those of the folders, sorted by path.
func NoClasses() FolderOption {
	return FolderOption{func(c *folderConfig) { c.flat = true }}
}

// ImageFolder makes a dataset of the images in fsys, usually an [os.DirFS], as
// PyTorch's ImageFolder does. Every folder at the top is a class. The classes
// are sorted by name, and the index of a class is its label. Within a class,
// files at the top come first, then those of its folders, sorted by path.
//
// Images are files named .jpg, .jpeg, .png, .gif, .webp, .bmp, .tif, .tiff,
// .ppm, .pgm, .pbm or .pnm, in lower or upper case; use [Files] for others. Files and
// folders whose names begin with a dot are skipped. Labels and indices are those of
// torchvision, which takes hidden files too, and leaves out .gif, .pbm and .pnm.
//
// A sample has the fields "image", ragged uint8, the encoded file, and "label", int64,
// the class. A class without images is an error, and so is a folder that cannot be read.
func ImageFolder(fsys fs.FS, options ...FolderOption) (*Folder, error) {
	image := Field{Name: "image", Dtype: Uint8, Ragged: true, Kind: Image}
	return newFolder("ImageFolder", fsys, image, scanner{extensions: imageTypes}, options)
}

// Files is [ImageFolder] for files of any kind, those with one of these extensions, such as
// ".wav". The field has the content of a file, as ragged uint8. For images in a format that the
// program registers with package image, call it "image".
func Files(fsys fs.FS, field string, extensions []string, options ...FolderOption) (*Folder, error) {
	for _, ext := range extensions {
		if len(ext) < 2 || path.Ext(ext) != ext {
			return nil, fmt.Errorf("dataset: Files: extension %q: want a dot and letters", ext)
		}
	}
	if len(extensions) == 0 {
		return nil, errors.New("dataset: Files: no extensions")
	}
	return newFolder("Files", fsys, Field{Name: field, Dtype: Uint8, Ragged: true}, scanner{extensions: extensions}, options)
}

func newFolder(caller string, fsys fs.FS, content Field, scan scanner, options []FolderOption) (*Folder, error) {
	c := folderConfig{max: 256 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if fsys == nil {
		return nil, fmt.Errorf("dataset: %s: the file system is nil", caller)
	}
	if c.max < 1 {
		return nil, fmt.Errorf("dataset: MaxBytes(%d): want 1 or more", c.max)
	}
	f := &Folder{fsys: files.AnyName(fsys), spec: Spec{content}, max: c.max}
	if !c.flat {
		f.spec = append(f.spec, Field{Name: "label", Dtype: Int64})
	}
	if err := f.spec.Validate(); err != nil {
		return nil, err
	}
	scan.fsys = f.fsys
	var err error
	if f.classes, err = scan.classes(c.flat); err != nil {
		return nil, err
	}
	n := 0
	for _, c := range f.classes {
		n += c.files.Len()
		f.ends = append(f.ends, n)
	}
	return f, nil
}

// flat reports whether there are no classes.
func (f *Folder) flat() bool { return len(f.spec) == 1 }

// Len is the number of files.
func (f *Folder) Len() int { return f.ends[len(f.ends)-1] }

// Spec is the field of the content, ragged uint8, and "label", int64, unless [NoClasses]
// leaves it out.
func (f *Folder) Spec() Spec { return f.spec }

// Classes are the names of the classes, sorted; a label is an index into them. They are nil
// with [NoClasses].
func (f *Folder) Classes() []string {
	if f.flat() {
		return nil
	}
	names := make([]string, len(f.classes))
	for i, c := range f.classes {
		names[i] = c.name
	}
	return names
}

// String says how many files and classes there are, and which files were left out because
// of their names: "334 images of 10 classes, skipped 12 .heic".
func (f *Folder) String() string {
	text := figures.Count(f.Len(), "file", "files")
	if f.spec[0].Kind == Image {
		text = figures.Count(f.Len(), "image", "images")
	}
	if !f.flat() {
		text += " of " + figures.Count(len(f.classes), "class", "classes")
	}
	skipped := map[string]int{}
	for _, c := range f.classes {
		for ext, n := range c.skipped {
			skipped[ext] += n
		}
	}
	return text + skippedText(skipped)
}

// Name is the path of file i in fsys, or "" if i is out of range.
func (f *Folder) Name(i int) string {
	if CheckIndex(i, f.Len()) != nil {
		return ""
	}
	return f.path(i)
}

func (f *Folder) label(i int) int { return sort.SearchInts(f.ends, i+1) }

func (f *Folder) path(i int) string {
	label := f.label(i)
	files := &f.classes[label].files
	return files.At(i - f.ends[label] + files.Len())
}

// Labels are the classes of all files, in the order of the files, for [StratifiedSplit] and
// [sampler.Balanced]. They are nil with [NoClasses].
//
// [sampler.Balanced]: https://pkg.go.dev/github.com/penstock-go/penstock/sampler#Balanced
func (f *Folder) Labels() []int {
	if f.flat() {
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

// Open makes a Reader. That of [Files] is a [PartReader]: it leaves out what large local files hold, and holds one
// of them open until the next sample. Otherwise no file is open between two samples.
func (f *Folder) Open() (Reader, error) {
	if f.spec[0].Kind == Image {
		return folderReader{f}, nil
	}
	return &partedReader{folderReader: folderReader{f}}, nil
}

// Foresee begins to fetch the files before they are read, where that is of use: see
// [ForeseeFiles]. Once parts of files were read, of local files only the beginnings are fetched: which
// parts will be read is not known.
func (f *Folder) Foresee(future Future) (stop func()) {
	_, far := f.fsys.(fetcher)
	return ForeseeFiles(f.fsys, future, FileBlocks{
		Len: f.Len(),
		At: func(i int, dst []FilePart) []FilePart {
			part := FilePart{Path: f.path(i), Len: -1}
			if !far && f.parted.Load() {
				part.Len = files.Small
			}
			return append(dst, part)
		},
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
	if err := files.ReadSample(files.In(ctx, r.fsys), r.path(i), slots.Cell(dst.Cell(0)), r.max); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if !r.flat() {
		Set(dst, 1, int64(r.label(i)))
	}
	return nil
}

func (r folderReader) Close() error { return nil }

// A partedReader also leaves files out.
type partedReader struct {
	folderReader
	left fs.File // the latest one, or nil
}

// Close closes the file that is open.
func (r *partedReader) Close() error {
	if r.left == nil {
		return nil
	}
	err := r.left.Close()
	r.left = nil
	return err
}

func (r *partedReader) Place(ctx context.Context, i int, dst Slot) error {
	return errors.Join(r.Close(), r.folderReader.Place(ctx, i, dst))
}

// PlaceParts leaves out a file that is local, can be read anywhere and is not small.
func (r *partedReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (n int, parts io.ReaderAt, err error) {
	if CheckIndex(i, r.Len()) != nil || ctx.Err() != nil || f != 0 {
		return 0, nil, r.Place(ctx, i, dst)
	}
	if err := r.Close(); err != nil {
		return 0, nil, err
	}
	dst.Stage(StageRead)
	file, size, err := files.OpenSample(files.In(ctx, r.fsys), r.path(i))
	if err != nil {
		return 0, nil, fmt.Errorf("dataset: %w", err)
	}
	if at, ok := file.(io.ReaderAt); ok && !files.IsFar(file) && size > files.Small && size <= min(r.max, math.MaxInt-1) {
		r.left, n, parts = file, int(size), at
		r.parted.Store(true)
	} else {
		err = files.ReadOpened(file, size, slots.Cell(dst.Cell(0)), r.max)
		if err = errors.Join(err, file.Close()); err != nil {
			return 0, nil, fmt.Errorf("dataset: %w", err)
		}
	}
	if !r.flat() {
		Set(dst, 1, int64(r.label(i)))
	}
	return n, parts, nil
}

const scanDepth = 64 // nested folders, for file systems that cannot tell that links form a cycle

var imageTypes = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"}

// A scanner finds the files of a [Folder].
type scanner struct {
	fsys       fs.FS
	extensions []string // of the files
}

// classes finds the classes, sorted by name, and their files, or one class of all files.
func (s *scanner) classes(flat bool) ([]folderClass, error) {
	if flat {
		all, err := s.class(".")
		return []folderClass{all}, err
	}
	top, err := s.readFolder(".")
	if err != nil {
		return nil, err
	}
	if len(top.folders) == 0 {
		return nil, fmt.Errorf("dataset: folder: no class: want a folder per class at the top, found %s and no folder (NoClasses takes files without classes)", figures.Count(top.entries, "file", "files"))
	}
	classes := make([]folderClass, len(top.folders))
	return classes, files.Scan(len(classes), files.Scanners, func(k int) (err error) {
		classes[k], err = s.class(top.folders[k])
		return err
	})
}

// class finds the files of a class in the folder of that name, which is "." for all.
func (s *scanner) class(name string) (folderClass, error) {
	var (
		folders []*folder
		errs    []error
		found   int
		skipped = map[string]int{}
	)
	// A list that grows at its end, instead of recursion: no stack to exhaust.
	for pending := []string{name}; len(pending) > 0; {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if strings.Count(at, "/") >= scanDepth {
			errs = append(errs, fmt.Errorf("dataset: folder: %s: more than %d nested folders", at, scanDepth))
			break
		}
		f, err := s.readFolder(at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found += len(f.files)
		for _, ext := range f.skipped {
			skipped[ext]++
		}
		folders = append(folders, &f)
		pending = append(pending, f.folders...)
	}
	if len(errs) == 0 && found == 0 {
		where := "class " + name + ": "
		if name == "." {
			where = ""
		}
		errs = append(errs, fmt.Errorf("dataset: folder: %sno file (%s)%s", where, strings.Join(s.extensions, " "), skippedText(skipped)))
	}
	if len(errs) > 0 {
		return folderClass{}, files.Join(errs)
	}
	slices.SortFunc(folders, func(a, b *folder) int { // no other folder begins with a dot
		return strings.Compare(strings.TrimPrefix(a.path, "."), strings.TrimPrefix(b.path, "."))
	})
	images := make([]string, 0, found)
	for _, f := range folders {
		images = append(images, f.files...)
	}
	return folderClass{name, files.NewPaths(images), skipped}, nil
}

// folder is what one folder holds without hidden entries. folders and files are
// paths from the root, sorted.
type folder struct {
	path    string
	folders []string
	files   []string
	skipped []string // extensions of other files
	entries int
}

func (s *scanner) readFolder(at string) (folder, error) {
	entries, err := fs.ReadDir(s.fsys, at) // sorted by name
	if err != nil {
		return folder{}, fmt.Errorf("dataset: folder: read %s: %w", files.Place(s.fsys, at), files.Cause(err))
	}
	f := folder{path: at, entries: len(entries)}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p := path.Join(at, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if mode, err = followLink(s.fsys, p); err != nil {
				return folder{}, err
			}
		}
		switch {
		case mode.IsDir():
			f.folders = append(f.folders, p)
		case !mode.IsRegular():
		case s.takes(p):
			f.files = append(f.files, p)
		default:
			f.skipped = append(f.skipped, cmp.Or(strings.ToLower(path.Ext(p)), "without extension"))
		}
	}
	return f, nil
}

// followLink is the type of the target of the link at p. A link whose target does
// not exist counts as a file, which cannot be read. A link to a folder that contains
// it is ignored.
func followLink(fsys fs.FS, p string) (fs.FileMode, error) {
	target, err := fs.Stat(fsys, p)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("dataset: folder: follow %s: %w", p, files.Cause(err))
	}
	if target.IsDir() {
		for outer := path.Dir(p); ; outer = path.Dir(outer) {
			if info, err := fs.Stat(fsys, outer); err == nil && os.SameFile(info, target) {
				return fs.ModeIrregular, nil
			}
			if outer == "." {
				break
			}
		}
	}
	return target.Mode().Type(), nil
}

// takes reports whether the file has one of the extensions.
func (s *scanner) takes(name string) bool {
	ext := path.Ext(name)
	return slices.ContainsFunc(s.extensions, func(e string) bool { return strings.EqualFold(e, ext) })
}

// skippedText is the end of a text that counts files: ", skipped 3 .avif, 12 .heic". Of many extensions it names the most frequent
// ones: numbers at the end of names count as extensions, too.
func skippedText(skipped map[string]int) string {
	const most = 10
	names := slices.Sorted(maps.Keys(skipped))
	others := 0
	if len(names) > most {
		slices.SortStableFunc(names, func(a, b string) int { return skipped[b] - skipped[a] })
		for _, ext := range names[most:] {
			others += skipped[ext]
		}
		names = names[:most]
		slices.Sort(names)
	}
	text, sep := "", ", skipped "
	for _, ext := range names {
		text += fmt.Sprintf("%s%d %s", sep, skipped[ext], ext)
		sep = ", "
	}
	if others > 0 {
		text += fmt.Sprintf("%s%d others", sep, others)
	}
	return text
}
