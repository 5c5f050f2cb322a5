package source

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/codec/png"
)

// A pngDecoder adds the orientation to png.Decoder.
type pngDecoder struct {
	png.Decoder
	data []byte
}

func (p *pngDecoder) Header(data []byte) (w, h int, err error) {
	p.data = data
	return p.Decoder.Header(data)
}

// Orientation is the orientation in the file's Exif or XMP data. These are in the
// chunk eXIf, or in text chunks with the keys that ImageMagick and Adobe use.
func (p *pngDecoder) Orientation() int {
	var info, profile, packet []byte
	for data := p.data[8:]; len(data) >= 12; {
		n, name := int64(binary.BigEndian.Uint32(data)), data[4:8]
		if n > int64(len(data)-12) {
			break
		}
		body := data[8 : 8+n]
		data = data[12+n:]
		switch string(name) {
		case "eXIf":
			info = body
			continue
		case "tEXt", "zTXt", "iTXt":
		default:
			continue
		}
		key, value := pngText(string(name), body)
		switch {
		case key == "exif" && string(name) == "tEXt":
			info = value
		case key == "Raw profile type exif":
			profile = value
		case key == "XML:com.adobe.xmp":
			packet = value
		}
	}
	if info == nil && profile != nil {
		info = rawProfile(profile)
	}
	return jpeg.Orientation(info, packet)
}

// pngText is the key and the value of a text chunk. Both are empty for other
// chunks. Source: PNG specification, third edition, section 11.3.3.
func pngText(name string, body []byte) (key string, value []byte) {
	k, rest, ok := bytes.Cut(body, []byte{0})
	switch {
	case !ok:
		return "", nil
	case name == "tEXt":
		return string(k), rest
	case name == "zTXt" && len(rest) > 0 && rest[0] == 0:
		return string(k), inflated(rest[1:])
	case name != "iTXt" || len(rest) < 2:
		return "", nil
	}
	compressed, method := rest[0] != 0, rest[1]
	parts := bytes.SplitN(rest[2:], []byte{0}, 3) // language, the key in that language, text
	if len(parts) < 3 || compressed && method != 0 {
		return "", nil
	}
	if compressed {
		return string(k), inflated(parts[2])
	}
	return string(k), parts[2]
}

// inflated decompresses a text. It is nil if the text is damaged or longer than Pillow reads.
func inflated(data []byte) []byte {
	const most = 1 << 20
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil || len(text) > most {
		return nil
	}
	return text
}

// rawProfile decodes the hexadecimal digits that follow the first three lines of a profile, or is nil.
func rawProfile(text []byte) []byte {
	lines := strings.SplitN(string(text), "\n", 4)
	if len(lines) < 4 {
		return nil
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(lines[3]), ""))
	if err != nil {
		return nil
	}
	return data
}
