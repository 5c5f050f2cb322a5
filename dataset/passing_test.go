package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

func TestErrorsOfTheSampleAndOfTheMomentAreToldApart(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("cut at byte 7"), false},
		{os.ErrDeadlineExceeded, true},
		{objects.ErrExpired, true},
		{objects.ErrReplaced, true},
		{fmt.Errorf("shard 3: %w", errors.Join(errors.New("close"), fmt.Errorf("read: %w", objects.ErrReplaced))), true},
	} {
		if got := dataset.MayPass(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
