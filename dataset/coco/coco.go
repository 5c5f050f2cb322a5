// Package coco reads COCO's annotations as a dataset: images with boxes and classes of
// their objects, and, on demand, instance masks and keypoints, or panoptic segments. Other
// data sets that use the same JSON format are read in the same way.
package coco

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A Dataset is the images of an annotation file, in the order of their ids, as in
// torchvision's CocoDetection. [Open] makes one. All workers share its memory.
//
// A sample has these fields, whose kinds say what transform.Images moves with the image. Those
// with n are ragged, with an element per object, in the order of the file:
//
//   - "image", uint8 (n): the encoded file
//   - "image_id", int64: the image's id
//   - "boxes", float32 (n, 4): x and y of the upper left corner, width and height, in
//     pixels
//   - "label", int64 (n): the category's id, or its index with [Contiguous]
//   - "area", float32 (n): the object's area in pixels
//   - "crowd", uint8 (n): 1 for a group of objects with one annotation
//   - "id", int64 (n): the annotation's id
//   - "masks", uint8: see [Masks]
//   - "keypoints", float32 (n, k, 3): see [KeyPoints]
//   - "segments", uint8 (n): see [Panoptic]
type Dataset struct {
	fsys fs.FS
	file string // the annotations
	config
	spec       dataset.Spec
	categories []Category
	images     []picture
	objects    []object  // of one image after the other
	points     []int32   // of all polygons, x and y in fifths of a pixel
	runs       []uint32  // of all run-length encoded masks
	parts      []int     // ends of polygons in points
	keys       []float32 // of all objects that have any: x, y and visibility of every keypoint
}

// A Category is a class of objects.
type Category struct {
	ID            int64
	Name          string
	Supercategory string
	KeyPoints     []string // names of the keypoints, if there are any
	Thing         bool     // in panoptic annotations: its objects can be counted; otherwise it is stuff, such as sky
}

// picture is one image. Its objects are objects[from:to].
type picture struct {
	id       int64
	name     string // of its file
	segments string // of the file of its segments
	h, w     int
	from, to int
}

// object is one annotation.
type object struct {
	id    int64
	label int64
	box   [4]float32
	area  float32
	crowd bool
	shape shape
	keys  int // index of its keypoints in keys; -1: none
}

// An Option changes what [Open] reads. The zero Option changes nothing.
type Option struct{ set func(*config) }

type config struct {
	folder     string
	masks      bool
	keypoints  int
	panoptic   bool
	segments   string // their folder
	contiguous bool
	noCrowds   bool
	noEmpty    bool
	anyBoxes   bool
	maskLimit  int
	maxFile    int64
}

// ImagesIn sets the folder of the images in fsys, such as "val2017". By default the
// file names of the annotations are paths from the root of fsys.
func ImagesIn(name string) Option { return Option{func(c *config) { c.folder = name }} }

// Masks adds the field "masks", ragged uint8: n·h·w values of an image of h×w pixels, a
// plane per object, 1 where the object is. Polygons and run-length encodings become
// the same masks as in pycocotools, bit for bit.
//
// The masks of an image may take limit bytes; more are an error of the sample. 256 MiB
// are enough for 400 objects in COCO's images. A polygon that is many times as long as its image
// and its own text allow is an error, too.
func Masks(limit int) Option {
	return Option{func(c *config) { c.masks, c.maskLimit = true, limit }}
}

// KeyPoints adds the field "keypoints", ragged float32 (n, k, 3): x and y of k keypoints
// in pixels, and a number that is 0 for a keypoint without a label, 1 for one that is
// hidden and 2 for one that is visible. All are 0 for objects without keypoints. COCO's
// persons have 17.
func KeyPoints(k int) Option { return Option{func(c *config) { c.keypoints = k }} }

// Panoptic reads panoptic annotations, in which every pixel of an image belongs to one
// segment or to none. Their PNG files are in a folder of fsys:
//
//	coco.Open(os.DirFS("coco"), "annotations/panoptic_val2017.json",
//		coco.ImagesIn("val2017"), coco.Panoptic("annotations/panoptic_val2017"))
//
// The field "segments", ragged uint8, is such a file. transform.Images turns
// it into the id of every pixel's segment: one of those in the field "id", or 0 for no
// segment. The fields with n have an element per segment.
func Panoptic(folder string) Option {
	return Option{func(c *config) { c.panoptic, c.segments = true, folder }}
}

// Contiguous makes labels the indices of [Dataset.Categories], from 0 on, rather than
// the categories' ids, which have gaps: COCO's 80 categories have ids from 1 to 90.
func Contiguous() Option { return Option{func(c *config) { c.contiguous = true }} }

