package transform

// ExifTranspose rotates or mirrors the image of a JPEG, PNG or WebP file by the
// orientation in its Exif data. If there is none, it uses the orientation in the
// file's XMP data. Orientations 5 to 8 exchange width and height. All other images
// stay as they are: those without an orientation, in other formats, or given as
// pixels.
//
// The result is that of PIL's ImageOps.exif_transpose, which torchvision's
// datasets do not call. It must come before all steps that change the image.
func ExifTranspose() Step {
	c := named("ExifTranspose")
	return simple{c, func(p *program) error {
		if err := p.First(); err != nil {
			return err
		}
		p.Upright = true
		p.lines = append(p.lines, "rotate    "+c.String())
		return nil
	}}
}
