package loader_test

import (
	"math"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

func TestAnEpochThatDoesNotExistIsAnError(t *testing.T) {
	l := loadertest.New(t, &fake{n: 3}, loader.Workers(1))
	for epoch, want := range map[int]string{-1: "epoch -1", math.MinInt: "epoch -9", math.MaxInt: "epoch 9"} {
		if math.MaxInt == math.MaxInt32 {
			want = strings.NewReplacer("-9", "-2", "9", "2").Replace(want)
		}
		_, lenErr := l.Len(l.Position(epoch))
		_, leftErr := l.Len(l.Position(epoch))
		errs := []error{lenErr, leftErr}
		for b, err := range l.Epoch(t.Context(), epoch) {
			if b != nil {
				t.Errorf("epoch %d has %v", epoch, b)
			}
			errs = append(errs, err)
		}
		if len(errs) != 3 {
			t.Errorf("Epoch(%d) gave %d errors, want 1", epoch, len(errs)-2)
		}
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("epoch %d: got %v, want %q", epoch, err, want)
			}
		}
	}
	const last = math.MaxInt - 1
	if got := collect(t, l, last, last+1); len(got) != 3 {
		t.Errorf("epoch %d has %v, want 3 batches", last, got)
	}
	if n, err := l.Len(l.Position(last)); n != 3 || err != nil {
		t.Errorf("Len(%d) is %d, %v, want 3", last, n, err)
	}
}
