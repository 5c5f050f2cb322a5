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

// A scanner finds the files of a [Folder].
type scanner struct {
	fsys       fs.FS
	extensions []string // of the files
	others     []string // of files that are counted
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
	skipped []string // extensions of other files that are counted
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
		case hasExtension(p, s.extensions) != "":
			f.files = append(f.files, p)
		default:
			if ext := hasExtension(p, s.others); ext != "" {
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
