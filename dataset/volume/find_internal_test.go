package volume

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/internal/hostile"
)

// FuzzPatterns finds patients in a folder of one file. With the name of a patient that
// is found, the pattern must match the file or one of its folders.
func FuzzPatterns(f *testing.F) {
	for _, c := range [][2]string{
		{"{patient}/ct.nrrd", "a/ct.nrrd"}, {"{patient}/{patient}_ct.nrrd", "a/a_ct.nrrd"}, {"a{patient}?.n*", "ab1.nrrd"},
		{"({patient}+", "(x+"}, {"{patient}{patient}", "abab"}, {"é{patient}", "éa"},
		{"{patient}", "a/b"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, file string) {
		if !strings.Contains(pattern, wildcard) || !fs.ValidPath(file) || file == "." {
			return // Open and file systems refuse such patterns and names
		}
		var found map[string][]string
		var err error
		hostile.Bounded(t, len(pattern)+len(file), 0, func() { found, err = matchPatients(fstest.MapFS{file: {}}, pattern) })
		if err != nil {
			return
		}
		for name, files := range found {
			if strings.ContainsAny(name, `*?[\`) {
				continue // path.Match would not take it literally
			}
			if ok, err := path.Match(patternOf(pattern, name), files[0]); err != nil || !ok || !strings.HasPrefix(file+"/", files[0]+"/") || strings.Contains(name, "/") {
				t.Errorf("%q in %q: patient %q, files %q, %v", pattern, file, name, files, err)
			}
		}
	})
}
