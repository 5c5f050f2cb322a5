package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// publish writes the module into dir by the protocol of module proxies.
// Source: https://go.dev/ref/mod#goproxy-protocol.
func (m *module) publish(dir, version string) error {
	text, err := m.file(version)
	if err != nil {
		return err
	}
	escaped, err := xmodule.EscapePath(m.path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC()})
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, xmodule.Version{Path: m.path, Version: version}, m.contents(text)); err != nil {
		return fmt.Errorf("zip of %s: %w", m.path, err)
	}
	for name, content := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": info,
		version + ".mod":  text,
		version + ".zip":  archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files of the module's archive: its own files with the go.mod of the release, and
// the repository's licence if the module has none.
func (m *module) contents(goMod []byte) []zip.File {
	var files []zip.File
	for _, name := range m.files {
		inside := strings.TrimPrefix(name, m.folder+"/")
		f := file{inside: inside, at: filepath.Join(m.root, name)}
		if inside == "go.mod" {
			f.text = goMod
		}
		files = append(files, f)
	}
	if !slices.Contains(m.files, filepath.ToSlash(filepath.Join(m.folder, "LICENSE"))) {
		files = append(files, file{inside: "LICENSE", at: filepath.Join(m.root, "LICENSE")})
	}
	return files
}

// A file of an archive is a file on disk, or a text that replaces it.
type file struct {
	inside, at string
	text       []byte
}

func (f file) Path() string { return f.inside }

func (f file) Lstat() (fs.FileInfo, error) {
	info, err := os.Lstat(f.at)
	if err == nil && f.text != nil {
		info = sized{info, int64(len(f.text))}
	}
	return info, err
}

func (f file) Open() (io.ReadCloser, error) {
	if f.text != nil {
		return io.NopCloser(bytes.NewReader(f.text)), nil
	}
	return os.Open(f.at)
}

// sized is the information about a file, with another size.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }
