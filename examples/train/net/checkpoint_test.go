package net_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/examples/train/net"
)

func TestCheckpointsComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	want := struct {
		Model *net.Model
		Steps int
	}{newModel(t), 3}
	if err := net.Save(path, want); err != nil {
		t.Fatal(err)
	}
	got := want
	got.Model, got.Steps = nil, 0
	if err := net.Load(path, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	var model struct{ Model *net.Model }
	if err := net.Load(path, &model); err != nil || !reflect.DeepEqual(model.Model, want.Model) {
		t.Errorf("the model alone: %+v, %v", model, err)
	}
}

func TestSaveLeavesTheOldFileOrTheNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := net.Save(path, func() {}); err == nil || !strings.Contains(err.Error(), "net: save "+path) {
		t.Errorf("got %v", err)
	}
	if content, _ := os.ReadFile(path); string(content) != "old" {
		t.Errorf("the file holds %q", content)
	}
	if err := net.Save(path, newModel(t)); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v were left", files)
	}
	if err := net.Save(filepath.Join(dir, "absent", "c"), 1); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v", err)
	}
}
