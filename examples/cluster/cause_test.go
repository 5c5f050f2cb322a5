package main

import (
	"errors"
	"fmt"
	"testing"
)

func TestCauseIsFoundAmongWhatRunnersAdd(t *testing.T) {
	want := errors.New("00000-of-00001.packed: \"a\nb\".jpg is damaged")
	text := fmt.Sprintf("job failed:\njava.lang.RuntimeException: DoFn failed:\n%v\n\tat org.apache.Beam\nCaused by: %[1]v\n\t... 3 more", quoted(want))
	if got := cause(errors.New(text)); got.Error() != want.Error() {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, text := range []string{"no connection to the job service", mark, mark + `"cut off`} {
		err := errors.New(text)
		if got := cause(err); got != err {
			t.Errorf("%q has become %v", text, got)
		}
	}
	if cause(nil) != nil || quoted(nil) != nil {
		t.Error("an error without a cause")
	}
}
