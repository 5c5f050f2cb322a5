package dicom

import "fmt"

// A syntax is a transfer syntax.
type syntax struct {
	explicit, big, deflated, rle bool
}

// syntaxOf finds a transfer syntax by its UID. Source: PS3.5, Annex A.
func syntaxOf(uid string) (*syntax, error) {
	switch uid {
	case "1.2.840.10008.1.2":
		return &syntax{}, nil
	case "1.2.840.10008.1.2.1":
		return &syntax{explicit: true}, nil
	case "1.2.840.10008.1.2.1.99":
		return &syntax{explicit: true, deflated: true}, nil
	case "1.2.840.10008.1.2.2":
		return &syntax{explicit: true, big: true}, nil
	case "1.2.840.10008.1.2.5":
		return &syntax{explicit: true, rle: true}, nil
	case "":
		return nil, fmt.Errorf("TransferSyntaxUID is missing")
	}
	if name := codecs[uid]; name != "" {
		return nil, fmt.Errorf("TransferSyntaxUID: %s is not read: want uncompressed values, deflate or RLE", name)
	}
	return nil, fmt.Errorf("TransferSyntaxUID: %.64q is not read", uid)
}

// codecs are the names of transfer syntaxes that need a codec. Source: PS3.6.
var codecs = map[string]string{
	"1.2.840.10008.1.2.4.50": "JPEG Baseline", "1.2.840.10008.1.2.4.51": "JPEG Extended",
	"1.2.840.10008.1.2.4.57": "JPEG Lossless", "1.2.840.10008.1.2.4.70": "JPEG Lossless SV1",
	"1.2.840.10008.1.2.4.80": "JPEG-LS Lossless", "1.2.840.10008.1.2.4.81": "JPEG-LS Near-Lossless",
	"1.2.840.10008.1.2.4.90": "JPEG 2000 Lossless", "1.2.840.10008.1.2.4.91": "JPEG 2000",
	"1.2.840.10008.1.2.4.201": "High-Throughput JPEG 2000 Lossless", "1.2.840.10008.1.2.4.203": "High-Throughput JPEG 2000",
}
