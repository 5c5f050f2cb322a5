package transform

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

func TestRandomStepsKnowTheSizeIfItIsTheSameForAllDraws(t *testing.T) {
	for _, c := range []struct {
		step Step
		w, h int // 0 if it varies
	}{
		{RandomApply(0.5, ColorJitter(0.1, 0, 0, 0), RandomHorizontalFlip(0.5)), 8, 6},
		{RandomApply(0.5, CenterCrop(3)), 0, 0},
		{RandomApply(0.5, CenterCrop([2]int{6, 8})), 8, 6},
		{RandomChoice(CenterCrop(3), RandomCrop(3)), 3, 3},
		{RandomChoice(CenterCrop(3), RandomCrop(4)), 0, 0},
		{RandomOrder(RandomInvert(1), Resize(3), RandomVerticalFlip(0.5)), 4, 3},
		{RandomOrder(CenterCrop(3), Resize(5)), 0, 0},
		{RandomOrder(RandomApply(0.5, RandomOrder(RandomInvert(1))), RandomChoice(RandomCrop(2))), 2, 2},
		{RandomRotation(0, 90), 8, 6},
		{RandomRotation(0, 90, Expand()), 0, 0},
	} {
		x, err := Images(imageOf(t, 8, 6, pixels(8, 6)), c.step)
		if c.w == 0 {
			if err == nil || !strings.Contains(err.Error(), "the size varies from image to image after "+c.step.String()) {
				t.Errorf("%v: error %v", c.step, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.step, err)
			continue
		}
		if got, want := x.Spec()[0].Shape, (dataset.Shape{c.h, c.w, 3}); !slices.Equal(got, want) {
			t.Errorf("%v: shape %v, want %v", c.step, got, want)
		}
	}
}

func TestRandomStepsHaveStepsThatChangeTheImage(t *testing.T) {
	_, err := Images(encoded(nil), RandomApply(0.5), RandomChoice(), RandomOrder(), RandomApply(2, RandomInvert(1)),
		RandomChoice(RandomInvert(1), P(1, 2)), RandomChoice(RandomInvert(1), P(-1)), RandomChoice(RandomInvert(1), P(0)),
		RandomApply(0.5, ToTensor()), RandomOrder(Grayscale(1), Train(8), nil, PadTo([2]int{3, 3}), RandomErasing(0.5)))
	want := []string{
		"transform: RandomApply(0.5): want at least one step",
		"transform: RandomChoice(): want at least one step",
		"transform: RandomOrder(): want at least one step",
		"transform: RandomApply(2, …): want a probability from 0 to 1",
		"transform: RandomChoice(…): want a P per step, not 2 for 1",
		"transform: RandomChoice(…): want finite numbers of P, 0 or more",
		"transform: RandomChoice(…): want a P with a finite sum above 0",
		"transform: RandomApply(0.5, …): ToTensor(): must not be part of a random step",
		"transform: RandomOrder(…): Grayscale(1): must not be part of a random step",
		"transform: RandomOrder(…): a step is nil",
		"transform: RandomOrder(…): PadTo([3 3]): must not be part of a random step",
		"transform: RandomOrder(…): RandomErasing(0.5): must not be part of a random step",
	}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("no error %q in:\n%v", w, err)
		}
	}
}

// TestWrongNumbersAreErrors compiles steps with numbers that are out of range or not finite.
func TestWrongNumbersAreErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, s := range []Item{
		RandomApply(nan, RandomInvert(1)), RandomChoice(RandomInvert(1), P(nan)), RandomChoice(RandomInvert(1), P(inf)),
		RandomPosterize(-1, 1), RandomPosterize(9, 1), RandomPosterize(3, nan), RandomSolarize(nan, 1), RandomSolarize(inf, 1),
		RandomSolarize(3, -1), RandomInvert(nan), RandomEqualize(1.1), RandomAutocontrast(-0.1),
		RandomAdjustSharpness(nan, 1), RandomAdjustSharpness(-1, 1), RandomAdjustSharpness(inf, 1), RandomAdjustSharpness(1, 2),
		RandomRotation(nan, 1), RandomRotation(2, 1), RandomRotation(0, inf), RandomRotation(0, 1, Interpolation(Lanczos)),
		RandomRotation(0, 1, Center(nan, 0)), RandomAffine(0, nan), RandomAffine(0, 0, Translate(nan, 0)), RandomAffine(0, 0, Translate(0, 2)),
		RandomAffine(0, 0, Scale(0, 1)), RandomAffine(0, 0, Scale(1, nan)), RandomAffine(0, 0, Shear(nan, 0)), RandomAffine(0, 0, Shear(0, 0, 2, 1)),
		RandomAffine(0, 0, Interpolation(Box)), RandomAffine(0, 0, Center(0, inf)), RandomPerspective(nan, 1), RandomPerspective(1.5, 1),
		RandomPerspective(0.5, nan), RandomPerspective(0.5, 1, Interpolation(Hamming)), RandAugment(-1, 9), RandAugment(2, 31), RandAugment(2, -1),
		RandAugment(2, 0, NumMagnitudeBins(1)), RandAugment(2, 9, Interpolation(Box)), TrivialAugmentWide(NumMagnitudeBins(0)), TrivialAugmentWide(Interpolation(200)),
		AugMix(Severity(0)), AugMix(Severity(11)), AugMix(Alpha(nan)), AugMix(Alpha(0)), AugMix(Interpolation(Box)),
		ElasticTransform(nan, 1), ElasticTransform(1, nan), ElasticTransform(1, -1), ElasticTransform(1, 1, Interpolation(Lanczos)),
		GaussianBlur(4), GaussianBlur(257), GaussianBlur([2]int{3, -1}), GaussianBlur(3, Sigma(nan, 1)), GaussianBlur(3, Sigma(0, 1)),
		GaussianNoise(nan, 1), GaussianNoise(0, -1), GaussianNoise(0, inf), JPEG(0, 5), JPEG(6, 5), JPEG(5, 101),
		RandomPhotometricDistort(nan),
		AutoAugment(3), AutoAugment(ImageNetPolicy, Interpolation(Lanczos)),
	} {
		if _, err := Images(encoded(nil), s, CenterCrop(4)); err == nil {
			t.Errorf("%v: no error", s)
		}
	}
}

