package files

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Below is the path of a file whose name comes from a header in folder. A path that
// leads out of the folder is an error, whether the file exists or not.
func Below(folder, name string) (string, error) {
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%.200q is not in the header's folder", name)
	}
	full := path.Join(folder, clean)
	if clean == "." || !fs.ValidPath(full) {
		return "", fmt.Errorf("%.200q is not a path", name)
	}
	return full, nil
}
