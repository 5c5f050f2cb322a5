// Package photos carries a small set of images for the examples, so that they run
// without downloads: a folder for each of the classes hills, spheres, stripes and
// tiles. The images are JPEG files, 200 to 640 pixels high, of many aspect
// ratios. Two are different on purpose: hills/gray.jpg is greyscale, and
// tiles/truncated.jpg ends after two fifths of its bytes.
package photos

import "embed"

// Files holds the class folders at its top, as dataset.ImageFolder expects them.
//
//go:generate go run ../make -out .
//go:embed hills spheres stripes tiles
var Files embed.FS