// TestSmallImagesAndExtremeNumbersGiveImages runs steps with their most extreme numbers on images
// of one pixel and some more.
func TestSmallImagesAndExtremeNumbersGiveImages(t *testing.T) {
	all := []Item{
		RandomPosterize(0, 1), RandomSolarize(-1e300, 1), RandomSolarize(1e300, 1), RandomInvert(1), RandomEqualize(1), RandomAutocontrast(1),
		RandomAdjustSharpness(3e38, 1), RandomRotation(-1e6, 1e6), RandomRotation(45, 45, Interpolation(Bicubic)), RandomRotation(90, 90, Center(-1e6, 1e6)),
		RandomAffine(-1e6, 1e6, Translate(1, 1), Scale(1e-300, 1e300), Shear(-1e6, 1e6, -90, 90)),
		RandomAffine(0, 0, Scale(1e-300, 1e-300), Interpolation(Bilinear)), RandomAffine(0, 0, Shear(90, 90), Interpolation(Bicubic)),
		RandomPerspective(1, 1), RandomPerspective(1, 1, Interpolation(Nearest)), RandomPerspective(1, 1, Interpolation(Bicubic)),
		RandAugment(20, 30), RandAugment(0, 0), TrivialAugmentWide(NumMagnitudeBins(2)), AutoAugment(ImageNetPolicy), AutoAugment(CIFAR10Policy),
		ElasticTransform(1<<20, 0), ElasticTransform(-50, 20, Interpolation(Nearest)), ElasticTransform(50, 1, Interpolation(Bicubic)),
		GaussianBlur(255, Sigma(1e-9, 1e9)), GaussianBlur([2]int{1, 3}), GaussianNoise(-128, 128), JPEG(1, 1), JPEG(1, 100), RandomChannelPermutation(),
		RandomPhotometricDistort(1),
		AutoAugment(SVHNPolicy), AugMix(), AugMix(Alpha(1e-9)), AugMix(Alpha(1e6), Severity(10), AllOps(false), Interpolation(Bicubic)),
	}
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 3}, {1, 50}, {40, 2}, {17, 13}} {
		for _, s := range all {
			c, err := Compile(s, CenterCrop(5))
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 5*5*3)
			for seed := range uint64(10) {
				if err := c.IntoBytes(dst, RGB(pixels(size[0], size[1]), size[0], size[1]).Seed(seed)); err != nil {
					t.Errorf("%v of %v pixels: %v", s, size, err)
				}
			}
		}
	}
}

// TestImagesDoNotDependOnThoseBefore runs steps on one goroutine's memory and on fresh memory.
func TestImagesDoNotDependOnThoseBefore(t *testing.T) {
	all := []Item{RandomOrder(RandAugment(2, 9), TrivialAugmentWide(), AugMix(), AutoAugment(CIFAR10Policy), RandomRotation(-30, 30, Expand()),
		RandomAffine(-9, 9), RandomPerspective(0.5, 0.5), RandomAdjustSharpness(2, 0.5)), Resize([2]int{9, 11})}
	used, err := Compile(all...)
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]byte, 9*11*3), make([]byte, 9*11*3)
	for seed := range uint64(60) {
		fresh, err := Compile(all...)
		if err != nil {
			t.Fatal(err)
		}
		w, h := 5+int(seed*7%40), 3+int(seed*11%30)
		img := RGB(pixels(w, h), w, h).Seed(seed)
		if err := errors.Join(used.IntoBytes(got, img), fresh.IntoBytes(want, img)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("image %d differs", seed)
		}
	}
}

func TestWindowsAreDecodedBetweenRandomSteps(t *testing.T) {
	x, err := Images(encoded(nil), RandomApply(0.5, RandomHorizontalFlip(0.5)), RandomChoice(Resize(8), CenterCrop(9)),
		RandomOrder(RandomInvert(0.5), RandomCrop(4)), RandomRotation(-5, 5, Fill(1, 2, 3)), CenterCrop(4))
	if err != nil {
		t.Fatal(err)
	}
	want := `  window    RandomApply(0.5, RandomHorizontalFlip(0.5))
  resample  RandomChoice(Resize(8), CenterCrop(9))
  augment   RandomOrder(RandomInvert(0.5), RandomCrop(4))
  warp      RandomRotation(-5, 5, Fill(1, 2, 3))
  window    CenterCrop(4)
`
	if !strings.Contains(x.String(), want) {
		t.Errorf("plan\n%v\nwithout\n%s", x, want)
	}
}
