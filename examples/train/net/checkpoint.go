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

// maxCheckpoint is the maximum size of a checkpoint in bytes.
const maxCheckpoint = 1 << 30

// A Checkpoint is a model and the state of its training.
type Checkpoint struct {
	Model  *Model
	Arrays []Array           // with other names than the weights
	Notes  map[string]string // not "size" and "classes"
}

// Write replaces the file as a whole. If the program or the machine stops at any time,
// the file has either the old or the new content.
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

// replace writes a new file next to the old one and renames it. When it returns, both
// steps are on disk. The next call overwrites what a kill has left.
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

// Read reads a checkpoint. The error of a damaged or foreign file names the tensor or
// the offset.
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

// Parse reads a checkpoint from its bytes. name is for errors.
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

// Fill copies the checkpoint's arrays with the names of the given ones into their
// values. The shapes must be equal.
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

// Series is the values of the array with that name, which must have one dimension.
func (c *Checkpoint) Series(name string) ([]float32, error) {
	for _, a := range c.Arrays {
		if a.Name == name && len(a.Shape) == 1 {
			return c.take(name, a.Shape)
		}
	}
	return nil, fmt.Errorf("tensor %s of one dimension is missing", name)
}

// take removes the array with that name and returns its values.
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
