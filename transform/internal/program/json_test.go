package program

import (
	"slices"
	"testing"
)

// TestFormsHaveAllOptions: a row of the table has a key for each option of its kind, and no others, and no two rows or keys have
// the same name.
func TestFormsHaveAllOptions(t *testing.T) {
	names := map[string]bool{}
	for _, f := range forms {
		if names[f.name] || f.name == "" || slices.Contains(functions, f.name) {
			t.Errorf("%s is there twice, or has a function", f.name)
		}
		names[f.name] = true
		of, keys := map[*Kind]bool{nil: true, titles: true}, map[string]*Kind{}
		for _, k := range f.keys {
			if other, ok := keys[k.name]; ok && other == k.of || k.name == "transforms" || k.name == "" {
				t.Errorf("%s.%s is there twice", f.name, k.name)
			}
			keys[k.name], of[k.of] = k.of, true
			if k.usual == "" {
				continue
			}
			v, err := parse([]byte(k.usual))
			if _, ok := k.read(v); err != nil || !ok {
				t.Errorf("%s.%s is usually %s, which it cannot be", f.name, k.name, k.usual)
			}
		}
		for _, o := range f.takes {
			if !of[o] {
				t.Errorf("%s has no key for the option %s", f.name, o.name)
			}
			delete(of, o)
		}
		if len(of) != 2 {
			t.Errorf("%s has keys of options that it does not take", f.name)
		}
	}
	if len(names) < 70 {
		t.Errorf("only %d forms", len(names))
	}
}
