package penstock_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestReadmeShowsTheExample(t *testing.T) {
	example := read(t, "example_test.go")
	program := strings.NewReplacer("package penstock_test", "package main", "func Example()", "func main()").Replace(example)
	if !strings.Contains(read(t, "README.md"), "```go\n"+program+"```\n") {
		t.Errorf("README.md does not show this program, which is example_test.go:\n%s", program)
	}
}

func TestLinksOfPagesLeadToFilesAndHeadings(t *testing.T) {
	if _, err := os.Stat("examples/go.mod"); err != nil {
		t.Skipf("not the whole repository: %v", err) // but the module of the library alone
	}
	pages, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"docs/*.md", "bench/README.md", "bench/*/README.md", "examples/README.md", "examples/*/*.md"} {
		more, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	link := regexp.MustCompile(`\]\(([^()\s"]+)\)`)
	for _, page := range pages {
		for _, found := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(found[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: link to %s: %v", page, found[1], err)
				continue
			}
			if info.IsDir() {
				target = path.Join(target, "README.md")
			}
			if heading != "" && !headings(read(t, target))[heading] {
				t.Errorf("%s: link to %s: %s has no such heading", page, found[1], target)
			}
		}
	}
}

func TestTheListOfProgramsHasAllExamples(t *testing.T) {
	folders, err := os.ReadDir("examples")
	if err != nil {
		t.Skipf("not the whole repository: %v", err) // but the module of the library alone
	}
	list := read(t, "examples/README.md")
	for _, f := range folders {
		if f.IsDir() && f.Name() != "internal" && !strings.Contains(list, "["+f.Name()+"]("+f.Name()+")") {
			t.Errorf("examples/README.md lacks %s", f.Name())
		}
	}
}

// withoutCode is Markdown without its code.
func withoutCode(markdown string) string {
	return regexp.MustCompile("(?s)```.*?```|`[^`\n]*`").ReplaceAllString(markdown, "")
}

// headings are the anchors of a page's headings, as GitHub names them.
func headings(markdown string) map[string]bool {
	anchors := map[string]bool{}
	markdown = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(markdown, "") // comments in code begin with # too
	for _, line := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(markdown, -1) {
		kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(line[1]), "")
		anchors[strings.ReplaceAll(kept, " ", "-")] = true
	}
	return anchors
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
