package dataset_test

import (
	"context"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

func TestFuncSaysWhatIsWrong(t *testing.T) {
	place := func(context.Context, int, dataset.Slot) error { return nil }
	if _, err := dataset.Func(1, nil, place).Open(); err == nil || err.Error() != "dataset: spec: no fields" {
		t.Errorf("got %v", err)
	}
	for want, use := range map[string]func(){
		"dataset: Func: n is -1: want 0 or more":       func() { dataset.Func(-1, dataset.Spec{labelField}, place) },
		"dataset: Func: place is nil: want a function": func() { dataset.Func(1, dataset.Spec{labelField}, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			use()
		}()
	}
}
