package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// same returns an error that lists how the existing file differs from what the job
// makes: size and dtype, classes, number of images. The file does not hold the names of
// the images, so it cannot notice other images of the same number and classes.
func (j job) same(photos *dataset.Folder) error {
	ds, err := j.pipeline(photos)
	if err != nil {
		return err
	}
	packed, err := openPacked(j.out)
	if err != nil {
		return err
	}
	var differ []string
	note := func(what string, has, want any) {
		differ = append(differ, fmt.Sprintf("\t%s: it has %v, want %v\n", what, has, want))
	}
	if has, want := packed.Spec().String(), ds.Spec().String(); has != want {
		note(fmt.Sprintf("-size %d -dtype %s", j.size, j.dtype), has, want)
	}
	if has, want := packed.Classes(), photos.Classes(); !slices.Equal(has, want) {
		note("classes of -dir", short(has), short(want))
	} else if has, want := packed.Len(), photos.Len(); has > want || has < want && !j.skip {
		note("images of -dir", has, want)
	}
	if differ == nil {
		return nil
	}
	return fmt.Errorf("%s exists already, made with other options:\n%sgive another -out, or remove the file",
		j.out, strings.Join(differ, ""))
}

// short lists a few names.
func short(names []string) string {
	const few = 5
	if len(names) <= few {
		return fmt.Sprint(names)
	}
	return fmt.Sprintf("%d, %v …", len(names), names[:few])
}
