package transform_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/hostile"
	. "github.com/penstock-go/penstock/transform"
)

var (
	varying   = []Item{Ragged(), Sizes("size")}
	annotated = []Item{
		Boxes("boxes", dataset.BoxesXYXY, With("label", "points")), KeyPoints("points"), KeyPoints("spots"),
		Mask("mask", Fill(7), Dtype(dataset.Int32)), Masks("planes", Fill(5), Dtype(dataset.Uint16)),
	}
)

// written are lists for mosaics, which have every step and every option that JSON can hold. Options are in the order of the
// table, so that lists print as before.
var written = [][]Item{
	slices.Concat([]Item{Resize(9, Interpolation(Bicubic), MaxSize(30)), Compose()}, varying),
	{Resize([2]int{12, 10}, Interpolation(OpenCVArea)), CenterCrop(8, Fill(1, 2, 3), Floor()), Crop(-1, 2, 7, 5), Layout(CHW)},
	slices.Concat([]Item{RandomResizedCrop([2]int{9, 7}, Scale(0.1, 0.9), Ratio(0.5, 2.1), Interpolation(Lanczos)), Pad([4]int{1, 2, 3, 4}), Pad(2, Fill(9)), Pad([2]int{0, 1}, PaddingMode(Reflect))}, varying),
	slices.Concat(annotated, []Item{RandomZoomOut(0.7, Fill(9), SideRange(1, 1.5)), ScaleJitter([2]int{20, 30}, Scale(0.5, 2), Interpolation(Nearest)), FixedSizeCrop([2]int{16, 17}, Fill(3)), SanitizeBoundingBoxes(MinSize(2), MinArea(6))}),
	slices.Concat(annotated, []Item{ClampBoundingBoxes(), RandomIoUCrop(Scale(0.4, 0.9), Ratio(0.5, 1.5)), SanitizeBoundingBoxes(), ConvertBoundingBoxFormat(dataset.BoxesCXCYWH), ClampKeyPoints()}, varying),
	slices.Concat([]Item{KeyPoints("points", With("label")), SanitizeKeyPoints(), RandomCrop(7, PadIfNeeded())}, varying),
	slices.Concat([]Item{RandomShortestSize([]int{6, 9}, MaxSize(20), Interpolation(Hamming)), RandomResize(5, 30, Interpolation(Box))}, varying),
	{LetterBox(21, Interpolation(Bilinear), Fill(4, 5, 6)), RandomCrop(9, Padding(1, 2), PadIfNeeded(), Fill(1, 2, 3), PaddingMode(Symmetric))},
	{RandomCrop([2]int{9, 7}, PadIfNeeded()), RandomHorizontalFlip(0.3), RandomVerticalFlip(0.6), ToTensor(), PadTo([2]int{11, 9})},
	{Resize([2]int{12, 10}, Interpolation(TensorFlowBilinear)), CenterCrop(8), ToTensor()},
	{CenterCrop(8), FiveCrop([2]int{3, 4}), ToTensor()},
	{CenterCrop(8), TenCrop(3, VerticalFlip()), PILToTensor()},
	slices.Concat([]Item{ExifTranspose(), RandomRotation(-40, 30.5, Interpolation(Bilinear), Expand(), Center(3, 4.5), Fill(7, 8, 9))}, varying),
	{RandomAffine(-20, 20, Translate(0.3, 0.1), Scale(0.8, 1.2), Shear(-5, 5, -1, 1), Interpolation(Bicubic), Fill(6), Center(1, 2)), CenterCrop(11)},
	{RandomPerspective(0.4, 0.9, Interpolation(Nearest), Fill(8)), ElasticTransform(20, 2, Interpolation(Bicubic), Fill(8)), CenterCrop(11)},
	{ColorJitter(0.4, 0.3, 0.2, 0.1), RandomGrayscale(0.5), GaussianBlur([2]int{3, 5}, Sigma(0.2, 3)), GaussianNoise(0.1, 0.2), CenterCrop(11)},
	{CenterCrop(9), Grayscale(1), ToTensor(), Normalize([]float32{0.485}, []float32{0.1})},
	{RandomAdjustSharpness(2.5, 0.4), RandomPosterize(3, 0.6), RandomSolarize(90.5, 0.4), RandomInvert(0.3), RandomAutocontrast(0.4), RandomEqualize(0.5), CenterCrop(11)},
	{RandomChannelPermutation(), RandomPhotometricDistort(0.6), JPEG(30, 80), CenterCrop(11), BGR()},
	{RandAugment(3, 7, NumMagnitudeBins(20), Interpolation(Bilinear), Fill(3)), TrivialAugmentWide(NumMagnitudeBins(10), Fill(1, 2, 3)), CenterCrop(11)},
	{AutoAugment(SVHNPolicy, Interpolation(Bicubic), Fill(2)), AugMix(Severity(5), Alpha(0.7), AllOps(false), Interpolation(Nearest), Fill(2)), CenterCrop(11)},
	{CenterCrop(9), ToDtype(dataset.Float32, Scaled()), Normalize(ImageNetMean, ImageNetStd), RandomErasing(0.8, Scale(0.1, 0.4), Ratio(0.3, 2), Value(1, 2, 3)), ToDtype(dataset.BFloat16)},
	{CenterCrop(9), ToTensor(), RandomErasing(0.8, RandomValue())},
	{CenterCrop(9), Rescale(1.0 / 127.5), Layout(HWC)},
	{Resize([2]int{16, 16}), ToTensor(), Patches(4, Merge(2), Frames(2), MaxPatches(20), Layout(HWC))},
	{RandomApply(0.4, Compose(RandomVerticalFlip(0.5), ColorJitter(0.5, 0, 0, 0)), RandomInvert(1)), RandomChoice(RandomVerticalFlip(1), RandomOrder(RandomInvert(0.5), RandomHorizontalFlip(0.5)), P(0.25, 3)), CenterCrop(7)},
	{Views(2, RandomResizedCrop(6), ToTensor()), Views(1, Resize([2]int{5, 5}), As("whole"))},
	{Train(9), ToDtype(dataset.Float16)},
	{Eval(9)},
	{Preset(`"mine"`, CenterCrop(8), ToTensor(), Normalize([]float32{0.1, 0.2, 0.3}, []float32{math.SmallestNonzeroFloat32, 1. / 3, math.MaxFloat32}))},
	{Depth16(1), Field("image"), MaxPixels(10_000), Pillow(13), AllowTruncated(), RandomResizedCrop(7), ToTensor()},
	{Field("mask"), CenterCrop(5)},
}

