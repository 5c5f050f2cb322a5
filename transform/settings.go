package transform

import (
	"errors"
)

// Field sets the name of the field that holds the images. The result has the same
// name. The default is "image".
func Field(name string) Option {
	return setting(named("Field", quoted(name)...), func(p *program) error {
		if name == "" {
			return errors.New("want a name")
		}
		p.Field = name
		return nil
	})
}

// MaxPixels sets the greatest number of pixels, width times height, that an image
// may have before and between the steps. A larger image is an error, and no memory
// is allocated for it. The default is 178,956,970, which is Pillow's limit.
//
// A file that is too short to hold its number of pixels, even with the best
// compression of its format, is also an error before memory is allocated. But some
// formats, such as lossless WebP and GIF, can store a large image of one colour in
// a few bytes. Its pixels need 4 bytes or more each, and only MaxPixels limits
// that memory. A progressive JPEG takes up to 8 bytes more for each, also for a crop.
func MaxPixels(n int) Option {
	return setting(named("MaxPixels", n), func(p *program) error {
		if n < 1 {
			return errors.New("want a positive number")
		}
		p.Limit = n
		return nil
	})
}

// Pillow chooses the version of Pillow whose resizing is reproduced bit for bit: 12
// or 13. They differ in whether the horizontal or the vertical pass comes first.
// Between the passes values are rounded, so some results differ by 1.
//
// The default is 12, for Pillow 12.2 and 12.3. There the horizontal pass comes
// first, unless the image is more than 100 times as high as it is wide and its
// height shrinks. In earlier versions, tested down to 9.4, the horizontal pass
// always comes first. In Pillow 13 the vertical pass comes first if the height
// shrinks by more than twice as many pixels as the width. That happens often in
// training.
func Pillow(version int) Option {
	return setting(named("Pillow", version), func(p *program) error {
		if version != 12 && version != 13 {
			return errors.New("want 12 or 13")
		}
		p.Pillow = version
		return nil
	})
}

// AllowTruncated accepts JPEG files that end too early, as PIL does with
// ImageFile.LOAD_TRUNCATED_IMAGES. The missing part is grey, or blurred in
// progressive files. Without it such a file is an error. In other formats
// it is always an error.
//
// An invalid code in the middle of a file is still an error. PIL would return the
// pixels that its decoder made from it.
func AllowTruncated() Option {
	return setting(named("AllowTruncated"), func(p *program) error {
		p.Cut = true
		return nil
	})
}

// setting makes an option of Images and Compile.
func setting(c *call, use func(p *program) error) Option { return Option{call: c, use: use} }

// A simple is a step that only changes the program, and not the image.
type simple struct {
	*call
	change func(p *program) error
}

func (s simple) add(p *program) error {
	if err := p.notNested(); err != nil {
		return err
	}
	return s.change(p)
}

// notNested is the error of a step that does not only change the image, within a
// random step.
func (p *program) notNested() error {
	if p.nested {
		return errors.New("must not be part of a random step")
	}
	return nil
}
