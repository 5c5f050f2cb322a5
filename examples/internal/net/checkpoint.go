package net

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxCheckpoint bounds the bytes of a file that is read as a checkpoint.
const maxCheckpoint = 1 << 30

// A Checkpoint is a model, and what its training wants to find again next to it.
type Checkpoint struct {
	Model  *Model
	Arrays []Array           // no weight's name among them
	Notes  map[string]string // not "size" and "classes"
}

// Write replaces the file as a whole: whenever the program or the machine stops,
// the old content is there or the new one.
func (c *Checkpoint) Write(path string) error {
	content, err := c.content()
	if err == nil {
		err = replace(path, content)
	}
	if err != nil {
		return fmt.Errorf("net: write checkpoint %s: %w", path, err)
	}
	return nil
}

func (c *Checkpoint) content() ([]byte, error) {
	classes, err := json.Marshal(c.Model.Classes)
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{"size": strconv.Itoa(c.Model.Size), "classes": string(classes)}
	for k, v := range c.Notes {
		metadata[k] = v
	}
	return encode(slices.Concat(c.Model.Weights, c.Arrays), metadata)
}

// replace writes next to the file and renames. Both are on the disk when it ends.
// What a kill leaves behind, the next call overwrites.
func replace(path string, content []byte) (err error) {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync() // not every system can; the file is whole anyway
		dir.Close()
	}
	return nil
}

// Read reads a checkpoint. Of a damaged or foreign file the error names the place.
func Read(path string) (*Checkpoint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("net: checkpoint: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxCheckpoint+1))
	if err == nil && len(content) > maxCheckpoint {
		err = fmt.Errorf("it has more than %d bytes", maxCheckpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("net: checkpoint %s: %w", path, err)
	}
	return Parse(path, content)
}

// Parse takes a checkpoint's bytes; name is for errors.
func Parse(name string, content []byte) (*Checkpoint, error) {
	c, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("net: checkpoint %s: %w", name, err)
	}
	return c, nil
}

func parse(content []byte) (*Checkpoint, error) {
	arrays, metadata, err := decode(content)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if m.Size, err = strconv.Atoi(metadata["size"]); err != nil {
		return nil, fmt.Errorf("size: %w", err)
	}
	if err := json.Unmarshal([]byte(metadata["classes"]), &m.Classes); err != nil {
		return nil, fmt.Errorf("classes: %w", err)
	}
	delete(metadata, "size")
	delete(metadata, "classes")
	if m.Weights, err = layout(m.Size, len(m.Classes)); err != nil {
		return nil, err
	}
	c := &Checkpoint{Model: m, Arrays: arrays, Notes: metadata}
	for i, w := range m.Weights {
		if m.Weights[i].Values, err = c.take(w.Name, w.Shape); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Fill copies the arrays of the given names into their values, which must have
// the same shapes.
func (c *Checkpoint) Fill(arrays []Array) error {
	for _, a := range arrays {
		values, err := c.take(a.Name, a.Shape)
		if err != nil {
			return err
		}
		copy(a.Values, values)
	}
	return nil
}

// Series is the array of a name, of one dimension.
func (c *Checkpoint) Series(name string) ([]float32, error) {
	for _, a := range c.Arrays {
		if a.Name == name && len(a.Shape) == 1 {
			return c.take(name, a.Shape)
		}
	}
	return nil, fmt.Errorf("tensor %s of one dimension is missing", name)
}

// take removes the array of a name.
func (c *Checkpoint) take(name string, shape []int) ([]float32, error) {
	for i, a := range c.Arrays {
		if a.Name != name {
			continue
		}
		if !slices.Equal(a.Shape, shape) {
			return nil, fmt.Errorf("tensor %s: the shape is %v, want %v", name, a.Shape, shape)
		}
		c.Arrays = slices.Delete(c.Arrays, i, i+1)
		return a.Values, nil
	}
	return nil, fmt.Errorf("tensor %s is missing", name)
}
