package files

import (
	"io/fs"
	"path"
	"reflect"
)

// Place is the path of at. It begins with the root if fsys is an os.DirFS, which is
// a string.
func Place(fsys fs.FS, at string) string {
	if root := reflect.ValueOf(fsys); root.Kind() == reflect.String {
		return path.Join(root.String(), at)
	}
	return at
}
