package presets_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// A randomCase is what bench/peers/random_configurations.py wrote down.
type randomCase struct {
	Library, Name string
	Config        json.RawMessage
	Pixels        string // which tensor, if it has two
	Size          [2]int // of YOLO
	Pictures      []string
	Sums          []string
	Fields        []map[string][]string
}

func (c randomCase) step() made {
	switch c.Library {
	case "timm":
		return timm(string(c.Config))
	case "open_clip":
		return openclip(string(c.Config))
	case "opencv":
		return made{step: presets.YOLO(c.Size)}
	}
	return tensorOf(string(c.Config), c.Pixels)
}

// TestRandomConfigurations compares random configurations and pictures with what their libraries make of them. A configuration
// that is refused is named with its key.
func TestRandomConfigurations(t *testing.T) {
	dir := os.Getenv("PENSTOCK_RANDOM")
	if dir == "" {
		t.Skip("PENSTOCK_RANDOM does not name a folder that bench/peers/random_configurations.py has made")
	}
	file, err := os.Open(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases, pictures, refused := 0, 0, 0
	for lines := json.NewDecoder(file); lines.More(); cases++ {
		var c randomCase
		if err := lines.Decode(&c); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(c.Name, " ", cases), func(t *testing.T) {
			p, err := c.step().compile()
			if err != nil && strings.Contains(err.Error(), "the size varies from image to image") {
				p, err = c.step().compile(transform.Ragged())
			}
			if err != nil {
				if refused++; !strings.Contains(err.Error(), `key "`) {
					t.Errorf("%s: error %v, want one that names the key", c.Config, err)
				}
				t.Logf("%s: refused: %v", c.Config, err)
				return
			}
			if f := p.Spec()[0]; f.Ragged && f.Dtype == dataset.Uint8 {
				refused++
				t.Logf("%s: refused: Compiled makes bytes of one size alone", c.Config)
				return
			}
			for i, name := range c.Pictures {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				got, err := prepared(p, data)
				if err != nil {
					got = "error"
				}
				if err == nil && got != c.Sums[i] && narrowed(p, data) == c.Sums[i] {
					got = c.Sums[i] // patches and tiles of the same numbers, which are float32 here and bytes there
				}
				if pictures++; got != c.Sums[i] {
					t.Errorf("%s: %s: %s (%v), want %s\n%v", c.Config, name, got, err, c.Sums[i], p)
				}
				if err == nil && len(p.Spec()) > 1 {
					checkFields(t, name, p, data, c.Fields[i])
				}
			}
		})
	}
	t.Logf("%d configurations, %d of them refused with the reason, and %d pictures", cases, refused, pictures)
}

// narrowed is the sum of the values as bytes, or "" if they are none.
func narrowed(p *transform.Compiled, data []byte) string {
	values, _, _, err := p.Append(nil, transform.File(data))
	all := make([]byte, len(values))
	for i, v := range values {
		if all[i] = byte(v); float32(all[i]) != v {
			return ""
		}
	}
	if err != nil {
		return ""
	}
	return shortSum(all)
}
