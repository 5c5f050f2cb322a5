package transform

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// clipGolden holds torchvision's results, which testdata/clips.py wrote.
type clipGolden struct {
	Indices struct {
		Frames []int
		Most   int
		SHA    string
	}
	Pictures []struct {
		Name            string
		N, Frames, W, H int
		SHA             string
	}
	Shared map[string]bool
}

func readClips(t *testing.T) (g clipGolden) {
	t.Helper()
	datatest.JSON(t, "testdata/clips.json", &g)
	return g
}

// framesOf are those of the clip that clips.py makes, one after the other.
func framesOf(n, w, h int) []uint8 {
	first := pixels(w, h)
	all := slices.Clone(first)
	for k := 1; k < n; k++ {
		for y := range h {
			row := first[3*w*y : 3*w*(y+1)]
			at := 3 * (3 * k % w)
			all = append(append(all, row[at:]...), row[:at]...)
		}
	}
	return all
}

// clipOf is a dataset of one clip, as an array of shape (n, h, w, 3).
func clipOf(t testing.TB, n, w, h int) dataset.Dataset {
	t.Helper()
	return datatest.Tensors(t, dataset.Named("image", dataset.TensorOf(framesOf(n, w, h), 1, n, h, w, 3)))
}

// fileOf is a dataset of one file.
func fileOf(t testing.TB, file []byte) dataset.Dataset {
	t.Helper()
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(file)), file)
		return nil
	})
}

// record is frames as one clip.
func record(frames ...[]byte) (data []byte) {
	numbers := make([]int, len(frames))
	for k := range frames {
		numbers[k] = k
	}
	var d files.Distinct
	d.Set(numbers)
	for _, f := range frames {
		d.Add(int64(len(f)))
	}
	to, err := d.Begin(func(n int) []byte { data = make([]byte, n); return data })
	if err != nil {
		panic(err)
	}
	for _, f := range frames {
		to = to[copy(to, f):]
	}
	return data
}

func TestSubsampleIsTorchvisions(t *testing.T) {
	g := readClips(t).Indices
	s := sha256.New()
	for _, frames := range g.Frames {
		for n := 1; n <= g.Most; n++ {
			for k := range n {
				at := engine.Subsample(k, n, frames)
				if at < 0 || at >= frames {
					t.Fatalf("number %d of %d is frame %d of %d", k, n, at, frames)
				}
				s.Write(binary.LittleEndian.AppendUint64(nil, uint64(at)))
			}
		}
	}
	if at := engine.Subsample(1, 2, 1<<24+4); at != 1<<24+3 { // float32 rounds it to the number of frames
		t.Errorf("the last of %d frames is number %d", 1<<24+4, at)
	}
	if got := hex.EncodeToString(s.Sum(nil)); got != g.SHA {
		t.Errorf("the frames are not those of torchvision: %s, want %s", got, g.SHA)
	}
}

func TestClipsAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	lists := map[string][]Item{
		"geometry": {Resize(20), CenterCrop(16), RandomHorizontalFlip(1), PILToTensor()},
		"levels":   {RandomInvert(1), RandomAutocontrast(1), RandomEqualize(1), RandomPosterize(3, 1), PILToTensor()},
		"sharp":    {RandomAdjustSharpness(2, 1), RandomSolarize(100, 1), Grayscale(3), PILToTensor()},
		"normal":   {Resize([2]int{24, 18}), ToDtype(dataset.Float32, Scaled()), Normalize(ImageNetMean, ImageNetStd)},
		"crops":    {FiveCrop(12), PILToTensor()},
	}
	g := readClips(t)
	if len(g.Pictures) < 15 {
		t.Fatalf("only %d results", len(g.Pictures))
	}
	for _, c := range g.Pictures {
		steps := append(lists[c.Name], UniformTemporalSubsample(c.N))
		got := result(t, clipOf(t, c.Frames, c.W, c.H), steps...)
		if shape := got.Shape(); shape[0] != c.N {
			t.Errorf("%s: shape %v", c.Name, shape)
		}
		if sum(got.Bytes()) != c.SHA {
			t.Errorf("%s: %d of %d frames of %d×%d are not those of torchvision", c.Name, c.N, c.Frames, c.H, c.W)
		}
	}
}

