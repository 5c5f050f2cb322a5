package transform_test

import (
	"os"
	"strings"
	"testing"
)

// TestTheTableHasEveryClassOfTorchvision reads docs/transforms.md. The names are those that
// torchvision.transforms.v2 0.29 exports.
func TestTheTableHasEveryClassOfTorchvision(t *testing.T) {
	text, err := os.ReadFile("../docs/transforms.md")
	if err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			names.WriteString(cells[1])
		}
	}
	for name := range strings.FieldsSeq(`CutMix JPEG MixUp RandomErasing AugMix AutoAugment RandAugment TrivialAugmentWide
		ColorJitter Grayscale RandomAdjustSharpness RandomAutocontrast RandomChannelPermutation RandomEqualize RandomGrayscale
		RandomInvert RandomPhotometricDistort RandomPosterize RandomSolarize RGB Compose RandomApply RandomChoice RandomOrder
		CenterCrop ElasticTransform FiveCrop Pad RandomAffine RandomCrop RandomHorizontalFlip RandomIoUCrop RandomPerspective
		RandomResize RandomResizedCrop RandomRotation RandomShortestSize RandomVerticalFlip RandomZoomOut Resize ScaleJitter
		TenCrop ClampBoundingBoxes ClampKeyPoints ConvertBoundingBoxFormat SetClampingMode ConvertImageDtype GaussianBlur
		GaussianNoise Identity Lambda LinearTransformation Normalize SanitizeBoundingBoxes SanitizeKeyPoints ToDtype
		UniformTemporalSubsample PILToTensor ToImage ToPILImage ToPureTensor ToTensor`) {
		if !strings.Contains(names.String(), "`"+name+"`") {
			t.Errorf("the table lacks %s", name)
		}
	}
}
