package dataset

import (
	"io/fs"
	"os"
)

// adviseFile starts reading a whole file, if the operating system holds it.
func adviseFile(fsys fs.FS, name string) {
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if file, ok := f.(*os.File); ok {
		advise(file, 0, 0)
	}
}