// randomSteps are those of testdata/clips.py, by name, and others of this package.
var randomSteps = map[string][]Item{
	"GaussianNoise":                  {GaussianNoise(0.1, 0.2)},
	"GaussianBlur":                   {GaussianBlur(3)},
	"RandomErasing":                  {ToTensor(), RandomErasing(1)},
	"RandomErasing of random values": {ToTensor(), RandomErasing(1, RandomValue())},
	"RandomPhotometricDistort":       {RandomPhotometricDistort(0.9)},
	"RandomChannelPermutation":       {RandomChannelPermutation()},
	"ElasticTransform":               {ElasticTransform(30, 5)},
	"JPEG":                           {JPEG(20, 90)},
	"AugMix":                         {AugMix()},
	"AutoAugment":                    {AutoAugment(ImageNetPolicy)},
	"RandAugment":                    {RandAugment(2, 9)},
	"TrivialAugmentWide":             {TrivialAugmentWide()},
	"ColorJitter":                    {ColorJitter(0.4, 0.4, 0.4, 0.1)},
	"RandomCrop":                     {RandomCrop(16)},
	"RandomResizedCrop":              {RandomResizedCrop(16)},
	"RandomHorizontalFlip":           {RandomHorizontalFlip(0.5)},
	"RandomVerticalFlip":             {RandomVerticalFlip(0.5)},
	"RandomRotation":                 {RandomRotation(-40, 40)},
	"RandomAffine":                   {RandomAffine(-30, 30, Translate(0.1, 0.2), Scale(0.8, 1.2), Shear(-10, 10))},
	"RandomPerspective":              {RandomPerspective(0.5, 1)},
	"RandomGrayscale":                {RandomGrayscale(0.5)},
	"RandomInvert":                   {RandomInvert(0.5)},
	"RandomSolarize":                 {RandomSolarize(100, 0.5)},
	"RandomPosterize":                {RandomPosterize(3, 0.5)},
	"RandomEqualize":                 {RandomEqualize(0.5)},
	"RandomAutocontrast":             {RandomAutocontrast(0.5)},
	"RandomAdjustSharpness":          {RandomAdjustSharpness(2, 0.5)},
	"RandomApply":                    {RandomApply(0.5, RandomInvert(1))},
	"RandomChoice":                   {RandomChoice(RandomInvert(1), RandomSolarize(90, 1))},
	"RandomOrder":                    {RandomOrder(RandomInvert(0.5), RandomSolarize(90, 0.7))},
	"RandomZoomOut":                  {RandomZoomOut(0.8, SideRange(1, 2)), Resize([2]int{16, 16})},
	"all": {RandomResizedCrop(16), RandomHorizontalFlip(0.5), ColorJitter(0.4, 0.4, 0.4, 0.1),
		ToTensor(), Normalize(ImageNetMean, ImageNetStd), RandomErasing(0.5)},
}

