package dataset

import "fmt"

// CheckIndex is the error of a Reader that is asked for sample i of n and does
// not have it, or nil.
func CheckIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("dataset: sample %d of %d", i, n)
	}
	return nil
}