// settings are lists that are not for mosaics.
var settings = []List{{MaxMemory(1 << 30)}, {UniformTemporalSubsample(8)}, {Mask("ids", Dtype(dataset.Int64), SegmentIDs())}}

// A titled step is of the user's own.
type titled string

func (titled) Apply(*Image, *rand.Rand) error { return nil }
func (s titled) String() string               { return string(s) }

// TestListsAreTheSameAfterJSON compares how lists print, and what they make of all samples, random numbers included.
func TestListsAreTheSameAfterJSON(t *testing.T) {
	for _, list := range written {
		text, again := throughJSON(t, list)
		if got, want := fmt.Sprint(again), fmt.Sprint(list); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		ds := mosaics(t, 8)
		if fmt.Sprint(list[0]) == "Depth16(1)" {
			ds = mosaics(t, 16)
		}
		x, y := images(t, ds, list...), images(t, ds, again...)
		a, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := y.Open()
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for i := range x.Len() {
			got, want := placedBy(t.Context(), b, y.Spec(), i), placedBy(t.Context(), a, x.Spec(), i)
			if !got.equal(want) {
				t.Errorf("%s\nsample %d differs: %q, %q", text, i, got.err, want.err)
			}
			if want.err == "" {
				made++
			}
		}
		if made < 4 {
			t.Errorf("%v: only %d samples", list, made)
		}
		a.Close()
		b.Close()
	}
	for _, list := range settings {
		if text, again := throughJSON(t, list); fmt.Sprint(again) != fmt.Sprint(list) {
			t.Errorf("%s: got %v, want %v", text, again, list)
		}
	}
}

// throughJSON writes and reads a list.
func throughJSON(t *testing.T, list List) (text string, again List) {
	t.Helper()
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = FromJSON(data); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(data) {
		t.Errorf("got  %s, %v\nwant %s", twice, err, data)
	}
	return string(data), again
}

// TestEveryStepIsWritten fails for a function that makes steps or options of which no list has a call.
func TestEveryStepIsWritten(t *testing.T) {
	without := []string{"Apply", "ResizeFunc", "TileFunc", "Tiles", "SizesFunc", "Decompressor", // have functions
		"MixUp", "CutMix", "Fields", "Probability", // are for batches
		"Preset"} // prints as its name: Eval and Train are others
	text, functions := fmt.Sprint(written, settings), 0
	for _, f := range parsed(t, ".") {
		for _, d := range f.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil || slices.Contains(without, f.Name.Name) {
				continue
			}
			if r := f.Type.Results.List[0].Type; !makesStep(f) && !isNamed(r, "Option") {
				continue
			}
			functions++
			if !regexp.MustCompile(`\b` + f.Name.Name + `\(`).MatchString(text) {
				t.Errorf("no list in this test has %s", f.Name.Name)
			}
		}
	}
	if functions < 100 {
		t.Errorf("only %d functions are read", functions)
	}
}

