package files

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Below is the path of the file that a header in folder calls name. What does not
// lie in the folder, or in one of it, is an error, whatever file there is.
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
