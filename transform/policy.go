package transform

import (
	"errors"
)

// checkBins reports a number of bins with which torchvision cannot work either.
func checkBins(n int) error {
	if n < 2 || n > maxSide {
		return errors.New("want NumMagnitudeBins of 2 or more")
	}
	return nil
}
