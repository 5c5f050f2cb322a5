package source

import "bytes"

// others are formats that this package does not decode, with the first bytes of their files. ? means any byte.
var others = [...]struct{ magic, what string }{
	// ISO/IEC 14496-12: a box of any length with the file's type and its brand.
	{"????ftypavif", "AVIF"},
	{"????ftypavis", "AVIF"},
	{"????ftyphe", "HEIC"},
	{"????ftypmif1", "HEIF (HEIC or AVIF)"},
	{"????ftypmsf1", "HEIF (HEIC or AVIF)"},
	{"????ftypjp2 ", "JPEG 2000"},
	{"????ftypjxl ", "JPEG XL"},
	{"????ftyp", "a video (MP4 or QuickTime)"},
	{"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG 2000"},
	{"\xff\x4f\xff\x51", "JPEG 2000"},
	{"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"},
	{"\xff\x0a", "JPEG XL"},
	{"8BPS", "Photoshop (PSD)"},
	{"%PDF", "PDF"},
	{"\x00\x00\x01\x00", "ICO"},
	{"v/1\x01", "OpenEXR"},
	{"qoif", "QOI"},
	{"\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"},
	{"RIFF????AVI ", "a video (AVI)"},
	{"\x93NUMPY", "NumPy"},
	{"PK\x03\x04", "a ZIP archive"},
	{"\x1f\x8b", "a gzip file"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"version https://git-lfs", "a Git LFS pointer (the file itself was not fetched)"},
}

// text names the format of a text file by its beginning, or is "".
func text(data []byte) string {
	head := bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\xef\xbb\xbf"))
	head = bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	begins := func(text string) bool { return bytes.HasPrefix(head, []byte(text)) }
	switch {
	case !begins("<svg") && !begins("<html") && !begins("<?xml") && !begins("<!"):
		return ""
	case has("<svg"), has("doctype svg"):
		return "SVG"
	case has("<html"), has("doctype html"):
		return "a web page (HTML)"
	}
	return "XML"
}
