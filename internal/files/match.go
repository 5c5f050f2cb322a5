package files

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/internal/bulk"
)

// Match returns the sorted names of the files that match pattern (see [fs.Glob]). No
// file is an error.
func Match(fsys fs.FS, pattern string) ([]string, error) {
	if fsys == nil {
		return nil, bulk.ErrNoFS
	}
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	return names, nil
}
