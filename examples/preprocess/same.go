package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// same returns an error that lists how the existing file differs from what the job
// makes: size and dtype, or whole photos; classes; images.
func (j job) same(photos *dataset.Folder) error {
	ds, made, err := j.samples(photos)
	if err != nil {
		return err
	}
	file, err := openPacked(j.out)
	if err != nil {
		return err
	}
	var differ []string
	note := func(what string, has, want any) {
		differ = append(differ, fmt.Sprintf("\t%s: it has %v, want %v\n", what, has, want))
	}
	if has, want := file.Spec().String(), ds.Spec().String(); has != want {
		note(j.flags(), has, want)
	}
	if has, want := file.Classes(), photos.Classes(); !slices.Equal(has, want) {
		note("classes of -dir", short(has), short(want))
	} else if has, want := file.Len(), photos.Len(); has > want || has < want && !j.skip {
		note("images of -dir", has, want)
	}
	if differ == nil {
		source, err := describe(photos, j.files, made)
		if err != nil || file.Origin() == source {
			return err
		}
		differ = append(differ, "\timages of -dir: it was made of others, or in another way\n")
	}
	return fmt.Errorf("%s exists already, made with other options:\n%sgive another -out, or remove the file",
		j.out, strings.Join(differ, ""))
}

// flags are those that decide what a sample is.
func (j job) flags() string {
	if j.photos != "" {
		return "-photos " + j.photos
	}
	return fmt.Sprintf("-size %d -dtype %s", j.size, j.dtype)
}

// short lists a few names.
func short(names []string) string {
	const few = 5
	if len(names) <= few {
		return fmt.Sprint(names)
	}
	return fmt.Sprintf("%d, %v …", len(names), names[:few])
}
