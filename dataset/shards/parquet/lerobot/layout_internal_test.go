package lerobot

import (
	"os"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/internal/videofile"
)

// FuzzLayout gives the texts of meta to their parsers: a feature has no more values than Open says, and no path leaves the folder.
func FuzzLayout(f *testing.F) {
	text, err := os.ReadFile("testdata/robot/meta/info.json")
	if err != nil {
		f.Fatal(err)
	}
	lines := []byte("{\"episode_index\": 0, \"length\": 3}\n{\"episode_index\": 1, \"length\": 2147483644}\n")
	f.Add(text, lines)
	f.Add([]byte(`{"codebase_version": "v2.1", "fps": 30, "video_path": "{video_key}/{episode_chunk:03d}/{episode_index}", "features": {"a/../..": {"dtype": "video", "shape": [1, 2, 3]}, "b": 7}}`), lines)
	f.Add([]byte(`{"codebase_version": "v2.1", "fps": 30, "video_path": "`+strings.Repeat("{video_key}", 500)+`", "features": {"`+strings.Repeat("k", 5000)+`": {"dtype": "video", "shape": [1, 2, 3]}}}`), lines)
	f.Fuzz(func(t *testing.T, text, lines []byte) {
		hostile.Bounded(t, len(text)+len(lines), 0, func() {
			var l layout
			if l.parseInfo(text) != nil || l.parseEpisodes(lines) != nil {
				return
			}
			for _, key := range l.keys() {
				if field, err := l.features[key].field(key); err == nil && !field.Ragged && field.Elements() > 3*videofile.MaxPixels {
					t.Errorf("a field of %d values", field.Elements())
				}
			}
			if cameras := l.cameras(); len(cameras) > 0 && len(l.episodes) > 0 { // one: each video costs as much as its path is long
				if name, _, err := l.video(len(l.episodes)-1, cameras[0]); err == nil && (name == "" || name[0] == '/' || name == ".." || len(name) > 2 && name[:3] == "../") {
					t.Errorf("the path %q", name)
				}
			}
		})
	})
}
