package trace

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzTextIsJSON: any text becomes a JSON string that means the same, up to the cut.
func FuzzTextIsJSON(f *testing.F) {
	for _, text := range []string{"", "cat.jpg", `a "b" \c`, "tab\tnewline\nnull\x00delete\x7f", "\xff\xfe", "日本語\u2028", "</script>", strings.Repeat("ж", 600), strings.Repeat("x", 999) + "\xff\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var encoded []byte
		hostile.Bounded(t, len(text), 0, func() { encoded = appendString(nil, text) })
		var got string
		if err := json.Unmarshal(encoded, &got); err != nil || !utf8.Valid(encoded) {
			t.Fatalf("%q becomes %s: %v", text, encoded, err)
		}
		want := text
		if len(text) > maxText {
			got = strings.TrimSuffix(got, "…")
			want = text[:maxText]
			for utf8.ValidString(text) && !utf8.ValidString(want) {
				want = want[:len(want)-1]
			}
		}
		if utf8.ValidString(text) && got != want {
			t.Errorf("%q becomes %q", text, got)
		}
		if n := utf8.RuneCountInString(got); n > maxText {
			t.Errorf("%d characters", n)
		}
	})
}