// TestFramesShareTheirDraws: the clip is what the frames become one by one, each with the random numbers of the clip. It is so for every step for
// which torchvision's clips are.
func TestFramesShareTheirDraws(t *testing.T) {
	testenv.OneGoroutine(t)
	const n, w, h = 5, 33, 25
	shared := readClips(t).Shared
	if len(shared) < 30 {
		t.Fatalf("only %d steps", len(shared))
	}
	all := framesOf(n, w, h)
	for name := range shared {
		if randomSteps[name] == nil {
			t.Errorf("%s is not tested", name)
		}
	}
	for name, steps := range randomSteps {
		want, known := shared[name]
		want = want || !known
		if !slices.ContainsFunc(steps, func(i Item) bool { return strings.Contains(fmt.Sprint(i), "ToTensor") }) {
			steps = append(slices.Clone(steps), ToTensor())
		}
		one, err := Compile(append(slices.Clone(steps), Ragged())...)
		if err != nil {
			t.Fatal(err)
		}
		clips, err := Compile(append(slices.Clone(steps), Ragged(), UniformTemporalSubsample(n))...)
		if err != nil {
			t.Fatal(err)
		}
		same, differ := true, false
		for seed := range uint64(8) {
			var sources []Source
			var frames []float32
			for k := range n {
				src := RGB(all[3*w*h*k:3*w*h*(k+1)], w, h)
				sources = append(sources, src)
				if frames, _, _, err = one.Append(frames, src.Seed(seed)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			got, _, _, err := clips.Append(nil, Clip(sources...).Seed(seed))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			same = same && slices.Equal(got, frames)
			differ = differ || !slices.Equal(got[:len(got)/n], got[len(got)/n*(n-1):])
		}
		if same != want {
			t.Errorf("%s: the frames are those of single images: %v, in torchvision %v", name, same, want)
		}
		if !differ {
			t.Errorf("%s: all frames are the same", name)
		}
	}
}

// TestKindsOfClipsAreTheSame has the same frames as arrays, with channels last and first, and of a number that varies, and as files.
func TestKindsOfClipsAreTheSame(t *testing.T) {
	testenv.OneGoroutine(t)
	const n, w, h = 6, 33, 25
	all := framesOf(n, w, h)
	var planar []uint8
	var several [][]byte
	for k := range n {
		frame := all[3*w*h*k:][:3*w*h]
		for c := range 3 {
			for i := range w * h {
				planar = append(planar, frame[3*i+c])
			}
		}
		several = append(several, fmt.Appendf(nil, "P6 %d %d 255\n%s", w, h, frame))
	}
	varying := dataset.Func(1, dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{h, w, 3}, Ragged: true}},
		func(_ context.Context, _ int, dst dataset.Slot) error {
			copy(dataset.Grow[uint8](dst, 0, n), all)
			return nil
		})
	steps := []Item{RandomResizedCrop([2]int{11, 13}), RandomHorizontalFlip(0.5), ColorJitter(0.3, 0.3, 0.3, 0.1), ToTensor()}
	whole := result(t, clipOf(t, n, w, h), steps...)
	if got, want := fmt.Sprint(whole.Shape()), "(6, 3, 11, 13)"; got != want {
		t.Errorf("shape %s, want %s", got, want)
	}
	some := result(t, clipOf(t, n, w, h), append(steps, UniformTemporalSubsample(4))...)
	for k, at := range []int{0, 1, 3, 5} {
		size := 3 * 11 * 13
		if !slices.Equal(dataset.ValuesOf[float32](some)[k*size:(k+1)*size], dataset.ValuesOf[float32](whole)[at*size:(at+1)*size]) {
			t.Errorf("number %d is not frame %d", k, at)
		}
	}
	for name, ds := range map[string]dataset.Dataset{
		"planes":  datatest.Tensors(t, dataset.Named("image", dataset.TensorOf(planar, 1, n, 3, h, w))),
		"varying": varying,
		"files":   fileOf(t, record(several...)),
	} {
		if got := result(t, ds, append(steps, UniformTemporalSubsample(4))...); !slices.Equal(dataset.ValuesOf[float32](got), dataset.ValuesOf[float32](some)) {
			t.Errorf("%s: other values", name)
		}
	}
	// With Depth16, bytes have their planes.
	deep := []Item{Depth16(3), CenterCrop(9), RandomHorizontalFlip(0.5), Layout(CHW)}
	want := result(t, clipOf(t, n, w, h), deep...)
	if got := result(t, datatest.Tensors(t, dataset.Named("image", dataset.TensorOf(planar, 1, n, 3, h, w))), deep...); !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("with Depth16, planes have other values")
	}
}

func TestGIFFilesAreClips(t *testing.T) {
	file := animation(t, 9, 17, 13)
	model, err := Compile(CenterCrop([2]int{13, 17}), UniformTemporalSubsample(5))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5*17*13*3)
	if err := model.IntoBytes(got, File(file)); err != nil {
		t.Fatal(err)
	}
	for k, at := range []byte{0, 2, 4, 6, 8} {
		if c := got[k*17*13*3:][:3]; [3]byte(c) != [3]byte{at * 20, 255 - at*20, at} {
			t.Errorf("number %d has the colour %v", k, c)
		}
	}
	whole := result(t, fileOf(t, file), CenterCrop([2]int{13, 17}), UniformTemporalSubsample(5))
	if !bytes.Equal(dataset.ValuesOf[uint8](whole), got) {
		t.Error("Images makes another clip than Compile")
	}
	if first := result(t, fileOf(t, file), CenterCrop([2]int{13, 17})); !bytes.Equal(dataset.ValuesOf[uint8](first), got[:17*13*3]) {
		t.Error("without UniformTemporalSubsample, the image is not the first frame")
	}
}

