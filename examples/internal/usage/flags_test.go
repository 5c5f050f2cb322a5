package usage

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlagsSayWhatTheyWant(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "there.png")
	if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for _, c := range []struct{ name, value, want string }{
		{"n", "3", ""},
		{"n", "2", "want a number from 3 on"},
		{"n", "three", "want a number from 3 on"},
		{"dir", dir, ""},
		{"dir", missing, "want a folder: "},
		{"dir", file, "want a folder: it is a file"},
		{"new", dir, ""},
		{"new", missing, ""},
		{"new", file, "want a folder: it is a file"},
		{"new", "", "want a folder"},
		{"in", file, ""},
		{"in", missing, "want a file: "},
		{"in", dir, "want a file: it is a folder"},
		{"out", file, ""},
		{"out", filepath.Join(dir, "NEW.PNG"), ""},
		{"out", filepath.Join(missing, "new.png"), "want a file to write: "},
		{"out", filepath.Join(dir, "new.jpg"), "want a name that ends in .png"},
		{"out", "", "want a name that ends in .png"},
		{"maybe", "", ""},
		{"maybe", dir, "want a name that ends in .png or .svg"},
		{"any", dir, "want a file to write: "},
		{"any", os.DevNull, ""},
		{"word", "b", ""},
		{"word", "c", "want a or b"},
	} {
		t.Run(c.name+" "+filepath.Base(c.value), func(t *testing.T) {
			old := flag.CommandLine
			defer func() { flag.CommandLine = old }()
			flag.CommandLine = flag.NewFlagSet("program", flag.ContinueOnError)
			flag.CommandLine.SetOutput(io.Discard)
			var n int
			var text string
			Int(&n, "n", 5, 3, "a number")
			Folder(&text, "dir", "a folder")
			NewFolder(&text, "new", "made", "a folder")
			File(&text, "in", "a file")
			Output(&text, "out", "out.png", "an image", ".png")
			Output(&text, "maybe", "", "an image", ".png", ".svg", "")
			Output(&text, "any", "", "a file")
			Choice(&text, "word", "a", "a word", "a", "b")
			err := parse(flag.CommandLine, []string{"-" + c.name, c.value}, "It works.")
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got error %v", err)
			case c.want == "" && text != c.value && c.name != "n":
				t.Errorf("got %q, want %q", text, c.value)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "-"+c.name)):
				t.Errorf("got error %v, want one with -%s and %q", err, c.name, c.want)
			}
		})
	}
	if got, err := os.ReadFile(file); string(got) != "old" || err != nil {
		t.Errorf("the file that was there has become %q, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v; want no new file", left, err)
	}
}

func TestHelpShowsDefaults(t *testing.T) {
	old := flag.CommandLine
	defer func() { flag.CommandLine = old }()
	flag.CommandLine = flag.NewFlagSet("program", flag.ContinueOnError)
	var out strings.Builder
	flag.CommandLine.SetOutput(&out)
	var n int
	var text string
	Int(&n, "n", 5, 3, "how many `images`")
	Output(&text, "out", "out.png", "an image", ".png")
	help(flag.CommandLine, "It works.")
	const want = "It works.\n\nFlags:\n  -n images\n    \thow many images (default 5)\n  -out value\n    \tan image (default out.png)\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