// WithoutCrowds leaves out annotations of groups, as is usual in training.
func WithoutCrowds() Option { return Option{func(c *config) { c.noCrowds = true }} }

// WithoutEmpty leaves out images that have no object.
func WithoutEmpty() Option { return Option{func(c *config) { c.noEmpty = true }} }

// AnyBoxes accepts boxes of negative width or height and boxes outside of their image, as
// torchvision does. transform.SanitizeBoundingBoxes removes them.
func AnyBoxes() Option { return Option{func(c *config) { c.anyBoxes = true }} }

// MaxBytes sets how many bytes an image file may have. A larger file is an error when
// it is read. The default is 256 MiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.maxFile = bytes }} }

// Open reads the annotation file of that name in fsys:
//
//	coco.Open(os.DirFS("coco"), "annotations/instances_val2017.json", coco.ImagesIn("val2017"))
//
// It reads "images", "annotations" and "categories", and no image. An annotation of an
// unknown image or category is an error, and so is a shape that does not fit its image. So is a
// box of negative width or height, or one that has no point in its image, if the file says how
// large that is: [AnyBoxes] accepts them. A box may stick out of its image. Errors name the file
// and the annotation's id. Whether the sizes in the file are those of the images is not known
// before these are decoded. The memory grows with the annotations,
// not with the images' sizes: an object with a polygon of 30 points takes about 320 bytes.
func Open(fsys fs.FS, annotations string, options ...Option) (*Dataset, error) {
	d := &Dataset{fsys: fsys, file: annotations, config: config{maxFile: 256 << 20}}
	for _, option := range options {
		if option.set != nil {
			option.set(&d.config)
		}
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := d.read(); err != nil {
		return nil, fmt.Errorf("coco: read %s: %w", annotations, err)
	}
	d.spec = d.makeSpec()
	return d, nil
}

func (c *config) check() error {
	var errs []error
	if c.masks && c.maskLimit < 1 {
		errs = append(errs, fmt.Errorf("coco: Masks(%d): want 1 byte or more", c.maskLimit))
	}
	if c.keypoints < 0 || c.keypoints > maxKeyPoints {
		errs = append(errs, fmt.Errorf("coco: KeyPoints(%d): want 0 to %d", c.keypoints, maxKeyPoints))
	}
	if c.panoptic && (c.masks || c.keypoints > 0) {
		errs = append(errs, errors.New("coco: Panoptic cannot be combined with Masks or KeyPoints"))
	}
	if c.maxFile < 1 {
		errs = append(errs, fmt.Errorf("coco: MaxBytes(%d): want 1 or more", c.maxFile))
	}
	return errors.Join(errs...)
}

const maxKeyPoints = 1 << 16

func (d *Dataset) makeSpec() dataset.Spec {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
		{Name: "image_id", Dtype: dataset.Int64},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYWH},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
		{Name: "area", Dtype: dataset.Float32, Ragged: true, Of: "boxes"},
		{Name: "crowd", Dtype: dataset.Uint8, Ragged: true, Of: "boxes"},
		{Name: "id", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
	}
	if d.masks {
		spec = append(spec, dataset.Field{Name: "masks", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Masks, Of: "boxes"})
	}
	if d.keypoints > 0 {
		spec = append(spec, dataset.Field{Name: "keypoints", Dtype: dataset.Float32, Shape: dataset.Shape{d.keypoints, 3}, Ragged: true, Kind: dataset.KeyPoints, Of: "boxes"})
	}
	if d.panoptic {
		spec = append(spec, dataset.Field{Name: "segments", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Segments})
	}
	return spec
}

// Len is the number of images.
func (d *Dataset) Len() int { return len(d.images) }

// Spec is the fields of a sample: see [Dataset].
func (d *Dataset) Spec() dataset.Spec { return d.spec }

// Categories are the classes, in the order of their ids.
func (d *Dataset) Categories() []Category { return slices.Clone(d.categories) }

// Objects is the number of annotations of all images.
func (d *Dataset) Objects() int { return len(d.objects) }

// path is the path of image i in fsys.
func (d *Dataset) path(i int) string { return path.Join(d.folder, d.images[i].name) }

func (d *Dataset) segmentsPath(i int) string { return path.Join(d.segments, d.images[i].segments) }

// Name is the path of image i, or "" if i is out of range.
func (d *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	return d.path(i)
}

// Foresee begins to fetch the files before they are read: see [dataset.ForeseeFiles].
func (d *Dataset) Foresee(future dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(d.fsys, future, dataset.FileBlocks{
		Len: d.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			dst = append(dst, dataset.FilePart{Path: d.path(i), Len: -1})
			if d.panoptic {
				dst = append(dst, dataset.FilePart{Path: d.segmentsPath(i), Len: -1})
			}
			return dst
		},
	})
}