// TestMissingArgumentsAreTorchvisions: short forms print as the calls that they mean.
func TestMissingArgumentsAreTorchvisions(t *testing.T) {
	for text, want := range map[string]string{
		`{"RandomHorizontalFlip": {}}`:                                                        "RandomHorizontalFlip(0.5)",
		`{"RandomGrayscale": {}}`:                                                             "RandomGrayscale(0.1)",
		`{"Resize": {"size": 8, "antialias": true}}`:                                          "Resize(8)",
		`{"RandomRotation": {"degrees": 10}}`:                                                 "RandomRotation(-10, 10)",
		`{"RandomPerspective": {"p": 1}}`:                                                     "RandomPerspective(0.5, 1)",
		`{"ElasticTransform": {}}`:                                                            "ElasticTransform(50, 5)",
		`{"ColorJitter": {"hue": 0.25}}`:                                                      "ColorJitter(0, 0, 0, 0.25)",
		`{"ColorJitter": {"contrast": [0.5, 1], "hue": [-0.1, 0]}}`:                           "ColorJitter(0, [0.5 1], 0, [-0.1 0])",
		`{"Resize": {"size": 8, "interpolation": "torchbicubic"}}`:                            "Resize(8, Interpolation(torchbicubic))",
		`{"GaussianBlur": {"kernel_size": [3, 5], "sigma": 1}}`:                               "GaussianBlur([5 3], Sigma(1, 1))", // width first, as in torchvision
		`{"GaussianNoise": {"clip": true}}`:                                                   "GaussianNoise(0, 0.1)",
		`{"JPEG": {"quality": 50}}`:                                                           "JPEG(50, 50)",
		`{"RandAugment": {}}`:                                                                 "RandAugment(2, 9)",
		`{"AutoAugment": {}}`:                                                                 "AutoAugment(ImageNetPolicy)",
		`{"AugMix": {"mixture_width": 3, "chain_depth": -1.0}}`:                               "AugMix()",
		`{"RandomErasing": {"value": 0}}`:                                                     "RandomErasing(0.5, Value(0))",
		`{"RandomPhotometricDistort": {"brightness": [0.875, 1.125]}}`:                        "RandomPhotometricDistort(0.5)",
		`{"RandomIoUCrop": {"max_scale": 0.9}}`:                                               "RandomIoUCrop(Scale(0.3, 0.9))",
		`{"RandomShortestSize": {"min_size": 9}}`:                                             "RandomShortestSize([9])",
		`{"RandomApply": {"transforms": [{"TenCrop": {"size": 3, "vertical_flip": false}}]}}`: "RandomApply(0.5, TenCrop(3))",
		`{"Normalize": {"mean": 0.1, "std": [1, 2, 3]}}`:                                      "Normalize([0.1], [1 2 3])",
	} {
		list, err := FromJSON([]byte(`{"steps": [` + text + `], "version": 1}`))
		if err != nil || len(list) != 1 || list[0].String() != want {
			t.Errorf("%s: got %v, %v, want %s", text, list, err, want)
			continue
		}
		if _, again := throughJSON(t, list); again[0].String() != want {
			t.Errorf("%s: got %v, want %s", text, again, want)
		}
	}
}

func TestMistakesInJSONNameTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"Resiz": {}}`:                               `transform: steps[1]: no step is named "Resiz"`,
		`{"Resize": {}}`:                              "transform: steps[1].Resize.size: want a whole number, or height and width",
		`{"Resize": {"size": "big"}}`:                 `transform: steps[1].Resize.size: want a whole number, or height and width, not "big"`,
		`{"Resize": {"size": null}}`:                  "height and width, not null",
		`{"Resize": {"size": 1.5}}`:                   "height and width, not 1.5",
		`{"Resize": {"size": [1, 2, 3]}}`:             "height and width, not a list of 3",
		`{"Resize": {"size": 99999999999999999999}}`:  "height and width, not 99999999999999999999",
		`{"Resize": {"size": 0}}`:                     "transform: steps[1].Resize: want a positive size",
		`{"Resize": {"size": 8, "sice": 9}}`:          `transform: steps[1].Resize: no argument "sice": want size, interpolation, max_size, antialias`,
		`{"Resize": {"size": 8, "antialias": false}}`: "steps[1].Resize.antialias: want true, which is all that there is, not false",
		`{"Resize": {"size": 8, "interpolation": 2}}`: `steps[1].Resize.interpolation: want "bilinear", "nearest", "box", "bicubic", "lanczos", "hamming", "opencvlinear", "opencvarea", "tensorflowbilinear", "torchbilinear", "torchbicubic", "torchlanczos", not 2`,
		`{"ColorJitter": {"hue": [0, 1, 2]}}`:         "steps[1].ColorJitter.hue: want a number, or the least and the greatest factor, not a list of 3",
		`{"Resize": 8}`:                               "transform: steps[1].Resize: want an object of arguments, not 8",
		`{"Resize": {"size": 8}, "Pad": {}}`:          `transform: steps[1]: want a step, such as {"Resize": {"size": 256}}`,
		`"Resize"`:                                    `transform: steps[1]: want a step, such as`,
		`{"RandomHorizontalFlip": {"p": 2}}`:          "transform: steps[1].RandomHorizontalFlip: want a probability from 0 to 1",
		`{"RandomHorizontalFlip": {"p": 1e999}}`:      "RandomHorizontalFlip.p: want a number, not 1e999",
		`{"Normalize": {"mean": [0, "1"], "std": 1}}`: "steps[1].Normalize.mean: want a number or a list of numbers, not a list of 2",
		`{"RandomErasing": {"value": "noise"}}`:       `RandomErasing.value: want a number or a list of numbers or "random", not "noise"`,
		`{"ToDtype": {"dtype": "float64"}}`:           "ToDtype.dtype: want",
		`{"RandomApply": {}}`:                         "transform: steps[1].RandomApply.transforms: want a list of steps",
		`{"RandomApply": {"transforms": [{"Pad": {"padding": 1}}, {"Pad": {"padding": [1, 2, 3]}}]}}`:      "transform: steps[1].RandomApply.transforms[1].Pad.padding: want a whole number, or 2 or 4 of them, not a list of 3",
		`{"Compose": {"transforms": [{"MaxPixels": {"n": 1}}]}}`:                                           "transform: steps[1].Compose.transforms[0]: want a step: MaxPixels is a setting of the whole list",
		`{"Preset": {"transforms": []}}`:                                                                   "transform: steps[1].Preset.name: want a text",
		`{"Tiles": {}}`:                                                                                    "transform: steps[1]: Tiles has a function, which JSON cannot hold",
		strings.Repeat(`{"Compose": {"transforms": [`, 9) + strings.Repeat(`]}}`, 9):                       "want at most 8 steps within each other",
		`{"Compose": {"transforms": [` + strings.Repeat(`{"ToTensor": {}},`, 1000) + `{"ToTensor": {}}]}}`: "transform: steps[1].Compose.transforms: want at most 1000 steps",
		orders(5, 60): "want fewer steps in RandomOrders within each other",
	} {
		list, err := FromJSON([]byte(`{"version": 1, "steps": [{"ToTensor": {}}, ` + text + `]}`))
		if err == nil || !strings.Contains(err.Error(), want) || list != nil {
			t.Errorf("%.200s: got %v, %v\nwant %s", text, list, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"version": 2, "steps": []}`:            `transform: steps: want {"version": 1, "steps": […]}`,
		`{"steps": []}`:                          `want {"version": 1`,
		`{"version": 1}`:                         `want {"version": 1`,
		`{"version": 1, "steps": [], "more": 1}`: `want {"version": 1`,
		`{"version": 1, "steps": null}`:          "transform: steps: want a list of steps",
		`[]`:                                     `want {"version": 1`,
		`{"version": 1, "steps": []} {}`:         "transform: steps: invalid character '{' after top-level value",
		``:                                       "transform: steps: unexpected end of JSON input",
		`{"version": 1, "steps": [{"Pad": {}}, {"Crop": {}}]}`: "transform: steps[0].Pad.padding: want a whole number, or 2 or 4 of them\n" +
			"transform: steps[1].Crop.top: want a whole number\ntransform: steps[1].Crop.left: want a whole number\n",
	} {
		if list, err := FromJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || list != nil {
			t.Errorf("%s: got %v, %v\nwant %s", text, list, err, want)
		}
	}
}

