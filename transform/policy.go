package transform

import (
	"errors"

	"github.com/penstock-go/penstock/internal/steps"
)

// checkBins reports a number of bins with which torchvision cannot work either.
func checkBins(n int) error {
	if n < 2 || n > maxSide {
		return errors.New("want 2 bins or more")
	}
	return nil
}

func binsCall(n int) string {
	if n == 31 {
		return ""
	}
	return steps.Call(".Bins", n)
}
