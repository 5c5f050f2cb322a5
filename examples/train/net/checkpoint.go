package net

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Save replaces a file as a whole by a value in the format of package gob. If the program
// or the machine stops at any time, the file has either the old or the new content.
func Save(path string, value any) error {
	f, err := os.Create(path + ".new") // the next call overwrites what a kill has left
	if err != nil {
		return fmt.Errorf("net: save: %w", err)
	}
	err = errors.Join(gob.NewEncoder(f).Encode(value), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("net: save %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync() // not every system can; the file is whole anyway
		dir.Close()
	}
	return nil
}

// Load reads what Save has written. Fields that the value lacks are left out.
func Load(path string, value any) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("net: load: %w", err)
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(value); err != nil {
		return fmt.Errorf("net: load %s: %w", path, err)
	}
	return nil
}
