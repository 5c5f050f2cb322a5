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

// An Option changes what [Open] and [Pairs] do. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	image, mask string // suffixes
	imageTypes  []string
	maskTypes   []string
	partial     bool
	max         int64
}

func newConfig(images, masks fs.FS, options []Option) (config, error) {
	c := config{max: 256 << 20, imageTypes: types, maskTypes: types}
	if images == nil || masks == nil {
		return c, errors.New("masks: the file system is nil")
	}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	for _, list := range [][]string{c.imageTypes, c.maskTypes} {
		if len(list) == 0 || slices.ContainsFunc(list, func(e string) bool { return !strings.HasPrefix(e, ".") }) {
			return c, fmt.Errorf("masks: extensions %q: want one or more, each with its dot", list)
		}
	}
	if c.max < 1 {
		return c, fmt.Errorf("masks: MaxBytes(%d): want 1 or more", c.max)
	}
	return c, nil
}

// MaxBytes sets how many bytes a file may have. A larger file is an error when it is
// read. The default is 256 MiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.max = bytes }} }

// Suffixes sets what the names of images and of masks have before their extensions, after
// the part that is the same. Files without it are skipped. For Cityscapes:
//
//	masks.Suffixes("_leftImg8bit", "_gtFine_labelIds")
func Suffixes(image, mask string) Option {
	return Option{func(c *config) { c.image, c.mask = image, mask }}
}

// ImageExtensions sets which files are images, for example ".jpg" where masks with the same
// names lie in the same folder. Upper and lower case are the same. The default is those of
// [dataset.ImageFolder].
func ImageExtensions(extensions ...string) Option {
	lower := lowered(extensions)
	return Option{func(c *config) { c.imageTypes = lower }}
}

// MaskExtensions sets which files are masks, such as ".png" or an extension of another
// format. The default is those of [dataset.ImageFolder].
func MaskExtensions(extensions ...string) Option {
	lower := lowered(extensions)
	return Option{func(c *config) { c.maskTypes = lower }}
}

func lowered(extensions []string) []string {
	lower := make([]string, len(extensions))
	for i, e := range extensions {
		lower[i] = strings.ToLower(e)
	}
	return lower
}

// Partial leaves out images without a mask, which otherwise are an error.
func Partial() Option { return Option{func(c *config) { c.partial = true }} }

var types = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"}

// Open pairs every image in one folder with the mask in another one whose path is the
// same, apart from the extension: "train/7.jpg" and "train/7.png". Both are usually an
// [os.DirFS]. The order is that of the paths. Files with other extensions are skipped (see
// [ImageExtensions] and [MaskExtensions]), and so are files and folders whose names begin
// with a dot.
//
// An image without a mask is an error, unless [Partial] is given, and so are two files
// whose paths differ in the extension alone. Masks without an image are skipped. All
// errors are reported together, the first ten in full.
func Open(images, masks fs.FS, options ...Option) (*Dataset, error) {
	c, err := newConfig(images, masks, options)
	if err != nil {
		return nil, err
	}
	imagesAt, err := find(images, "images", c.image, c.imageTypes)
	if err != nil {
		return nil, err
	}
	masksAt, err := find(masks, "masks", c.mask, c.maskTypes)
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
func find(fsys fs.FS, what, suffix string, extensions []string) (map[string]string, error) {
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
		if !ok || !slices.Contains(extensions, strings.ToLower(ext)) {
			return nil
		}
		if other, twice := found[stem]; twice {
			errs = append(errs, fmt.Errorf("masks: %s: both %s and %s are called %s", what, other, p, stem))
		}
		found[stem] = p
		return nil
	})
	if err != nil {
		at := "."
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			at = e.Path
		}
		return nil, fmt.Errorf("masks: find %s: read %s: %w", what, files.Place(fsys, at), files.Cause(err))
	}
	if len(errs) > 0 {
		return nil, files.Join(errs)
	}
	if len(found) == 0 {
		return nil, errors.New("masks: no " + what + " (" + strings.Join(extensions, " ") + ")")
	}
	return found, nil
}
