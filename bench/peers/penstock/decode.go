package main

import (
	"fmt"
	"hash/fnv"
	"image"
	"io"
	"os"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// decodeFiles decodes whole photos, as often as passes says. It prints a checksum of all
// pixels' red, green and blue, and for every pass the processor time of a photo in
// microseconds. Reading the files is not measured.
func decodeFiles(paths []string, passes int, w io.Writer) error {
	var d jpeg.Decoder
	var pixels []byte
	decode := func(data []byte) error {
		c, err := d.Header(data)
		if err != nil {
			return err
		}
		if n := 4 * c.Width * c.Height; len(pixels) < n {
			pixels = make([]byte, n)
		}
		return d.Decode(pixels, 4*c.Width, image.Rect(0, 0, c.Width, c.Height))
	}
	var files [][]byte
	sum := fnv.New32a()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := decode(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c, err := d.Header(data)
		if err != nil {
			return err
		}
		rgb := make([]byte, 0, 3*c.Width*c.Height)
		for i := range c.Width * c.Height {
			rgb = append(rgb, pixels[4*i:4*i+3]...)
		}
		sum.Write(rgb)
		files = append(files, data)
	}
	fmt.Fprintf(w, "%08x\n", sum.Sum32())
	for range passes {
		begun, err := processorTime()
		if err != nil {
			return err
		}
		for i, data := range files {
			if err := decode(data); err != nil {
				return fmt.Errorf("%s: %w", paths[i], err)
			}
		}
		end, err := processorTime()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%.1f\n", float64((end-begun).Nanoseconds())/1000/float64(len(files)))
	}
	return nil
}
