//go:build !linux

package share

import (
	"errors"
	"os"
)

func newFile(int) (*os.File, []byte, error) { return nil, nil, errors.ErrUnsupported }
func exchange([]byte) (*os.File, error)     { return nil, errors.ErrUnsupported }
func unmap([]byte) error                    { return errors.ErrUnsupported }
