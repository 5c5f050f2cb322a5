package sheet_test

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/transform/sheet"
)

// planes is an image of one colour.
func planes(width, height int, r, g, b float32) []float32 {
	all := make([]float32, 3*width*height)
	for i := range width * height {
		all[i], all[width*height+i], all[2*width*height+i] = r, g, b
	}
	return all
}

func TestImagesAreInTheirCellsAndNormalisationIsUndone(t *testing.T) {
	s := sheet.New(2, 2, 20, 10)
	s.Mean, s.Std = []float32{0.5, 0.5, 0.5}, []float32{0.25, 0.25, 0.25}
	s.Image(3, planes(20, 10, 2, 0, -4), 20, 10)
	if got, want := s.Picture().Bounds().Size().String(), "(58,38)"; got != want {
		t.Errorf("the sheet has the size %s, want %s", got, want)
	}
	for _, c := range []struct {
		x, y int
		want color.RGBA
	}{
		{32, 22, color.RGBA{255, 128, 0, 255}}, {51, 31, color.RGBA{255, 128, 0, 255}},
		{31, 22, color.RGBA{24, 24, 24, 255}}, {52, 31, color.RGBA{24, 24, 24, 255}}, {6, 6, color.RGBA{24, 24, 24, 255}},
	} {
		if got := s.Picture().RGBAAt(c.x, c.y); got != c.want {
			t.Errorf("pixel (%d, %d) is %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

func TestMasksBlendInsideAndKeepTheBackground(t *testing.T) {
	s := sheet.New(1, 1, 4, 3)
	s.Image(0, planes(4, 3, 0, 0, 0), 4, 3)
	s.Mask(0, []int64{0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1}, 4)
	ink := sheet.Colour(1)
	for at, want := range map[[2]int]color.RGBA{
		{0, 1}: {0, 0, 0, 255}, {1, 1}: ink, {2, 1}: {ink.R / 2, ink.G / 2, ink.B / 2, 255},
	} {
		if got := s.Picture().RGBAAt(6+at[0], 6+at[1]); got != want {
			t.Errorf("pixel %v is %v, want %v", at, got, want)
		}
	}
}

func TestWhatIsDrawnBeyondACellIsCut(t *testing.T) {
	s := sheet.New(2, 1, 30, 30)
	s.Box(0, []float32{-5, -5, 60, 60}, 1, "a label that is much too long")
	s.Caption(0, "a caption that is much too long")
	for y := range 42 {
		for x := 36; x < 78; x++ {
			if got := s.Picture().RGBAAt(x, y); got != (color.RGBA{24, 24, 24, 255}) {
				t.Fatalf("pixel (%d, %d) beside the cell is %v", x, y, got)
			}
		}
	}
}

func TestLabelsStandOnTheColourOfTheirClass(t *testing.T) {
	for class := range 12 {
		s := sheet.New(1, 1, 60, 40)
		s.Box(0, []float32{5, 5, 55, 35}, class, "x")
		if got, want := s.Picture().RGBAAt(6+6, 6+6), sheet.Colour(class); got != want {
			t.Errorf("class %d: the ground is %v, want %v", class, got, want)
		}
		for other := range class {
			if sheet.Colour(class) == sheet.Colour(other) {
				t.Errorf("classes %d and %d have the same colour", class, other)
			}
		}
	}
}

func TestSaveWritesAPNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheet.png")
	if err := sheet.New(1, 1, 8, 8).Save(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 20 {
		t.Errorf("%v, %v", img.Bounds(), err)
	}
	if err := sheet.New(1, 1, 8, 8).Save(filepath.Join(path, "x.png")); err == nil {
		t.Error("no error for a path that cannot be written")
	}
}
