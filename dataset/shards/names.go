package shards

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset/objects"
)

// maxNames is how many objects the braces of one name may stand for.
const maxNames = 1 << 20

// expandAll finds the names of the objects that names stand for.
func expandAll(ctx context.Context, s objects.Store, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		list, err := expand(name)
		if err != nil {
			return nil, fmt.Errorf("shards: scan %s: %w", name, err)
		}
		for _, n := range list {
			found, err := match(ctx, s, n)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("shards: scan: no names of shards")
	}
	return all, nil
}

// match lists the objects whose names match a pattern. A name without special
// characters is returned itself.
func match(ctx context.Context, s objects.Store, pattern string) ([]string, error) {
	special := strings.IndexAny(pattern, `*?[\`)
	if special < 0 {
		return []string{pattern}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("shards: scan %s: %w", pattern, err)
	}
	var names []string
	for o, err := range s.List(ctx, pattern[:special]) {
		if err != nil {
			return nil, fmt.Errorf("shards: scan %s: %w", pattern, err)
		}
		if ok, _ := path.Match(pattern, o.Name); ok {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("shards: scan %s: no object%s has such a name: %w", pattern, in(s), fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

// in names a store, if it has a name.
func in(s objects.Store) string {
	if name := s.Identity(); name != "" {
		return " in " + name
	}
	return ""
}

// expand replaces the first braces of a name, and then those of the results: {000..010}
// by the numbers, as wide as the first, and {a,b} by the texts.
func expand(name string) ([]string, error) {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}, nil
	}
	inside, after, ok := strings.Cut(rest, "}")
	if !ok || strings.Contains(inside, "{") {
		return nil, errors.New("want a } for every {, and none within another")
	}
	tails, err := expand(after)
	if err != nil {
		return nil, err
	}
	texts, err := inBraces(inside)
	if err != nil {
		return nil, err
	}
	if len(texts) > maxNames/len(tails) {
		return nil, fmt.Errorf("more than %d names", maxNames)
	}
	names := make([]string, 0, len(texts)*len(tails))
	for _, text := range texts {
		for _, tail := range tails {
			names = append(names, before+text+tail)
		}
	}
	return names, nil
}

func inBraces(inside string) ([]string, error) {
	from, to, ok := strings.Cut(inside, "..")
	if !ok {
		return strings.Split(inside, ","), nil
	}
	first, err := strconv.ParseUint(from, 10, 62)
	last, err2 := strconv.ParseUint(to, 10, 62)
	if err != nil || err2 != nil || last < first || last-first >= maxNames {
		return nil, fmt.Errorf("{%s}: want a range of at most %d numbers", inside, maxNames)
	}
	var texts []string
	for n := first; n <= last; n++ {
		texts = append(texts, fmt.Sprintf("%0*d", len(from), n))
	}
	return texts, nil
}
