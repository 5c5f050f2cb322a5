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
		err               error
		mayPass, persists bool
	}{
		{nil, false, false},
		{errors.New("cut at byte 7"), false, false},
		{os.ErrDeadlineExceeded, true, false},
		{objects.ErrExpired, true, false},
		{objects.ErrReplaced, true, true},
		{fmt.Errorf("shard 3: %w", errors.Join(errors.New("close"), fmt.Errorf("read: %w", objects.ErrReplaced))), true, true},
	} {
		if mayPass, persists := dataset.MayPass(c.err), dataset.Persists(c.err); mayPass != c.mayPass || persists != c.persists {
			t.Errorf("%v: may pass %v, persists %v; want %v, %v", c.err, mayPass, persists, c.mayPass, c.persists)
		}
	}
}
