package transform_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/transform"
)

// The training preset of torchvision's references, with RandAugment.
func ExampleRandAugment() {
	ds, err := transform.Images(gradient(),
		transform.RandomResizedCrop(176), transform.RandomHorizontalFlip(0.5),
		transform.RandAugment(2, 9, transform.Interpolation(transform.Bilinear), transform.Fill(124, 116, 104)),
		transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd),
		transform.RandomErasing(0.1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint8 (6, 8, 3) → image float32 (3, 176, 176)
	//   decode    pixels to RGB, only the window that the steps need
	//   resample  RandomResizedCrop(176), RandomHorizontalFlip(0.5)
	//   augment   RandAugment(2, 9, Interpolation(bilinear), Fill(124, 116, 104))
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), RandomErasing(0.1), float32 CHW
	//   pass on   label int64 ()
}

func ExampleNumMagnitudeBins() {
	fmt.Println(transform.RandAugment(2, 5, transform.NumMagnitudeBins(11)))
	// Output: RandAugment(2, 5, NumMagnitudeBins(11))
}

func ExampleTrivialAugmentWide() {
	fmt.Println(transform.TrivialAugmentWide(transform.NumMagnitudeBins(7), transform.Interpolation(transform.Bicubic), transform.Fill(9, 9, 9)))
	// Output: TrivialAugmentWide(NumMagnitudeBins(7), Interpolation(bicubic), Fill(9, 9, 9))
}

func ExampleAutoAugment() {
	for _, policy := range []transform.Policy{transform.ImageNetPolicy, transform.CIFAR10Policy, transform.SVHNPolicy} {
		fmt.Println(transform.AutoAugment(policy, transform.Interpolation(transform.Bilinear), transform.Fill(0, 0, 9)))
	}
	// Output:
	// AutoAugment(ImageNetPolicy, Interpolation(bilinear), Fill(0, 0, 9))
	// AutoAugment(CIFAR10Policy, Interpolation(bilinear), Fill(0, 0, 9))
	// AutoAugment(SVHNPolicy, Interpolation(bilinear), Fill(0, 0, 9))
}

func ExampleAugMix() {
	fmt.Println(transform.AugMix(transform.Severity(5), transform.Alpha(0.5), transform.AllOps(false), transform.Interpolation(transform.Nearest), transform.Fill(1, 2, 3)))
	// Output: AugMix(Severity(5), Alpha(0.5), AllOps(false), Interpolation(nearest), Fill(1, 2, 3))
}

