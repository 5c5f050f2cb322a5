package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/penstock-go/penstock/dataset"
)

func TestErrorThatMayPassIsFoundAmongOthers(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{fs.ErrNotExist, false},
		{fmt.Errorf("read: %w", syscall.ENOENT), false},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), true},
		{errors.Join(syscall.ENOENT, context.DeadlineExceeded), true},
		{errors.Join(syscall.ENOENT, fs.ErrClosed), false},
	} {
		if got := dataset.MayPass(c.err); got != c.want {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}
