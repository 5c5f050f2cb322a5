package transform_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A plain file is "PLAIN?", two bytes for width and height, and three bytes per pixel.
func plain(w, h int, pix ...byte) []byte {
	return append([]byte{'P', 'L', 'A', 'I', 'N', '0' + byte(w), byte(w), byte(h)}, pix...)
}

var errPlain = errors.New("too few pixels")

func plainConfig(r io.Reader) (image.Config, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return image.Config{}, err
	}
	return image.Config{Width: int(head[6]), Height: int(head[7])}, nil
}

// decodePlain has bounds that do not begin at 0.
func decodePlain(r io.Reader) (image.Image, error) {
	c, err := plainConfig(r)
	if err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(5, 7, 5+c.Width, 7+c.Height))
	for y := range c.Height {
		for x := range c.Width {
			var p [3]byte
			if err := binary.Read(r, binary.BigEndian, &p); err != nil {
				return nil, errPlain
			}
			switch p {
			case [3]byte{66, 66, 66}:
				panic("66")
			case [3]byte{77, 77, 77}:
				return nil, nil
			case [3]byte{88, 88, 88}:
				return m.SubImage(image.Rect(5, 7, 6, 8)), nil
			}
			m.Set(5+x, 7+y, color.NRGBA{p[0], p[1], p[2], 255})
		}
	}
	return m, nil
}

func init() { image.RegisterFormat("plain", "PLAIN?", decodePlain, plainConfig) }

