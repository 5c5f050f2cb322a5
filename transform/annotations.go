package transform

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// Boxes says that a field of the dataset holds bounding boxes of the image, where the dataset does not say it itself
// ([dataset.Field.Kind]): ragged float32 with rows of 4 numbers, as format says, which is dataset.BoxesXYXY,
// dataset.BoxesXYWH or dataset.BoxesCXCYWH. All steps move them with the image, as torchvision moves
// tv_tensors.BoundingBoxes, and clamp them to it. Boxes that are empty then stay, until [SanitizeBoundingBoxes]
// removes them.
//
// [With] names the ragged fields that have a row per box.
func Boxes(field string, format dataset.Kind, options ...Option) Option {
	return setting(program.Boxes, options, program.Text(field), format)
}

// KeyPoints says that a field of the dataset holds points of the image, where the dataset does not say it itself:
// float32 whose last dimension is x and y, or x, y and a third number that stays (COCO's visibility). All steps move
// them with the image, as torchvision moves tv_tensors.KeyPoints, and do not clamp them. Points of boxes are named in
// [With] of [Boxes], too.
//
// [With] names the ragged fields that have a row per element of the field.
func KeyPoints(field string, options ...Option) Option {
	return setting(program.KeyPoints, options, program.Text(field))
}

// Mask says that a field of the dataset holds the class number of every pixel of the image, where the dataset does not
// say it itself, or how the result is stored. All steps move it with the image, as torchvision moves tv_tensors.Mask.
// The field holds arrays of shape (h, w), or files with the numbers of numpy.asarray(PIL.Image.open(f)): PNG, GIF and
// BMP with a palette or in grey, PBM and PGM, or TIFF in grey.
//
// The result has the shape (h, w). [Dtype] is uint8 for files by default, int32 for files of [SegmentIDs], and that of
// the dataset for arrays. [Fill] is 0 by default.
func Mask(field string, options ...Option) Option {
	return setting(program.Mask, options, program.Text(field))
}

// Masks says that a field of the dataset holds a mask per object, where the dataset does not say it itself: ragged
// uint8 with n·h·w values, plane by plane. With boxes there is a plane per box, and [SanitizeBoundingBoxes] removes
// both. The result is ragged with the shape (n, h, w), or n·h·w values with [Ragged]. Its options are [Dtype], by
// default uint8, and [Fill].
func Masks(field string, options ...Option) Option {
	return setting(program.Masks, options, program.Text(field))
}

// ConvertBoundingBoxFormat changes the format of the boxes, as [Boxes] names them: torchvision's
// ConvertBoundingBoxFormat.
func ConvertBoundingBoxFormat(to dataset.Kind) Step {
	return stepOf(program.ConvertBoundingBoxFormat, nil, to)
}

// ClampBoundingBoxes clamps the boxes to the image: torchvision's ClampBoundingBoxes. Crops and pads do that already,
// so it is for boxes that the dataset itself lets reach beyond the image.
func ClampBoundingBoxes() Step { return stepOf(program.ClampBoundingBoxes, nil) }

// SanitizeBoundingBoxes removes boxes that are smaller than [MinSize] or [MinArea], by default 1, or reach beyond the
// image, with their rows and their planes in [Masks]: torchvision's SanitizeBoundingBoxes. [RandomIoUCrop] needs it
// after itself.
func SanitizeBoundingBoxes(options ...Option) Step {
	return stepOf(program.SanitizeBoundingBoxes, options)
}

// SanitizeKeyPoints removes the elements of ragged fields of [KeyPoints] in which a point is outside of the image,
// with their rows: torchvision's SanitizeKeyPoints. The fields must not belong to boxes.
func SanitizeKeyPoints() Step { return stepOf(program.SanitizeKeyPoints, nil) }

// ClampKeyPoints clamps the keypoints to the pixels of the image: torchvision's ClampKeyPoints.
func ClampKeyPoints() Step { return stepOf(program.ClampKeyPoints, nil) }

// RandomIoUCrop cuts out a random part of the image that overlaps with its boxes: torchvision's RandomIoUCrop. A box
// whose centre is outside becomes 0, 0, 0, 0, which [SanitizeBoundingBoxes] must remove later.
//
// [Scale], of the sides as parts of the image's, is 0.3 to 1 by default, and [Ratio], of width to height, 0.5 to 2.
// The least IoUs are 0, 0.1, 0.3, 0.5, 0.7, 0.9 and 1.
func RandomIoUCrop(options ...Option) Step { return stepOf(program.RandomIoUCrop, options) }
