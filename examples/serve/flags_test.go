package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheTokenComesFromAFileOrTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PENSTOCK_TOKEN", "other\n")
	for name, want := range map[string]string{file: "secret", "": "other"} { // both without their line breaks
		if got, err := readToken(name); err != nil || got != want {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(file); err == nil {
		t.Error("no error for an empty file")
	}
	t.Setenv("PENSTOCK_TOKEN", "\n")
	if token, err := readToken(""); err == nil {
		t.Errorf("a blank variable: got %q and no error", token)
	}
	t.Setenv("PENSTOCK_TOKEN", "")
	if token, err := readToken(""); err != nil || token != "" {
		t.Errorf("no variable: got %q, %v", token, err)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"flag -epochs: want a number from 1": {"-local", "-epochs", "0"},
		"want a rank from 0 to 1":            {"-local", "-rank", "2", "-world", "2"},
		"-read localhost:1: want URLs":       {"-read", "http://localhost:1,localhost:1"},
		"-cert and -key: want both":          {"-cert", "main.go"},
		"-cert and -key: tls: ":              {"-cert", "main.go", "-key", "main.go"},
		"-drain -1s: want 0s or more":        {"-drain", "-1s"},
		"flag -ca: want a file: ":            {"-ca", "missing.pem"},
		"-ca main.go: want certificates":     {"-ca", "main.go"},
		"-listen here: address here: ":       {"-listen", "here"},
		"-local and -read: want one of them": {"-local", "-read", "http://localhost:1"},
	} {
		cmd := program(t, args...)
		cmd.Stderr = nil // Output keeps it
		out, err := cmd.Output()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 2 || !strings.Contains(string(exit.Stderr), want) || len(out) > 0 {
			t.Errorf("%v: got %q, %v, want %q", args, out, err, want)
		}
	}
}
