package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/loader"
)

func TestPositionOutlivesTheProgram(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if _, err := load(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: error %v, want %v", err, fs.ErrNotExist)
	}
	l, err := loader.New(noisy(40), loader.BatchSize(8))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := l.Position(1)
	if err := save(state, want); err != nil {
		t.Fatal(err)
	}
	if got, err := load(state); !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestDamagedStateIsNamed(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for _, text := range []string{"", "garbage", `{"Epoch": "one"}`} {
		if err := os.WriteFile(state, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := run(state, -1, 2)
		if err == nil || !strings.HasPrefix(err.Error(), state+" holds no position: ") {
			t.Errorf("%q: error %v, want one that names the file", text, err)
		}
		if got, _ := os.ReadFile(state); string(got) != text {
			t.Errorf("%q has become %q", text, got)
		}
	}
}
