package audio

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/hostile"
)

// bounded decodes a file, whole and in parts, which must be the same.
func bounded(t *testing.T, data []byte, d Decoder) {
	const frames = 1 << 12
	granted := int64(maxBlocks + 2*windowBytes + 4*frames*8)
	hostile.Bounded(t, len(data), granted, func() {
		info, err := d.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil || info.Frames == 0 || info.Channels > 8 {
			return
		}
		n := int(min(info.Frames, frames))
		whole := make([]float32, n*info.Channels)
		if d.Read(whole, 0) != nil {
			return
		}
		part := make([]float32, (n+1)/2*info.Channels)
		if err := d.Read(part, int64(n/2)); err != nil {
			t.Errorf("a part of what can be read: %v", err)
		}
		for i, v := range part {
			if w := whole[n/2*info.Channels+i]; v != w && (v == v || w == w) {
				t.Fatalf("value %d is %v, as a part %v", i, w, v)
			}
		}
		_ = d.Read(part[:info.Channels], info.Frames-1)
	})
}

func FuzzWAV(f *testing.F) {
	f.Add([]byte("RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x04\x00\x00\x00\x01\x02\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !wavFormat.Is(data) {
			return
		}
		bounded(t, data, new(wav))
	})
}

func FuzzFLAC(f *testing.F) {
	f.Add([]byte("fLaC\x80\x00\x00\x22\x00\x10\x00\x10\x00\x00\x00\x00\x00\x00\x03\xe8\x00\xf0\x00\x00\x00\x10" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xf8\x60\x08\x00\x0f\x00\x00\x00\x07\x00\x00"))
	files := datatest.Archive(f, "testdata/sounds.zip")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if data := files[name]; strings.HasPrefix(name, "flac/") && len(data) <= 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !flacFormat.Is(data) {
			return
		}
		bounded(t, data, &flac{unchecked: true})
		if a, _, err := Decode(data, MaxFrames(1<<12)); err == nil {
			if b, _, err := Decode(bytes.Clone(data), MaxFrames(1<<12)); err != nil || len(a) != len(b) {
				t.Error("another result the second time")
			}
		}
	})
}
