package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

const scanDepth = 64 // nested folders, for file systems that cannot tell that links form a cycle

var imageTypes = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"}

// otherImages are extensions of image files that do not become samples.
var otherImages = []string{
	".avif", ".avifs", ".heic", ".heics", ".heif", ".heifs", ".hif", // ISO base media
	".jxl", ".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx", ".jxr", ".wdp", // other standards of the JPEG group, and JPEG XR
	".jfif", ".jpe", ".jif", // JPEG
	".psd", ".psb", ".xcf", ".svg", ".svgz", ".pdf", ".eps", ".ico", ".cur", ".icns",
	".tga", ".dds", ".exr", ".hdr", ".pcx", ".qoi", ".pfm", ".pam", ".dib", ".apng", ".xbm", ".xpm",
	".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2", ".raf", // cameras' raw data
}

// scanClasses finds the classes, sorted by name, and their images, which have one of the
// extensions in types.
func scanClasses(fsys fs.FS, types []string) ([]folderClass, error) {
	top, err := readFolder(fsys, ".", types)
	if err != nil {
		return nil, err
	}
	if len(top.folders) == 0 {
		return nil, fmt.Errorf("dataset: image folder: no class: want a folder of images per class at the top, found %s and no folder (NoClasses takes images without classes)", figures.Count(top.entries, "file", "files"))
	}
	classes := make([]folderClass, len(top.folders))
	return classes, files.Scan(len(classes), files.Scanners, func(k int) (err error) {
		classes[k], err = scanClass(fsys, top.folders[k], types)
		return err
	})
}

// scanFlat makes one class of all images.
func scanFlat(fsys fs.FS, types []string) ([]folderClass, error) {
	all, err := scanClass(fsys, ".", types)
	return []folderClass{all}, err
}

// scanClass finds the images of a class in the folder of that name, which is "." for all images.
func scanClass(fsys fs.FS, name string, types []string) (folderClass, error) {
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
			errs = append(errs, fmt.Errorf("dataset: image folder: %s: more than %d nested folders", at, scanDepth))
			break
		}
		f, err := readFolder(fsys, at, types)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found += len(f.images)
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
		errs = append(errs, fmt.Errorf("dataset: image folder: %sno image (%s)%s: the option Extensions adds others", where, strings.Join(types, " "), skippedText(skipped)))
	}
	if len(errs) > 0 {
		return folderClass{}, files.Join(errs)
	}
	slices.SortFunc(folders, func(a, b *folder) int { // no other folder begins with a dot
		return strings.Compare(strings.TrimPrefix(a.path, "."), strings.TrimPrefix(b.path, "."))
	})
	images := make([]string, 0, found)
	for _, f := range folders {
		images = append(images, f.images...)
	}
	return folderClass{name, files.NewPaths(images), skipped}, nil
}

// folder is what one folder holds without hidden entries. folders and images are
// paths from the root, sorted.
type folder struct {
	path    string
	folders []string
	images  []string
	skipped []string // extensions of other images
	entries int
}

func readFolder(fsys fs.FS, at string, types []string) (folder, error) {
	entries, err := fs.ReadDir(fsys, at) // sorted by name
	if err != nil {
		return folder{}, fmt.Errorf("dataset: image folder: read %s: %w", files.Place(fsys, at), files.Cause(err))
	}
	f := folder{path: at, entries: len(entries)}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p := path.Join(at, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if mode, err = followLink(fsys, p); err != nil {
				return folder{}, err
			}
		}
		switch {
		case mode.IsDir():
			f.folders = append(f.folders, p)
		case !mode.IsRegular():
		case hasExtension(p, types) != "":
			f.images = append(f.images, p)
		default:
			if ext := hasExtension(p, otherImages); ext != "" {
				f.skipped = append(f.skipped, ext)
			}
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
		return 0, fmt.Errorf("dataset: image folder: follow %s: %w", p, files.Cause(err))
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

// hasExtension is the one of the extensions that name has, or "".
func hasExtension(name string, extensions []string) string {
	ext := path.Ext(name)
	for _, e := range extensions {
		if strings.EqualFold(e, ext) {
			return e
		}
	}
	return ""
}

// skippedText is the end of a text that counts images: ", skipped 12 .heic, 3 .avif".
func skippedText(skipped map[string]int) string {
	text, sep := "", ", skipped "
	for _, ext := range slices.Sorted(maps.Keys(skipped)) {
		text += fmt.Sprintf("%s%d %s", sep, skipped[ext], ext)
		sep = ", "
	}
	return text
}
