package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// wildcard stands for the patient's name in a pattern.
const wildcard = "{patient}"

// findPatients sets c.all to the patients, with their names and files.
func (c *core) findPatients() error {
	table := c.table
	found := make([]map[string][]string, len(c.sources)) // files by patient
	if len(table) == 0 {
		names := map[string]bool{}
		var errs []error
		for k, s := range c.sources {
			var err error
			if found[k], err = matchPatients(c.fsys, s.pattern); err != nil {
				errs = append(errs, fmt.Errorf("volume: %s: %w", s.name, err))
			}
			for name := range found[k] {
				names[name] = true
			}
		}
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		for name := range names {
			table = append(table, Patient{Name: name})
		}
		slices.SortFunc(table, func(a, b Patient) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(table) == 0 {
		return fmt.Errorf("volume: no file matches %s", figures.Join(c.sources))
	}
	seen := map[string]bool{}
	var errs []error
	for _, row := range table {
		if row.Name == "" || seen[row.Name] {
			errs = append(errs, fmt.Errorf("volume: patient %q: want a name, and no other patient with it", row.Name))
			continue
		}
		seen[row.Name] = true
		p := patient{name: row.Name, files: make([]string, len(c.sources))}
		for k, s := range c.sources {
			file, err := c.fileOf(row, s, found[k])
			if err != nil {
				errs = append(errs, fmt.Errorf("volume: patient %s, %s: %w", row.Name, s.name, err))
			}
			p.files[k] = file
		}
		for name := range row.Files {
			if !slices.ContainsFunc(c.sources, func(s source) bool { return s.name == name }) {
				errs = append(errs, fmt.Errorf("volume: patient %s: file of %q, which is not a Scan or Mask of the cohort", row.Name, name))
			}
		}
		if !slices.ContainsFunc(p.files, func(f string) bool { return f != "" }) && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("volume: patient %s has no volume", row.Name))
		}
		c.all = append(c.all, p)
	}
	return files.Join(errs)
}

// fileOf is the file of a volume of the patient, or "" if it is optional and missing.
func (c *core) fileOf(row Patient, s source, found map[string][]string) (string, error) {
	if file := row.Files[s.name]; file != "" {
		return file, nil // a missing file is an error when it is opened, even of an optional volume
	}
	files := found[row.Name]
	if found == nil && s.pattern != "" {
		var err error
		if files, err = fs.Glob(c.fsys, patternOf(s.pattern, escape(row.Name))); err != nil {
			return "", fmt.Errorf("match %q: %w", s.pattern, err)
		}
	}
	switch {
	case len(files) == 1:
		return files[0], nil
	case len(files) > 1:
		return "", fmt.Errorf("%d files match %s: %s, %s: want one", len(files), s.pattern, files[0], files[1])
	case s.optional:
		return "", nil
	case s.pattern == "":
		return "", errors.New("no file in the table, and no pattern")
	}
	return "", fmt.Errorf("no file matches %s: %w", patternOf(s.pattern, row.Name), fs.ErrNotExist)
}

// matchPatients finds the files that match the pattern, by patient.
func matchPatients(fsys fs.FS, pattern string) (map[string][]string, error) {
	files, err := fs.Glob(fsys, patternOf(pattern, "*"))
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	// The regular expression finds the name at the first {patient}. path.Match with
	// the name in every {patient} then tells whether the others are the same.
	first, err := regexp.Compile("^" + expression(pattern) + "$")
	if err != nil {
		return nil, fmt.Errorf("match %q: %w", pattern, err)
	}
	found := map[string][]string{}
	for _, file := range files {
		m := first.FindStringSubmatch(file)
		if m == nil || strings.HasPrefix(m[1], ".") {
			continue
		}
		if ok, err := path.Match(patternOf(pattern, escape(m[1])), file); err != nil || !ok {
			continue
		}
		found[m[1]] = append(found[m[1]], file)
	}
	return found, nil
}

// expression is the pattern as a regular expression whose first group is the
// patient's name.
func expression(pattern string) string {
	parts := strings.Split(pattern, wildcard)
	for i, part := range parts {
		parts[i] = globExpression(part)
	}
	return strings.Join(parts, "([^/]+)")
}

// globExpression is what path.Match accepts, as a regular expression.
func globExpression(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '*':
			b.WriteString("[^/]*")
		case '?':
			b.WriteString("[^/]")
		case '\\':
			i++
			if i < len(glob) {
				b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			}
		case '[':
			end := i + 1
			for end < len(glob) && glob[end] != ']' {
				if glob[end] == '\\' {
					end++
				}
				end++
			}
			b.WriteString(glob[i:min(end+1, len(glob))])
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return b.String()
}

func patternOf(pattern, name string) string { return strings.ReplaceAll(pattern, wildcard, name) }

// escape quotes the characters of a name that are special to path.Match.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