func TestFormatsOfPackageImageAreRead(t *testing.T) {
	file := plain(3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18)
	ds := dataset.Func(1, dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(file)), file)
		return nil
	})
	images, err := transform.Images(ds, transform.Crop(1, 0, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dataset.ValuesOf[uint8](s["image"]), []uint8{10, 11, 12, 13, 14, 15}; !bytes.Equal(got, want) {
		t.Errorf("Images: got %v, want %v", got, want)
	}
	one, err := transform.Compile(transform.Resize([2]int{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 3)
	if err := one.IntoBytes(dst, transform.File(plain(1, 1, 40, 50, 60))); err != nil {
		t.Fatal(err)
	}
	if want := []byte{40, 50, 60}; !bytes.Equal(dst, want) {
		t.Errorf("Compile: got %v, want %v", dst, want)
	}
}

// TestRegisteredFormatsDoNotReplaceOthers registers a format whose files begin as those of PPM.
func TestRegisteredFormatsDoNotReplaceOthers(t *testing.T) {
	image.RegisterFormat("other", "P6", neverDecoded, panickingConfig)
	for _, depth := range []transform.Item{transform.Depth16(3), transform.MaxPixels(1)} {
		x := images(t, blobs([]byte("P6 1 1 255\n\x01\x02\x03")), depth, transform.CenterCrop(1), transform.ToTensor())
		if got := deepValues[float32](t, x, 0); got[0] != 1.0/255 || got[1] != 2.0/255 || got[2] != 3.0/255 {
			t.Errorf("%v: got %v", depth, got)
		}
	}
}

// firstLine is an error without the stack of a panic.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func TestErrorsOfRegisteredDecodersAreErrorsOfTheFile(t *testing.T) {
	one, err := transform.Compile(transform.MaxPixels(20), transform.Resize([2]int{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file []byte
		want string
	}{
		{plain(1, 1), "transform: decode: plain: too few pixels"},
		{plain(1, 1, 66, 66, 66), `transform: decode: plain: field "image": panic: 66`},
		{plain(1, 1, 77, 77, 77), "transform: decode: plain: the decoder returned no image"},
		{plain(2, 1, 88, 88, 88), "transform: decode: plain: the decoder made 1×1 pixels (height×width) of an image of 1×2"},
		{plain(0, 1), "transform: decode: plain: 1×0 pixels (height×width)"},
		{plain(5, 5), "transform: decode: plain: 5×5 pixels (height×width), more than the limit of 20 (see MaxPixels)"},
		{plain(5, 5)[:7], "transform: decode: plain: unexpected EOF"},
	} {
		err := one.IntoBytes(make([]byte, 3), transform.File(c.file))
		if err == nil || firstLine(err) != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if strings.HasSuffix(c.want, errPlain.Error()) && !errors.Is(err, errPlain) {
			t.Errorf("%v does not wrap the decoder's error", err)
		}
	}
}

// packedTIFF is a grey TIFF file of 2×2 pixels in compression 60000, whose bytes are these.
func packedTIFF(code ...byte) []byte {
	le := binary.LittleEndian
	fields := [][2]uint32{{256, 2}, {257, 2}, {258, 8}, {259, 60000}, {262, 1}, {273, 8}, {277, 1}, {278, 2}, {279, uint32(len(code))}}
	data := append([]byte("II*\x00\x00\x00\x00\x00"), code...)
	le.PutUint32(data[4:], uint32(len(data)))
	data = le.AppendUint16(data, uint16(len(fields)))
	for _, f := range fields {
		data = le.AppendUint16(data, uint16(f[0]))
		data = le.AppendUint16(data, 4)
		data = le.AppendUint32(data, 1)
		data = le.AppendUint32(data, f[1])
	}
	return le.AppendUint32(data, 0)
}

var errRun = errors.New("no run")

// run decompresses a byte that stands for all.
func run(dst, src []byte) error {
	switch src[0] {
	case 66:
		panic("66")
	case 0:
		return errRun
	}
	for i := range dst {
		dst[i] = src[0]
	}
	return nil
}

func TestDecompressorReadsTIFFImagesAndMasks(t *testing.T) {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}, {Name: "mask", Dtype: dataset.Uint8, Ragged: true}}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		for k, file := range [][]byte{packedTIFF(40), packedTIFF(3)} {
			copy(dataset.Grow[uint8](dst, k, len(file)), file)
		}
		return nil
	})
	mask := transform.Mask("mask", transform.Dtype(dataset.Uint8))
	for _, steps := range [][]transform.Item{
		{mask, transform.CenterCrop(1), transform.Decompressor(60000, run)},
	} {
		images, err := transform.Images(ds, steps...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := dataset.At(t.Context(), images, 0)
		if err != nil {
			t.Fatal(err)
		}
		if image, mask := dataset.ValuesOf[uint8](s["image"]), dataset.ValuesOf[uint8](s["mask"]); !bytes.Equal(image, []byte{40, 40, 40}) || !bytes.Equal(mask, []byte{3}) {
			t.Errorf("%v: got %v and %v, want 40 and 3", images, image, mask)
		}
	}
	deep, err := transform.Images(ds, transform.Decompressor(60000, run), transform.Depth16(1), transform.CenterCrop(1), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := dataset.At(t.Context(), deep, 0); err != nil || dataset.ValuesOf[float32](s["image"])[0] != float32(40*257)/65535 {
		t.Errorf("Depth16: %v, %v", s, err)
	}
}

func TestErrorsOfDecompressorsAreErrorsOfTheFile(t *testing.T) {
	one, err := transform.Compile(transform.Decompressor(60000, run), transform.CenterCrop(1))
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[byte]string{
		0:  "transform: decode: TIFF: tiff: decode: strip at (0, 0): no run",
		66: `transform: decode: TIFF: tiff: decode: strip at (0, 0): field "image": panic: 66`,
	} {
		err := one.IntoBytes(make([]byte, 3), transform.File(packedTIFF(code)))
		if err == nil || firstLine(err) != want || code == 0 && !errors.Is(err, errRun) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, option := range map[string]transform.Option{
		`transform: Decompressor(0): want the number of a compression`: transform.Decompressor(0, run),
		`transform: Decompressor(5): want a function`:                  transform.Decompressor(5, nil),
	} {
		if _, err := transform.Compile(option, transform.CenterCrop(1)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err = transform.Compile(transform.Views(1, transform.Decompressor(60000, run), transform.CenterCrop(1)))
	if err == nil || !strings.Contains(err.Error(), "Views(1, …): has no option Decompressor") {
		t.Errorf("within Views: %v", err)
	}
}
