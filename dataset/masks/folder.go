package masks

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/files"
)

// An Option changes what [Folder] and [Pairs] do. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	image, mask string // suffixes
	partial     bool
	max         int64
}

func newConfig(options []Option) (config, error) {
	c := config{max: 256 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if c.max < 1 {
		return c, fmt.Errorf("masks: MaxFileSize(%d): want 1 or more", c.max)
	}
	return c, nil
}

// MaxFileSize sets how many bytes a file may have. A larger file is an error when it is
// read. The default is 256 MiB.
func MaxFileSize(bytes int64) Option { return Option{func(c *config) { c.max = bytes }} }

// Suffixes sets what the names of images and of masks have before their extensions, after
// the part that is the same. Files without it are skipped. For Cityscapes:
//
//	masks.Suffixes("_leftImg8bit", "_gtFine_labelIds")
func Suffixes(image, mask string) Option {
	return Option{func(c *config) { c.image, c.mask = image, mask }}
}

// Partial leaves out images without a mask, which otherwise are an error.
func Partial() Option { return Option{func(c *config) { c.partial = true }} }

var imageTypes = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"}

// Folder pairs every image in one folder with the mask in another one whose path is the
// same, apart from the extension: "train/7.jpg" and "train/7.png". Both are usually an
// [os.DirFS]. The order is that of the paths. Extensions are those that
// [dataset.ImageFolder] reads, and files and folders whose names begin with a dot are
// skipped.
//
// An image without a mask is an error, unless [Partial] is given, and so are two files
// whose paths differ in the extension alone. Masks without an image are skipped. All
// errors are reported together, the first ten in full.
func Folder(images, masks fs.FS, options ...Option) (*Dataset, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	imagesAt, err := find(images, "images", c.image)
	if err != nil {
		return nil, err
	}
	masksAt, err := find(masks, "masks", c.mask)
	if err != nil {
		return nil, err
	}
	d := &Dataset{images: images, masks: masks, max: c.max}
	var errs []error
	for stem, image := range imagesAt {
		mask, ok := masksAt[stem]
		switch {
		case ok:
			d.pairs = append(d.pairs, Pair{image, mask})
		case !c.partial:
			errs = append(errs, fmt.Errorf("masks: image %s has no mask %s%s.*", image, stem, c.mask))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	slices.SortFunc(d.pairs, func(a, b Pair) int { return strings.Compare(a.Image, b.Image) })
	if len(errs) == 0 && len(d.pairs) == 0 {
		return nil, fmt.Errorf("masks: no image with a mask (%d images, %d masks)", len(imagesAt), len(masksAt))
	}
	if len(errs) > 0 {
		return nil, files.Join(errs)
	}
	return d, nil
}

// find finds the images below the root, by their paths without suffix and extension.
func find(fsys fs.FS, what, suffix string) (map[string]string, error) {
	found := map[string]string{}
	var errs []error
	err := fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		ext := path.Ext(p)
		stem, ok := strings.CutSuffix(strings.TrimSuffix(p, ext), suffix)
		if !ok || !slices.Contains(imageTypes, strings.ToLower(ext)) {
			return nil
		}
		if other, twice := found[stem]; twice {
			errs = append(errs, fmt.Errorf("masks: %s: both %s and %s are called %s", what, other, p, stem))
		}
		found[stem] = p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("masks: find %s: %w", what, err)
	}
	if len(errs) > 0 {
		return nil, files.Join(errs)
	}
	if len(found) == 0 {
		return nil, errors.New("masks: no " + what + " (" + strings.Join(imageTypes, " ") + ")")
	}
	return found, nil
}
