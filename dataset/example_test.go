package dataset_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
)

func ExampleImageFolder() {
	// Usually os.DirFS("imagenette2/train").
	fsys := fstest.MapFS{
		"cat/tom.jpg":        {Data: []byte("\xff\xd8 tom")},
		"dog/pluto.jpg":      {Data: []byte("\xff\xd8 pluto")},
		"dog/2020/goofy.png": {Data: []byte("\x89PNG goofy")},
	}
	photos, err := dataset.ImageFolder(fsys, dataset.MaxBytes(64<<20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(photos.Classes(), photos.Labels())
	fmt.Println(photos.Spec())
	for i, label := range photos.Labels() {
		fmt.Println(photos.Name(i), label)
	}
	// Output:
	// [cat dog] [0 1 1]
	// image uint8 (n), label int64 ()
	// cat/tom.jpg 0
	// dog/pluto.jpg 1
	// dog/2020/goofy.png 1
}

// Recordings of a word, in a folder for each.
func ExampleFiles() {
	fsys := fstest.MapFS{
		"no/a.wav":   {Data: []byte("RIFF…")},
		"yes/b.wav":  {Data: []byte("RIFF…")},
		"yes/c.wav":  {Data: []byte("RIFF…")},
		"yes/notes":  {Data: []byte("by Ann")},
		"README.txt": {},
	}
	words, err := dataset.Files(fsys, "audio", []string{".wav"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(words, words.Classes(), words.Labels())
	fmt.Println(words.Spec(), words.Name(2))
	// Output:
	// 3 files of 2 classes, skipped 1 without extension [no yes] [0 1 1]
	// audio uint8 (n), label int64 () yes/c.wav
}

// Images to be classified have no labels.
func ExampleNoClasses() {
	fsys := fstest.MapFS{
		"1.jpg":      {Data: []byte("\xff\xd8 cat?")},
		"more/2.jpg": {Data: []byte("\xff\xd8 dog?")},
	}
	photos, err := dataset.ImageFolder(fsys, dataset.NoClasses())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(photos, photos.Spec(), photos.Name(1))
	// Output: 2 images image uint8 (n) more/2.jpg
}

func ExampleTensors() {
	images := dataset.TensorOf([]float32{.1, .2, .3, .4}, 2, 1, 2)
	ds, err := dataset.Tensors(
		dataset.Named("image", images),
		dataset.Named("label", []int64{7, 8}))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec())
	fmt.Println(s["image"].Data(), s["label"].Data())
	// Output:
	// 2 image float32 (1, 2), label int64 ()
	// [0.3 0.4] 8
}

// A function makes noise; the label is its standard deviation.
func ExampleFunc() {
	spec := dataset.Spec{
		{Name: "noise", Dtype: dataset.Float64, Shape: dataset.Shape{1000}},
		{Name: "label", Dtype: dataset.Int64},
	}
	ds := dataset.Func(10, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		noise := dataset.Row[float64](dst, 0)
		for k := range noise {
			noise[k] = float64(i) * dst.Rand().NormFloat64()
		}
		dataset.Set(dst, 1, int64(i))
		return nil
	})
	s, err := dataset.At(context.Background(), ds, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s["noise"].Shape(), s["label"].Data())
	// Output: (1000) 3
}

// letters has a field of one letter per sample.
func letters(name, text string) dataset.Dataset {
	ds, err := dataset.Tensors(dataset.Named(name, []byte(text)))
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

// spell shows all samples of a dataset of letters.
func spell(ds dataset.Dataset) string {
	var samples []string
	for i := range ds.Len() {
		s, err := dataset.At(context.Background(), ds, i)
		if err != nil {
			log.Fatal(err)
		}
		var text []byte
		for _, f := range ds.Spec() {
			text = append(text, dataset.ValuesOf[uint8](s[f.Name])[0])
		}
		samples = append(samples, string(text))
	}
	return strings.Join(samples, " ")
}

func ExampleSubset() {
	ds, err := dataset.Subset(letters("x", "abcde"), []int{4, 0, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spell(ds))
	// Output: e a a
}

// Labels of the training part, for a sampler that balances classes.
func ExampleIndices() {
	labels := []int{0, 0, 1, 0, 1}
	parts, err := dataset.RandomSplit(letters("x", "aabab"), []int{3, 2}, 1)
	if err != nil {
		log.Fatal(err)
	}
	var own []int
	for _, i := range dataset.Indices(parts[0]) {
		own = append(own, labels[i])
	}
	fmt.Println(spell(parts[0]), own)
	// Output: a b b [0 1 1]
}

func ExampleConcat() {
	ds, err := dataset.Concat(letters("x", "abc"), letters("x", "de"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spell(ds))
	// Output: a b c d e
}

func ExampleZip() {
	ds, err := dataset.Zip(letters("x", "abc"), letters("y", "123"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	fmt.Println(spell(ds))
	// Output:
	// x uint8 (), y uint8 ()
	// a1 b2 c3
}

// The second dataset gets a third of the vowels and a third of the other letters.
func ExampleStratifiedSplit() {
	labels := []string{"vowel", "other", "other", "other", "vowel", "other", "other", "other", "vowel"}
	sets, err := dataset.StratifiedSplit(letters("x", "abcdefghi"), labels, []float64{2. / 3, 1. / 3}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, ds := range sets {
		fmt.Println(spell(ds))
	}
	// Output:
	// a b d g h i
	// c e f
}

// All samples of a patient are in one dataset.
func ExampleGroupedSplit() {
	patients := []string{"ann", "ann", "ben", "ben", "cleo", "cleo", "dan", "dan"}
	sets, err := dataset.GroupedSplit(letters("x", "abcdefgh"), patients, []float64{.75, .25}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, ds := range sets {
		fmt.Println(spell(ds))
	}
	// Output:
	// c d e f g h
	// a b
}

func ExampleRandomSplit() {
	sets, err := dataset.RandomSplit(letters("x", "abcdefghij"), []float64{.3, .7}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, ds := range sets {
		fmt.Println(spell(ds))
	}
	// Output:
	// f g b
	// c a i j d h e
}
