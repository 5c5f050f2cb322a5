package dataset

import "fmt"

func checkIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("dataset: sample %d of %d", i, n)
	}
	return nil
}
