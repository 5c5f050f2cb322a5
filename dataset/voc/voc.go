// Package voc reads PASCAL VOC, and data sets in its format: images with the boxes of
// their objects, or with masks.
package voc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/slots"
)

var classes = []string{
	"background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
	"diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
}

// A Boxes is the images of a set, with the boxes of their objects. [Detection] makes one.
// All workers share its memory.
//
// A sample has these fields, whose kinds say what transform.Images moves with the image. Those
// with n are ragged, with an element per object, in the order of the file:
//
//   - "image", uint8 (n): the encoded file
//   - "boxes", float32 (n, 4): left, top, right and bottom in pixels from 0 on. VOC counts pixels from 1 and includes the last one, so these are
//     xmin-1, ymin-1, xmax and ymax of the file, as in Detectron2 and MMDetection. With
//     [AsInFile] they are the file's numbers, which torchvision's VOCDetection gives
//   - "label", int64 (n): the index of the class in [Boxes.Classes]
//   - "difficult", uint8 (n): 1 for objects that VOC's evaluation ignores
//   - "truncated", uint8 (n): 1 for objects that continue outside of their box
type Boxes struct {
	fsys    fs.FS
	classes []string
	max     int64
	ids     []string
	objects [][]object // of every image
}

type object struct {
	label                int64
	box                  [4]float32
	difficult, truncated bool
}

// An Option changes what [Detection] and [Segmentation] read. The zero Option changes
// nothing.
type Option struct{ set func(*config) }

type config struct {
	classes   []string
	difficult bool
	asInFile  bool
	max       int64
}

// Classes sets the names of the classes. Labels are indices of this list. The default is
// "background" and VOC's 20 classes, so labels are from 1 to 20, as in torchvision.
func Classes(names ...string) Option {
	return Option{func(c *config) { c.classes = slices.Clone(names) }}
}

// WithoutDifficult leaves out objects that are marked as difficult.
func WithoutDifficult() Option { return Option{func(c *config) { c.difficult = false }} }

// AsInFile leaves the numbers of boxes as they are in the file. It is for data sets in VOC's
// format whose boxes begin at 0, and for evaluation with VOC's own numbers.
func AsInFile() Option { return Option{func(c *config) { c.asInFile = true }} }

// MaxBytes sets how many bytes an image file may have. A larger file is an error when
// it is read. The default is 256 MiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.max = bytes }} }

func newConfig(options []Option) (config, error) {
	c := config{classes: classes, difficult: true, max: 256 << 20}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if len(c.classes) == 0 {
		return c, errors.New("voc: Classes(): want names")
	}
	if c.max < 1 {
		return c, fmt.Errorf("voc: MaxBytes(%d): want 1 or more", c.max)
	}
	return c, nil
}

// Detection makes a dataset of a set of images, such as "train" or "trainval". fsys is
// usually os.DirFS("VOCdevkit/VOC2012"). Detection reads ImageSets/Main/SET.txt and the
// annotations of its images in the folder Annotations, and no image. An object of an
// unknown class is an error. Errors name the file.
func Detection(fsys fs.FS, set string, options ...Option) (*Boxes, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	ids, err := readSet(fsys, "ImageSets/Main/"+set+".txt")
	if err != nil {
		return nil, err
	}
	d := &Boxes{fsys: fsys, classes: c.classes, max: c.max, ids: ids, objects: make([][]object, len(ids))}
	first := map[string]int{} // where a list has an id, which it may repeat
	for k, id := range ids {
		if _, ok := first[id]; !ok {
			first[id] = k
		}
	}
	if err := files.Scan(len(ids), files.Scanners, func(k int) (err error) {
		if first[ids[k]] == k {
			d.objects[k], err = readObjects(fsys, "Annotations/"+ids[k]+".xml", &c)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for k, id := range ids {
		d.objects[k] = d.objects[first[id]]
	}
	return d, nil
}

// Segmentation makes a dataset of the images of a set, such as "train", with the masks of
// their classes: ImageSets/Segmentation/SET.txt, JPEGImages and SegmentationClass. The
// masks are PNG files with a palette, where 255 is the border of objects. Segmentation
// does not use the options [Classes] and [WithoutDifficult].
func Segmentation(fsys fs.FS, set string, options ...Option) (*masks.Dataset, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	ids, err := readSet(fsys, "ImageSets/Segmentation/"+set+".txt")
	if err != nil {
		return nil, err
	}
	pairs := make([]masks.Pair, len(ids))
	for k, id := range ids {
		pairs[k] = masks.Pair{Image: "JPEGImages/" + id + ".jpg", Mask: "SegmentationClass/" + id + ".png"}
	}
	return masks.Pairs(fsys, fsys, pairs, masks.MaxBytes(c.max))
}

// maxText is the size of the largest list and annotation that is read.
const maxText = 64 << 20

// readSet reads the images' ids: the first word of every line.
func readSet(fsys fs.FS, name string) (ids []string, err error) {
	f, _, err := files.Open(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("voc: read %s: %w", name, err)
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: maxText + 1}
	lines := bufio.NewScanner(limited)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if !fs.ValidPath(words[0]) {
			return nil, fmt.Errorf("voc: read %s: line %d: %q is not a valid path", name, n, words[0])
		}
		ids = append(ids, words[0])
	}
	err = lines.Err()
	if err == nil && limited.N <= 0 {
		err = fmt.Errorf("more than %d bytes", maxText)
	}
	if err != nil {
		return nil, fmt.Errorf("voc: read %s: %w", name, err)
	}
	return ids, nil
}

// Len is the number of images.
func (d *Boxes) Len() int { return len(d.ids) }

// Classes are the names of the classes; a label is an index into them.
func (d *Boxes) Classes() []string { return slices.Clone(d.classes) }

// Spec is the fields of a sample: see [Boxes].
func (d *Boxes) Spec() dataset.Spec {
	return dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
		{Name: "difficult", Dtype: dataset.Uint8, Ragged: true, Of: "boxes"},
		{Name: "truncated", Dtype: dataset.Uint8, Ragged: true, Of: "boxes"},
	}
}

// path is the path of image i in fsys.
func (d *Boxes) path(i int) string { return "JPEGImages/" + d.ids[i] + ".jpg" }

// Name is the path of image i, or "" if i is out of range.
func (d *Boxes) Name(i int) string {
	if dataset.CheckIndex(i, d.Len()) != nil {
		return ""
	}
	return d.path(i)
}

// Foresee begins to fetch the files before they are read: see [dataset.ForeseeFiles].
func (d *Boxes) Foresee(future dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(d.fsys, future, dataset.FileBlocks{
		Len: d.Len(),
		At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
			return append(dst, dataset.FilePart{Path: d.path(i), Len: -1})
		},
	})
}

// Open makes a Reader. It holds no open file between two samples.
func (d *Boxes) Open() (dataset.Reader, error) { return reader{d}, nil }

type reader struct{ *Boxes }

func (r reader) Close() error { return nil }

func (r reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageRead)
	if err := files.ReadSample(files.In(ctx, r.fsys), r.path(i), slots.Cell(dst.Cell(0)), r.max); err != nil {
		return fmt.Errorf("voc: %w", err)
	}
	objects := r.objects[i]
	n := len(objects)
	boxes, labels := dataset.Grow[float32](dst, 1, n), dataset.Grow[int64](dst, 2, n)
	difficult, truncated := dataset.Grow[uint8](dst, 3, n), dataset.Grow[uint8](dst, 4, n)
	for k := range objects {
		o := &objects[k]
		copy(boxes[4*k:], o.box[:])
		labels[k], difficult[k], truncated[k] = o.label, bit(o.difficult), bit(o.truncated)
	}
	return nil
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
