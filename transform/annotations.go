package transform

import (
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// A BoxFormat says what the four numbers of a box are, in pixels. The edges of
// boxes lie between pixels: the whole image of w×h is 0, 0, w, h in XYXY.
type BoxFormat uint8

// The formats, with torchvision's names.
const (
	XYXY   = BoxFormat(engine.XYXY)   // left, top, right, bottom
	XYWH   = BoxFormat(engine.XYWH)   // left, top, width, height, as COCO's
	CXCYWH = BoxFormat(engine.CXCYWH) // centre, width, height
)

// String is torchvision's name of the format.
func (f BoxFormat) String() string { return engine.BoxFormat(f).String() }

// Boxes says that a field of the dataset holds bounding boxes of the image, where the dataset does not say it itself
// ([dataset.Field.Kind]): all steps move them with the image, as torchvision moves tv_tensors.BoundingBoxes. The
// field is ragged float32 with rows of 4 numbers. Crops and pads clamp boxes to the image. Boxes that are empty then
// stay, until [SanitizeBoundingBoxes] removes them.
//
// Options: [With] names the ragged fields that have a row per box, beside those that say it in [dataset.Field.Of].
func Boxes(field string, format BoxFormat, options ...Option) Option {
	return setting(program.Boxes, options, program.Text(field), engine.BoxFormat(format))
}

// KeyPoints says that a field of the dataset holds points of the image, where the dataset does not say it itself
// ([dataset.Field.Kind]): all steps move them with the image, as torchvision moves tv_tensors.KeyPoints. The field is
// float32, ragged or not, and its last dimension holds x and y, or x, y and a third number that stays (COCO's
// visibility). Points are not clamped. If they belong to boxes, name the field in [With] of [Boxes].
//
// Options: [With] names the ragged fields that have a row per element of the field, such as labels.
// [SanitizeKeyPoints] removes their rows too.
func KeyPoints(field string, options ...Option) Option {
	return setting(program.KeyPoints, options, program.Text(field))
}

// Mask says that a field of the dataset holds the class number of every pixel of the image, where the dataset does
// not say it itself ([dataset.Field.Kind]), or how the result is stored: all steps move it with the image, as
// torchvision moves tv_tensors.Mask. A resize takes the nearest pixel, with PyTorch's rounding. The field holds files
// or arrays. Files are ragged uint8: PNG, GIF and BMP with a palette or in grey, PBM and PGM, or TIFF in grey of 8 or
// 16 bits. Their numbers are those of numpy.asarray(PIL.Image.open(f)): indices of a palette as stored, and grey
// values that Pillow scales from the file's maximum to 255 or 65535. Arrays are uint8, uint16, int32 or int64 of
// shape (h, w).
//
// The result has the shape (h, w). Options: [Dtype], by default uint8 for files, int32 for files of [SegmentIDs], and
// that of the dataset for arrays; [Fill], one number, 0 by default, such as 255 where the loss ignores 255; and
// SegmentIDs, which a field of the kind [dataset.Segments] has by itself.
func Mask(field string, options ...Option) Option {
	return setting(program.Mask, options, program.Text(field))
}

// Masks says that a field of the dataset holds a mask per object, as instance segmentation has them, where the
// dataset does not say it itself. The field is ragged uint8: n·h·w values of an image of h×w pixels, plane by plane.
// With boxes there is a plane per box, and [SanitizeBoundingBoxes] removes both. The result is ragged with the shape
// (n, h, w), or n·h·w values with [Ragged]. Its options are [Dtype], by default uint8, and [Fill].
func Masks(field string, options ...Option) Option {
	return setting(program.Masks, options, program.Text(field))
}

// ConvertBoundingBoxFormat changes the format of the boxes, which stay float32 (n, 4): torchvision's
// ConvertBoundingBoxFormat. It needs boxes.
func ConvertBoundingBoxFormat(to BoxFormat) Step {
	return stepOf(program.ConvertBoundingBoxFormat, nil, engine.BoxFormat(to))
}

// ClampBoundingBoxes clamps the boxes to the image: torchvision's ClampBoundingBoxes with its default mode. Crops and
// pads do that already, so it is for boxes that the dataset itself lets reach beyond it. It needs boxes.
func ClampBoundingBoxes() Step { return stepOf(program.ClampBoundingBoxes, nil) }

// SanitizeBoundingBoxes removes boxes that are smaller than [MinSize] or [MinArea], by default 1, or reach beyond the
// image, together with their rows in the fields [With] them and their planes in [Masks]. It needs [Boxes]. As in
// torchvision, [RandomIoUCrop] needs it after itself.
func SanitizeBoundingBoxes(options ...Option) Step {
	return stepOf(program.SanitizeBoundingBoxes, options)
}

// SanitizeKeyPoints removes the elements of fields of [KeyPoints] in which a point is outside of the image, as
// torchvision's SanitizeKeyPoints does, together with their rows in the fields [With] them. The fields must be
// ragged, and must not belong to boxes.
func SanitizeKeyPoints() Step { return stepOf(program.SanitizeKeyPoints, nil) }

// ClampKeyPoints clamps the keypoints to the image: x to 0 … width-1 and y to 0 … height-1, as torchvision does. It
// needs [KeyPoints].
func ClampKeyPoints() Step { return stepOf(program.ClampKeyPoints, nil) }

// RandomIoUCrop cuts out a random part of the image that overlaps with its boxes, as in SSD (arXiv 1512.02325) and in
// torchvision. First it draws an option: to leave the image as it is, or the least IoU that some box must have with
// the part. Then it tries parts. A box whose centre is outside the part becomes 0, 0, 0, 0: [SanitizeBoundingBoxes]
// must come later, to remove it. It needs [Boxes]. An image without boxes stays as it is.
//
// [Scale] is the least and the greatest width and height of the part, as parts of the image's; the default is 0.3 to
// 1. [Ratio] is that of width to height; the default is 0.5 to 2. [SamplerOptions] are 0, 0.1, 0.3, 0.5, 0.7, 0.9 and
// 1 by default, and [Trials] 40.
func RandomIoUCrop(options ...Option) Step { return stepOf(program.RandomIoUCrop, options) }
