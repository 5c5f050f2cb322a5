package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module makes a module of the given files the current directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example\n\ngo 1.26.0\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
}

const plain = "package a\n\nfunc Plain() int { return 1 }\n"

func TestTaggedFilesNeedNoHeaders(t *testing.T) {
	module(t, map[string]string{
		"a.go": plain,
		"a_cuda.go": `//go:build cuda && linux

package a

// #include <cuda.h>
import "C"
import "net/http"

func Device() int {
	var d C.CUdevice
	C.cuInit(0)
	return int(C.cuDeviceGet(&d, 0)) + http.StatusOK + Plain()
}
`,
		"a_cuda_test.go": "//go:build cuda\n\npackage a\n\nimport \"testing\"\n\nfunc TestDevice(t *testing.T) { _ = Device() }\n",
	})
	packages, files, err := run([]string{"./..."})
	if err != nil || packages != 1 || files != 2 {
		t.Errorf("got %d packages, %d files, %v; want 1, 2, nil", packages, files, err)
	}
}

func TestErrorsBehindTheTagAreFound(t *testing.T) {
	module(t, map[string]string{
		"a.go":           plain,
		"a_cuda.go":      "//go:build cuda\n\npackage a\n\nimport \"C\"\n\nfunc Text() string { C.f(); return Plain() }\n",
		"a_cuda_test.go": "//go:build cuda\n\npackage a\n\nvar _ = Missing\n",
	})
	_, _, err := run([]string{"./..."})
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{"a_cuda.go:7:", "cannot use Plain()", "undefined: Missing"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("got %q, want %q once", err, want)
		}
	}
}

func TestFilesWithoutTheTagAreNotCounted(t *testing.T) {
	module(t, map[string]string{
		"a.go":        plain,
		"a_other.go":  "//go:build !other\n\npackage a\n",
		"a_nocuda.go": "//go:build !cuda\n\npackage a\n\nvar _ = Missing\n",
	})
	packages, files, err := run([]string{"./..."})
	if err != nil || packages != 1 || files != 0 {
		t.Errorf("got %d packages, %d files, %v; want 1, 0, nil", packages, files, err)
	}
}
