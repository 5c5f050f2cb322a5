package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// A module is a module of the repository, with its files there.
type module struct {
	root   string   // the repository's folder
	folder string   // of the module in the repository, "." for the library itself
	path   string   // the module path
	files  []string // tracked by git, below its folder and in no other module
}

// modulesOf finds the modules of a repository.
func modulesOf(root string) ([]*module, error) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	folders := map[string]*module{}
	var all []*module
	for _, file := range files {
		if path.Base(file) != "go.mod" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		m := &module{root: root, folder: path.Dir(file), path: modfile.ModulePath(text)}
		folders[m.folder] = m
		all = append(all, m)
	}
	for _, file := range files {
		folder := path.Dir(file)
		for folders[folder] == nil && folder != "." {
			folder = path.Dir(folder)
		}
		if m := folders[folder]; m != nil {
			m.files = append(m.files, file)
		}
	}
	return all, nil
}

func (m *module) dir() string { return filepath.Join(m.root, m.folder) }

// released reports whether other projects import the module. Programs are used from a
// clone of the repository.
func (m *module) released() bool {
	switch first, _, _ := strings.Cut(m.folder, "/"); first {
	case "bench", "examples", "tools":
		return false
	}
	return true
}

// tag is the git tag of a version of the module.
func (m *module) tag(version string) string { return path.Join(m.folder, version) }

// file is the module's go.mod with the given version of every other module of
// the repository.
func (m *module) file(version string) ([]byte, error) {
	name := filepath.Join(m.dir(), "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range f.Replace {
		if !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		for _, require := range f.Require {
			if require.Mod.Path == r.Old.Path {
				if err := f.AddRequire(r.Old.Path, version); err != nil {
					return nil, err
				}
			}
		}
	}
	return f.Format()
}
