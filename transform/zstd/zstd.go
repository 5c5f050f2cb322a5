// Package zstd reads TIFF files whose pixels are compressed with Zstandard, such as those of GDAL and rasterio with
// compress="zstd". It is a package of its own because few files are, and its decoder weighs more than all others:
//
//	ds, err := transform.Images(files, zstd.TIFF(), transform.Resize(256), transform.ToTensor())
package zstd

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/penstock-go/penstock/transform"
)

// compression is the number of Zstandard in the field Compression of a TIFF file.
const compression = 50000

// TIFF is a setting with which images and masks may be TIFF files with Zstandard frames.
func TIFF() transform.Option {
	frames, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.IgnoreChecksum(true), zstd.WithDecodeAllCapLimit(true))
	return transform.Decompressor(compression, func(dst, src []byte) error {
		if err != nil {
			return err
		}
		out, err := frames.DecodeAll(src, dst[:0:len(dst)])
		switch {
		case len(out) == len(dst): // there may be more, as in libtiff
			return nil
		case err != nil:
			return fmt.Errorf("zstd: %w", err)
		}
		return fmt.Errorf("zstd: too few bytes after decompression: %w", io.ErrUnexpectedEOF)
	})
}
