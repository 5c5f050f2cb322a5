package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
)

func TestTheListSaysWhichFilesAreSamples(t *testing.T) {
	files := fstest.MapFS{"a.jpg": {Data: []byte("first")}, "b/c.jpg": {Data: []byte("second")}}
	l, err := open(files, strings.NewReader("class,note,path\ndog,,b/c.jpg\ncat,old,a.jpg\ndog,,gone.jpg\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"second dog", "first cat"} {
		s, err := dataset.At(t.Context(), l, i)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(dataset.ValuesOf[uint8](s["image"])) + " " + l.classes[dataset.ValuesOf[int64](s["label"])[0]]; got != want {
			t.Errorf("sample %d: got %s, want %s", i, got, want)
		}
	}
	if _, err := dataset.At(t.Context(), l, 2); err == nil || !strings.Contains(err.Error(), "gone.jpg") {
		t.Errorf("a missing file: got error %v", err)
	}
}

func TestAListWithoutItsColumnsIsAnError(t *testing.T) {
	for _, text := range []string{"", "path,label\na,b\n", "path,class\na\n"} {
		if _, err := open(nil, strings.NewReader(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestTheProjectsOwnListLoads(t *testing.T) {
	if err := run("", ""); err != nil {
		t.Error(err)
	}
}
