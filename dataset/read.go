package dataset

import (
	"fmt"

	"github.com/penstock-go/penstock/internal/files"
)

// readError says which file could not be read. It does not repeat a name that
// err already has.
func readError(name string, err error) error {
	return fmt.Errorf("dataset: read %s: %w", name, files.Cause(err))
}
