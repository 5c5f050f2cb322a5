package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteWhole makes or replaces a file of the operating system, for its user alone. Under its name it is whole at any time, also if several
// processes write it at once.
func WriteWhole(name string, write func(io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part")
	if err != nil {
		return err
	}
	err = write(part)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