// The steps of MoCo v2, but for the blur.
func ExampleRandomApply() {
	ds, err := transform.Images(gradient(),
		transform.RandomResizedCrop(4, transform.Scale(0.2, 1)),
		transform.RandomApply(0.8, transform.ColorJitter(0.4, 0.4, 0.4, 0.1)),
		transform.RandomGrayscale(0.2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint8 (6, 8, 3) → image uint8 (4, 4, 3)
	//   decode    pixels to RGB, only the window that the steps need
	//   resample  RandomResizedCrop(4, Scale(0.2, 1))
	//   augment   RandomApply(0.8, ColorJitter(0.4, 0.4, 0.4, 0.1))
	//   augment   RandomGrayscale(0.2)
	//   store     uint8 HWC
	//   pass on   label int64 ()
}

// Half of the images are resized, and the others cropped and made grey.
func ExampleRandomChoice() {
	ds, err := transform.Images(gradient(), transform.RandomChoice(
		transform.Resize([2]int{2, 2}),
		transform.Compose(transform.RandomCrop(2), transform.Grayscale(3)),
		transform.P(1, 1),
	))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	// Output: image uint8 (2, 2, 3), label int64 ()
}

func ExampleRandomOrder() {
	fmt.Println(transform.RandomOrder(transform.RandomInvert(0.5), transform.RandomPosterize(3, 0.5)))
	// Output: RandomOrder(RandomInvert(0.5), RandomPosterize(3, 0.5))
}

// With a probability of 1 the steps always change the image.
func ExampleRandomSolarize() {
	for _, step := range []transform.Item{
		transform.RandomSolarize(128, 1),
		transform.RandomPosterize(2, 1),
		transform.RandomInvert(1),
		transform.RandomAutocontrast(1),
		transform.RandomEqualize(1),
		transform.RandomAdjustSharpness(0, 1),
	} {
		fmt.Println(first(step, transform.Crop(4, 5, 1, 1))["image"].Data(), step)
	}
	// Output:
	// [105 95 0] RandomSolarize(128, 1)
	// [128 128 0] RandomPosterize(2, 1)
	// [105 95 255] RandomInvert(1)
	// [182 204 0] RandomAutocontrast(1)
	// [150 160 0] RandomEqualize(1)
	// [150 160 0] RandomAdjustSharpness(0, 1)
}

// The corners of the image turn around its centre.
func ExampleRandomRotation() {
	quarter := transform.RandomRotation(90, 90, transform.Expand())
	fmt.Println(first(quarter, transform.CenterCrop([2]int{8, 6}))["image"].Shape(), quarter)
	around := transform.RandomRotation(-10, 10, transform.Interpolation(transform.Bilinear), transform.Fill(255, 255, 255), transform.Center(0, 0))
	fmt.Println(first(around)["image"].Shape(), around)
	// Output:
	// (8, 6, 3) RandomRotation(90, 90, Expand())
	// (6, 8, 3) RandomRotation(-10, 10, Interpolation(bilinear), Fill(255, 255, 255), Center(0, 0))
}

func ExampleRandomAffine() {
	step := transform.RandomAffine(-10, 10, transform.Translate(0.1, 0.1), transform.Scale(0.9, 1.1), transform.Shear(-5, 5, -5, 5), transform.Interpolation(transform.Bicubic), transform.Fill(128, 128, 128), transform.Center(4, 3))
	fmt.Println(first(step)["image"].Shape(), step)
	// Output:
	// (6, 8, 3) RandomAffine(-10, 10, Translate(0.1, 0.1), Scale(0.9, 1.1), Shear(-5, 5, -5, 5), Interpolation(bicubic), Fill(128, 128, 128), Center(4, 3))
}

func ExampleRandomPerspective() {
	step := transform.RandomPerspective(0.5, 1, transform.Interpolation(transform.Nearest), transform.Fill(128, 128, 128))
	fmt.Println(first(step)["image"].Shape(), step)
	// Output:
	// (6, 8, 3) RandomPerspective(0.5, 1, Interpolation(nearest), Fill(128, 128, 128))
}

// The blur of SimCLR, and other losses of quality.
func ExampleGaussianBlur() {
	for _, step := range []transform.Item{
		transform.RandomApply(0.5, transform.GaussianBlur(23, transform.Sigma(0.2, 2))),
		transform.GaussianNoise(0, 0.1),
		transform.JPEG(30, 90),
	} {
		fmt.Println(first(step)["image"].Shape(), step)
	}
	// Output:
	// (6, 8, 3) RandomApply(0.5, GaussianBlur(23, Sigma(0.2, 2)))
	// (6, 8, 3) GaussianNoise(0, 0.1)
	// (6, 8, 3) JPEG(30, 90)
}

func ExampleRandomPhotometricDistort() {
	step := transform.RandomPhotometricDistort(0.5)
	fmt.Println(first(step, transform.RandomChannelPermutation())["image"].Shape(), step)
	// Output: (6, 8, 3) RandomPhotometricDistort(0.5)
}

func ExampleElasticTransform() {
	step := transform.ElasticTransform(50, 5, transform.Interpolation(transform.Nearest), transform.Fill(128, 128, 128))
	fmt.Println(first(step)["image"].Shape(), step)
	// Output: (6, 8, 3) ElasticTransform(50, 5, Interpolation(nearest), Fill(128, 128, 128))
}
