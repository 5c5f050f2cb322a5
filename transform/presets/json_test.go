package presets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/transform"
)

// TestPresetsAreJSONUnlessTheyHaveFunctions writes the steps of all configurations, and reads them. Those that cannot be written have
// a rule for sizes, tiles, or fields of sizes.
func TestPresetsAreJSONUnlessTheyHaveFunctions(t *testing.T) {
	written, refused := 0, 0
	for c, m := range readProcessors(t).steps() {
		if m.err != nil {
			t.Fatal(m.err)
		}
		text, err := json.Marshal(transform.List{m.step})
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "has a function, which JSON cannot hold") {
				t.Errorf("%s: %v", c.Config, err)
			}
			continue
		}
		written++
		again, err := transform.FromJSON(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want, err := m.compile(transform.Ragged())
		if err != nil {
			t.Fatal(err)
		}
		got, err := transform.Compile(append(again, transform.Ragged())...)
		if err != nil || got.String() != want.String() {
			t.Errorf("%s: got\n%v, %v\nwant\n%v", text, got, err, want)
		}
	}
	if t.Logf("%d written, %d refused", written, refused); written < 20 || refused < 1 {
		t.Errorf("%d presets are written and %d have functions", written, refused)
	}
}
