package dataset

import "fmt"

// CheckIndex returns nil if i is from 0 to n-1, and otherwise the error that a
// Reader of n samples returns for sample i.
func CheckIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("dataset: sample %d is out of range: there are %d", i, n)
	}
	return nil
}
