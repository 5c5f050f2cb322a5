package masks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/loader"
)

// tree is a file system whose files hold their paths.
func tree(paths ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, p := range paths {
		files[p] = &fstest.MapFile{Data: []byte(p)}
	}
	return files
}

func TestImagesArePairedWithMasksByStem(t *testing.T) {
	images := tree("b/2.jpg", "a/10.JPEG", "a/9.png", "a/.hidden.jpg", ".git/1.png", "a/notes.txt")
	ds, err := masks.Open(images, tree("a/9.png", "a/10.png", "b/2.png", "b/3.png", "b/2.txt"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(2), loader.Workers(2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got []string
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for row := range b.Len() {
			got = append(got, b.Name(row)+" "+b.Strings("image")[row]+" "+b.Strings("mask")[row])
		}
	}
	want := "a/10.JPEG a/10.JPEG a/10.png, a/9.png a/9.png a/9.png, b/2.jpg b/2.jpg b/2.png"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestSuffixesAreLeftOutOfStems(t *testing.T) {
	all := tree("x/7_photo.jpg", "x/7_mask.png", "x/8_photo.jpg", "x/8_colors.png", "x/8_mask.png")
	ds, err := masks.Open(all, all, masks.Suffixes("_photo", "_mask"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(ds.Len(), ds.Pair(1)), "2 {x/8_photo.jpg x/8_mask.png}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExtensionsTellImagesFromMasks(t *testing.T) {
	all := tree("a/1.JPG", "a/1.png", "a/1.json", "a/2.jpg", "a/2.PNG")
	ds, err := masks.Open(all, all, masks.ImageExtensions(".jpg"), masks.MaskExtensions(".Png"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(ds.Pair(0), ds.Pair(1)), "{a/1.JPG a/1.png} {a/2.jpg a/2.PNG}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFilesThatDoNotMatchAreErrors(t *testing.T) {
	for _, c := range []struct {
		images, masks fstest.MapFS
		options       []masks.Option
		want          string
	}{
		{tree("2.jpg", "1.jpg", "3.jpg"), tree("3.png"), nil, "masks: image 1.jpg has no mask 1.*\nmasks: image 2.jpg has no mask 2.*"},
		{tree("1.jpg", "3.jpg"), tree("3.png"), []masks.Option{masks.Partial()}, ""},
		{tree("1.jpg"), tree("3.png"), []masks.Option{masks.Partial()}, "masks: no image with a mask (1 images, 1 masks)"},
		{tree("1.jpg", "1.png"), tree("1.png"), nil, "masks: images: both 1.jpg and 1.png are called 1"},
		{tree("1.jpg"), tree("1.png", "1.bmp"), nil, "masks: masks: both 1.bmp and 1.png are called 1"},
		{tree("1.txt"), tree("1.png"), nil, "masks: no images (.jpg .jpeg .png .gif .webp .bmp .tif .tiff .ppm .pgm .pbm .pnm)"},
		{tree("1.jpg"), tree("1.png"), []masks.Option{masks.MaskExtensions(".npy")}, "masks: no masks (.npy)"},
		{tree("1.jpg"), tree("1.png"), []masks.Option{masks.ImageExtensions()}, "masks: extensions []: want one or more, each with its dot"},
		{tree("1.jpg"), tree("1.png"), []masks.Option{masks.MaskExtensions("png")}, `masks: extensions ["png"]: want one or more, each with its dot`},
		{tree("1.jpg"), tree("1.png"), []masks.Option{masks.MaxBytes(0), {}}, "masks: MaxBytes(0): want 1 or more"},
	} {
		_, err := masks.Open(c.images, c.masks, c.options...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if _, err := masks.Pairs(tree(), tree(), []masks.Pair{{"a.jpg", "../a.png"}}); err == nil {
		t.Error("a mask outside of its file system is no error")
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	ds, err := masks.Pairs(tree("1.jpg", "2.jpg"), tree("2-long.png"), []masks.Pair{{"1.jpg", "1.png"}, {"2.jpg", "2-long.png"}}, masks.MaxBytes(9))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"dataset: sample 0 (1.jpg): masks: read 1.png: file does not exist",
		"dataset: sample 1 (2.jpg): masks: read 2-long.png: file of 10 bytes, more than MaxBytes(9)",
	} {
		if _, err := dataset.At(t.Context(), ds, i); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAMissingFolderIsNamed(t *testing.T) {
	root := t.TempDir()
	missing := filepath.Join(root, "none")
	_, err := masks.Open(os.DirFS(missing), os.DirFS(root))
	if want := "masks: find images: read " + missing + ": "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