// TestRangesOfColorJitter compares ranges with the numbers that mean the same, and finds factors in their range.
func TestRangesOfColorJitter(t *testing.T) {
	jitter := func(arguments string) *Compiled {
		t.Helper()
		list, err := FromJSON([]byte(`{"version": 1, "steps": [{"ColorJitter": ` + arguments + `}, {"CenterCrop": {"size": 1}}, {"Rescale": {"factor": 1}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Compile(list...)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pixel := func(c *Compiled, seed uint64) (p [3]float32) {
		if err := c.Into(p[:], RGB([]uint8{100, 120, 60}, 1, 1).Seed(seed)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	number, same := jitter(`{"brightness": 0.4, "hue": 0.25}`), jitter(`{"brightness": [0.6, 1.4], "contrast": [1, 1], "hue": [-0.25, 0.25]}`)
	darker := jitter(`{"brightness": [0.2, 0.5]}`)
	least, greatest := float32(255), float32(0)
	for seed := range uint64(300) {
		if got, want := pixel(same, seed), pixel(number, seed); got != want {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		v := pixel(darker, seed)[0]
		least, greatest = min(least, v), max(greatest, v)
	}
	if least < 20 || least > 22 || greatest > 50 || greatest < 48 {
		t.Errorf("100 becomes %v to %v, want 20 to 50", least, greatest)
	}
	for arguments, want := range map[string]string{
		`{"brightness": [0.9, 0.5]}`: "want ranges of finite factors, 0 or more, with the least first",
		`{"contrast": [-0.1, 0.5]}`:  "want ranges of finite factors, 0 or more, with the least first",
		`{"hue": [-0.6, 0.1]}`:       "want a hue up to 0.5",
		`{"hue": 0.6}`:               "want a hue up to 0.5",
	} {
		list, err := FromJSON([]byte(`{"version": 1, "steps": [{"ColorJitter": ` + arguments + `}]}`))
		if err == nil {
			_, err = Compile(append(list, CenterCrop(1))...)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", arguments, err, want)
		}
	}
}

// orders are RandomOrders of n steps within each other.
func orders(depth, n int) string {
	if depth == 0 {
		return `{"RandomInvert": {}}`
	}
	return `{"RandomOrder": {"transforms": [` + strings.Repeat(`{"RandomInvert": {}},`, n-1) + orders(depth-1, n) + "]}}"
}

func TestWhatJSONCannotHoldIsAnError(t *testing.T) {
	for want, it := range map[string]Item{
		"transform: steps[0]: inverted: has a function, which JSON cannot hold":          Apply(titled("inverted")),
		`transform: steps[0]: Resize(halves): has a function, which JSON cannot hold`:    ResizeFunc("halves", func(h, w int) (int, int) { return h / 2, w / 2 }),
		`TileFunc(one): has a function`:                                                  TileFunc("one", func(int, int) Tile { return Tile{} }),
		"has a function":                                                                 Tiles(8, "none", func(int, int) []Tile { return nil }),
		"transform: steps[0]: a step is nil":                                             nil,
		"transform: steps[0]: Decompressor(9): ":                                         Decompressor(9, nil),
		"transform: steps[0].Compose.transforms[1].Compose.transforms[0]: a step is nil": Compose(ToTensor(), Compose(nil)),
		"transform: steps[0].Resize: want a positive size":                               Resize(-1),
		"transform: steps[0].RandomSolarize.threshold: json: unsupported value: NaN":     RandomSolarize(math.NaN(), 1),
		"transform: steps[0].AutoAugment.policy: a value that has no name":               AutoAugment(7),
		"transform: steps[0].Resize: has no option Fill":                                 Resize(8, Fill(1)),
	} {
		data, err := List{it}.MarshalJSON()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %s, %v\nwant %s", data, err, want)
		}
	}
}

// FuzzList reads hostile lists. One without mistakes is written again, and compiled.
func FuzzList(f *testing.F) {
	for _, list := range written {
		data, err := List(list).MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version": 1, "steps": [` + orders(2, 40) + `]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var list List
		var err error
		hostile.Bounded(t, len(data), 0, func() { list, err = FromJSON(data) })
		if err != nil {
			return
		}
		text, err := list.MarshalJSON()
		if err != nil {
			t.Fatalf("%v: %v", list, err)
		}
		again, err := FromJSON(text)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(list) {
			t.Fatalf("got %v, %v, want %v", again, err, list)
		}
		hostile.Bounded(t, len(data), 32<<20, func() { _, _ = Compile(append(list[:len(list):len(list)], Ragged())...) })
	})
}
