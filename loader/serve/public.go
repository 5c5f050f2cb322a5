package serve

import (
	"cmp"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
)

// absolute matches a URL, or an absolute path with what comes before it.
var absolute = regexp.MustCompile(`\w+://[^\s"]+|(^|[\s"'(\[{<=:,])((?:/|\\\\|[A-Za-z]:[/\\])[^\s"'()\[\]{}<>=:,;]+)`)

// public is the text of an error for clients, in one line. Of a path of this machine it has only the
// last element, and of a panic no stack. The log has all of it.
func public(err error) string {
	text := err.Error()
	var paths []string
	walk(err, func(err error) {
		switch e := err.(type) {
		case *dataset.PanicError:
			text = strings.ReplaceAll(text, "\n\n"+string(e.Stack), "")
		case *loader.SampleError:
			paths = append(paths, e.Name)
		case *fs.PathError:
			paths = append(paths, e.Path)
		case *os.LinkError:
			paths = append(paths, e.Old, e.New)
		}
	})
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, last(p))
	}
	return figures.OneLine(absolute.ReplaceAllStringFunc(text, func(match string) string {
		parts := absolute.FindStringSubmatch(match)
		if parts[2] == "" {
			return match
		}
		return parts[1] + last(parts[2])
	}))
}

// walk calls see for an error and all that it wraps.
func walk(err error, see func(error)) {
	see(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			walk(inner, see)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			walk(inner, see)
		}
	}
}

// rooted matches the beginning of an absolute path.
var rooted = regexp.MustCompile(`^(/|\\\\|[A-Za-z]:[/\\])`)

// last is the last element of an absolute path. Other names stay as they are.
func last(name string) string {
	if !rooted.MatchString(name) {
		return name
	}
	name = strings.TrimRight(name, `/\`)
	return name[strings.LastIndexAny(name, `/\`)+1:]
}
