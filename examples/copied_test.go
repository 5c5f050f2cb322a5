package examples_test

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// copied are the examples that can be pasted into another module, with arguments that make them short, and what they
// print then. The folders photos and clips are copies of the project's own images and sounds.
var copied = []struct{ name, arguments, want string }{
	{"annotations", "", `boxes; a batch is drawn in annotations\.png`},
	{"clips", "", `6 clips of 8 frames are drawn in clips\.png`},
	{"dataset", "-csv list.csv -dir photos", `hills/1\.jpg: `},
	{"images", "-dir photos -epochs 2", `30 images in 4 classes(.|\n)*images/s with \d+ workers, first batch after(.|\n)*decode(.|\n)*left out: .*truncated\.jpg(.|\n)*drawn in batch\.png`},
	{"live", "-dir photos -epochs 1", `shown on http://(.|\n)*delivered `},
	{"mixup", "-dir photos", `24 mixed images are drawn in mixup\.png`},
	{"preprocess", "-dir photos", `29 samples of 4 classes(.|\n)*images/s from images\.packed`},
	{"ragged", "", `\[1 2 3 4 5 6 7 8 6 9\]`},
	{"ranks", "-step 1us", `rank 0 of 1: 2200 samples`},
	{"resume", "", `epoch 1, batch 4: `},
	{"serve", "-dir photos -local -size 32", `2 batches, 29 images, 1 left out, sha256 `},
	{"shards", "-dir photos", `epoch 1: 29 images in .*, 0 requests`},
	{"speech", "-dir clips -epochs 2", `13 clips in 3 classes(.|\n)*input_features \(\d, \d+, 80\) and a mask \(\d, \d+\)\n\d+ clips/s, first batch after(.|\n)*apply(.|\n)*left out: .*low/5\.flac(.|\n)*aia/1\.flac, augmented, to speech\.wav`},
	{"stream", "", `after 5000 lines: y = 3\.0\d* x \+ 1\.0`},
	{"transform", "-dir photos", `drawn in edges\.png`},
	{"views", "-dir photos", `a batch is drawn in views\.png`},
}

// stranger makes a module outside the repository with copies of these examples, and builds them there.
func stranger(t *testing.T) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// The progress bar, and what it needs, in the versions that are here: nothing is fetched.
	list := exec.Command("go", "list", "-m", "-f", "require {{.Path}} {{.Version}}", "github.com/vbauerster/mpb/v8", "github.com/VividCortex/ewma",
		"github.com/acarl005/stripansi", "github.com/mattn/go-runewidth", "github.com/clipperhouse/uax29/v2", "golang.org/x/sys")
	versions, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "module example.com/stranger\n\ngo 1.26.0\n\nrequire github.com/penstock-go/penstock v0.0.0\n\nreplace github.com/penstock-go/penstock => "
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module+strconv.Quote(root)+"\n"+string(versions)), 0o666); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum") // so that no checksum is asked for
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range copied {
		text, err := os.ReadFile(filepath.Join(c.name, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, c.name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.name, "main.go"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "bin"+string(filepath.Separator), "./...")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestExamplesRunInAStrangersModule(t *testing.T) {
	dir := stranger(t)
	for _, c := range copied {
		t.Run(c.name, func(t *testing.T) {
			place := t.TempDir()
			for _, folder := range []string{"images/photos", "speech/clips"} {
				if err := os.CopyFS(filepath.Join(place, filepath.Base(folder)), os.DirFS(folder)); err != nil {
					t.Fatal(err)
				}
			}
			if list, err := os.ReadFile("dataset/list.csv"); err != nil || os.WriteFile(filepath.Join(place, "list.csv"), list, 0o666) != nil {
				t.Fatal(err)
			}
			program := func(arguments string) (out string, code int) {
				cmd := exec.Command(filepath.Join(dir, "bin", c.name), strings.Fields(arguments)...)
				cmd.Dir = place
				text, err := cmd.CombinedOutput()
				if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
					t.Fatal(err)
				} else if ok {
					return string(text), exit.ExitCode()
				}
				return string(text), 0
			}
			out, code := program(c.arguments)
			if code != 0 || !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("%s: exit status %d, want %q:\n%s", c.arguments, code, c.want, out)
			}
			if out, code := program("-unknown 1"); c.name != "ragged" && (code != 2 || !strings.Contains(out, "-unknown")) {
				t.Errorf("with an unknown flag: exit status %d:\n%s", code, out)
			}
			switch c.name {
			case "ragged", "ranks", "serve", "stream": // these ignore what is no flag
			default:
				if out, code := program("folder"); code != 1 || out != "\"folder\" is no flag: see -h\n" {
					t.Errorf("with an argument that is no flag: exit status %d:\n%s", code, out)
				}
			}
			if out, code := program("-dir nowhere"); strings.HasPrefix(c.arguments, "-dir") && (code != 1 || !strings.Contains(out, "nowhere") || strings.Count(out, "\n") != 1) {
				t.Errorf("without the folder: exit status %d, want one line that names it:\n%s", code, out)
			}
			if c.name != "resume" && c.name != "stream" {
				return
			}
			// Killed twice, and with another number of workers, it ends as the run that was not.
			if err := os.RemoveAll(filepath.Join(place, "stream-example")); err != nil {
				t.Fatal(err)
			}
			first, _ := program("-kill 3")
			second, _ := program("-kill 2 -workers 1")
			last, code := program("-workers 3")
			if code != 0 || !strings.Contains(first, "killed") || !strings.Contains(second, "killed") || ends(last) != ends(out) {
				t.Errorf("after kills the run ends with %q, want %q:\n%s%s%s", ends(last), ends(out), first, second, last)
			}
		})
	}
}

// ends is the line with a run's last checksum or weights.
func ends(out string) string {
	return regexp.MustCompile(`(?m)^(epoch 1, batch 4: |after 5000 lines: ).*$`).FindString(out)
}

// TestExamplesCanBeCopied: a page each, and nothing that only this repository can import.
func TestExamplesCanBeCopied(t *testing.T) {
	const most = 150
	for _, c := range append(slices.Clone(copied), struct{ name, arguments, want string }{name: "gomlx"}) {
		path := filepath.Join(c.name, "main.go")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most {
			t.Errorf("%s has %d lines, want %d at most", path, n, most)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if strings.Contains(spec.Path.Value, "/internal/") || strings.Contains(spec.Path.Value, "penstock/examples") {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
	}
}