func TestWebPFilesAreClips(t *testing.T) {
	file, err := os.ReadFile("../internal/codec/webp/testdata/animation-alpha.webp")
	if err != nil {
		t.Fatal(err)
	}
	steps := []Item{CenterCrop([2]int{18, 24}), UniformTemporalSubsample(3)}
	model, err := Compile(steps...)
	if err != nil {
		t.Fatal(err)
	}
	const frame = 18 * 24 * 3
	got := make([]byte, 3*frame)
	if err := model.IntoBytes(got, File(file)); err != nil {
		t.Fatal(err)
	}
	// The sum of Pillow's frames, one after the other: seek(k) and convert("RGB").
	if sum := sha256.Sum256(got); hex.EncodeToString(sum[:8]) != "38f219ab804a64c3" {
		t.Errorf("other frames than Pillow's: %x", sum[:8])
	}
	if whole := result(t, fileOf(t, file), steps...); !bytes.Equal(dataset.ValuesOf[uint8](whole), got) {
		t.Error("Images makes another clip than Compile")
	}
	if first := result(t, fileOf(t, file), steps[0]); !bytes.Equal(dataset.ValuesOf[uint8](first), got[:frame]) {
		t.Error("without UniformTemporalSubsample, the image is not the first frame")
	}
}

// animation is a GIF file of frames of one colour each.
func animation(t testing.TB, n, w, h int) []byte {
	t.Helper()
	var g gif.GIF
	for k := range n {
		m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.RGBA{uint8(k * 20), uint8(255 - k*20), uint8(k), 255}})
		for i := range m.Pix {
			m.Pix[i] = 1
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 4)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMistakesOfClipsAreErrors(t *testing.T) {
	jpeg, err := os.ReadFile("testdata/rgb.jpg")
	if err != nil {
		t.Fatal(err)
	}
	small := fmt.Appendf(nil, "P6 2 2 255\n%s", make([]byte, 12))
	other := fmt.Appendf(nil, "P6 2 3 255\n%s", make([]byte, 18))
	cropped := []Item{CenterCrop(2), UniformTemporalSubsample(2)}
	for name, c := range map[string]struct {
		ds    dataset.Dataset
		steps []Item
		want  string
	}{
		"Views":     {clipOf(t, 3, 9, 9), []Item{Views(2, CenterCrop(4), ToTensor())}, "Views: not for clips"},
		"Patches":   {clipOf(t, 3, 8, 8), []Item{ToTensor(), Patches(4)}, "Patches: not for clips"},
		"Tiles":     {clipOf(t, 3, 8, 8), []Item{Tiles(4, "none", func(int, int) []Tile { return nil }), ToTensor(), Ragged(), Sizes("size")}, "not for clips"},
		"one image": {datatest.Tensors(t, dataset.Named("image", dataset.TensorOf(pixels(5, 4), 1, 4, 5, 3))), []Item{UniformTemporalSubsample(4)}, "want clips of the shape (t, h, w, c)"},
		"twice":     {clipOf(t, 3, 9, 9), []Item{UniformTemporalSubsample(4), UniformTemporalSubsample(4)}, "must come only once"},
		"no frames": {clipOf(t, 3, 9, 9), []Item{UniformTemporalSubsample(0)}, "want 1 to 65536 frames"},
		"in a step": {clipOf(t, 3, 9, 9), []Item{RandomApply(0.5, UniformTemporalSubsample(4))}, "must not be part of a random step"},
		"JPEG file": {fileOf(t, jpeg), cropped, "a JPEG file is one image: want a clip"},
		"no file":   {fileOf(t, nil), cropped, "the file is empty"},
		"sizes":     {fileOf(t, record(small, other)), cropped, "frame 1 of a clip of 2: transform: it has 3×2 pixels (height×width), but the first one 2×2"},
		"in clips":  {fileOf(t, record(small, record(small, small))), cropped, "frame 1 of a clip of 2"},
		"cut":       {fileOf(t, record(small, small)[:60]), cropped, "clip: frame 0"},
	} {
		x, err := Images(c.ds, c.steps...)
		if err == nil {
			_, err = dataset.At(t.Context(), x, 0)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	one, err := Compile(CenterCrop(2), ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	several, err := Compile(CenterCrop(2), ToTensor(), UniformTemporalSubsample(2))
	if err != nil {
		t.Fatal(err)
	}
	src := RGB(make([]uint8, 12), 2, 2)
	for name, err := range map[string]error{
		"steps are for single images": one.Into(make([]float32, 12), Clip(src, src)),
		"steps are for clips":         several.Into(make([]float32, 24), src),
		"a clip in a clip":            several.Into(make([]float32, 24), Clip(Clip(src), src)),
		"want Clip":                   several.Into(make([]float32, 24), Clip()),
		"one image: want a clip":      several.Into(make([]float32, 24), File(jpeg)),
		"canceled":                    several.Into(make([]float32, 24), Clip(src, src).Context(ended(t))),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

// ended is a context that is done.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// counting counts the calls of a step of the user's own, and what it draws.
type counting struct{ draws *[]uint64 }

func (c counting) Apply(img *Image, r *rand.Rand) error {
	*c.draws = append(*c.draws, r.Uint64())
	if len(*c.draws) == 12 {
		return errors.New("twelve")
	}
	return nil
}

func TestOwnStepsSeeEveryFrame(t *testing.T) {
	var draws []uint64
	x, err := Images(clipOf(t, 8, 9, 9), RandomCrop(4), Apply(counting{&draws}), ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), x, 0); err != nil {
		t.Fatal(err)
	}
	if len(draws) != 8 || len(slices.Compact(slices.Clone(draws))) != 1 {
		t.Errorf("draws %v, want 8 that are equal", draws)
	}
	if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), "frame 3 of a clip of 8") {
		t.Errorf("error %v, want that of frame 3", err)
	}
}

// TestDrawsGoOnAfterAClip: a clip takes as many random numbers as one of its frames, so what comes after it in a sample does not depend on
// the number of frames.
func TestDrawsGoOnAfterAClip(t *testing.T) {
	after := func(ds dataset.Dataset) uint64 {
		x, err := Images(ds, RandomCrop(4), RandomHorizontalFlip(0.5), ToTensor())
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		slot := dataset.NewSlot(x.Spec()...)
		if err := r.Place(t.Context(), 0, slot); err != nil {
			t.Fatal(err)
		}
		return slot.Rand().Uint64()
	}
	one := after(datatest.Tensors(t, dataset.Named("image", dataset.TensorOf(framesOf(1, 9, 9), 1, 9, 9, 3))))
	for _, n := range []int{1, 2, 7} {
		if got := after(clipOf(t, n, 9, 9)); got != one {
			t.Errorf("after %d frames the next number is another one", n)
		}
	}
}

func TestClipsOfVaryingSizes(t *testing.T) {
	x, err := Images(clipOf(t, 3, 9, 7), Resize(14), ToTensor(), Ragged(), Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, size := len(dataset.ValuesOf[float32](s["image"])), dataset.ValuesOf[int64](s["size"]); n != 3*3*14*18 || !slices.Equal(size, []int64{14, 18}) {
		t.Errorf("%d values of size %v", n, size)
	}
}

func TestClipsTakeNoAllocation(t *testing.T) {
	file := animation(t, 9, 17, 13)
	for name, ds := range map[string]dataset.Dataset{"arrays": clipOf(t, 6, 33, 25), "GIF": fileOf(t, file)} {
		x, err := Images(ds, RandomResizedCrop(16), RandomHorizontalFlip(0.5), GaussianNoise(0, 0.1), ToTensor(), UniformTemporalSubsample(4))
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()...)
		place := func() {
			if err := r.Place(t.Context(), 0, slot); err != nil {
				t.Error(err)
			}
		}
		for range 20 {
			place()
		}
		if n := allocs.PerRun(0, 20, place); n > 0 {
			t.Errorf("%s: %v allocations per clip", name, n)
		}
		r.Close()
	}
}

func TestPlansSayThatTheyAreForClips(t *testing.T) {
	x, err := Images(clipOf(t, 6, 33, 25), RandomCrop(16), ToTensor(), UniformTemporalSubsample(4))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"image uint8 (6, 25, 33, 3) → image float32 (4, 3, 16, 16)", "frames    4, all with the same draws", "UniformTemporalSubsample(4)"} {
		if !strings.Contains(x.String(), want) {
			t.Errorf("the plan lacks %q:\n%v", want, x)
		}
	}
}
