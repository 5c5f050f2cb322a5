package main

import (
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMain is the program itself if the test has started it.
func TestMain(m *testing.M) {
	if os.Getenv("PRETRAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs it on so many processors, and returns what it prints and its losses by step.
func program(t *testing.T, processors string, arguments ...string) (printed string, losses map[int]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(arguments, "-dir", "../..")...)
	cmd.Env = append(os.Environ(), "PRETRAIN=1", "GOMAXPROCS="+processors)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, text)
	}
	losses = map[int]string{}
	for _, line := range regexp.MustCompile(`(?m)^step (\d+): loss (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		step, err := strconv.Atoi(line[1])
		if err != nil {
			t.Fatal(err)
		}
		losses[step] = line[2]
	}
	return string(text), losses
}

// Neither the processors nor the workers change a loss.
func TestAKilledRunHasTheLossesOfAWholeOne(t *testing.T) {
	folder := t.TempDir()
	whole, killed := filepath.Join(folder, "whole"), filepath.Join(folder, "killed")
	text, want := program(t, "2", "-out", whole, "-steps", "14")
	if len(want) != 14 {
		t.Fatalf("%d steps, want 14:\n%s", len(want), text)
	}
	loss := func(step int) float64 {
		v, err := strconv.ParseFloat(want[step], 32)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if first, last := loss(1), loss(14); first < 5 || last > 4.4 {
		t.Errorf("the loss goes from %v to %v, want it to fall from more than 5 to less than 4.4", first, last)
	}
	for _, run := range []struct {
		processors, kill string
		first, last      int
	}{{"2", "4", 1, 4}, {"1", "12", 1, 12}, {"3", "-1", 11, 14}, {"2", "-1", 15, 14}} {
		text, got := program(t, run.processors, "-out", killed, "-steps", "14", "-kill-at", run.kill, "-workers", "3")
		if len(got) != run.last-run.first+1 {
			t.Errorf("-kill-at %s: %d steps, want %d to %d:\n%s", run.kill, len(got), run.first, run.last, text)
		}
		for step := run.first; step <= run.last; step++ {
			if got[step] != want[step] {
				t.Errorf("-kill-at %s: the loss of step %d is %s, want %s", run.kill, step, got[step], want[step])
			}
		}
	}
	for _, name := range []string{"loss.png", "docs.bin", "pages.bin"} {
		a, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(killed, name)); err != nil || string(b) != string(a) {
			t.Errorf("%s is another one after the kills: %v", name, err)
		}
	}
	f, err := os.Open(filepath.Join(whole, "loss.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
}

func TestADamagedCheckpointIsAnErrorThatNamesIt(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "checkpoint"), []byte("no gob"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-out", folder, "-dir", "../..")
	cmd.Env = append(os.Environ(), "PRETRAIN=1")
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), filepath.Join(folder, "checkpoint")+" is no checkpoint") {
		t.Errorf("%v: %s", err, text)
	}
}
