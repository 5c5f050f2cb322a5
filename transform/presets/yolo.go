package presets

import (
	"fmt"

	"github.com/penstock-go/penstock/transform"
)

// YOLO makes the steps before models of the YOLO family that take size×size pixels, or height×width: the file is turned
// by its Exif orientation, as cv2.imread does, then [transform.LetterBox], and values from 0 to 1 in RGB and CHW order. The
// result is that of cv2.resize with INTER_LINEAR and cv2.copyMakeBorder with 114, divided by 255, bit for bit.
// [transform.FromLetterBox] moves the boxes that the model finds back to the image.
//
// With boxes, keypoints and masks, which belong to the pixels of the file, use LetterBox and ToTensor.
func YOLO[S transform.Size](size S) transform.Step {
	return transform.Preset(fmt.Sprintf("YOLO(%v)", size), transform.ExifTranspose(), transform.LetterBox(size), transform.ToTensor())
}
