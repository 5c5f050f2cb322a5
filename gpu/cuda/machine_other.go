//go:build !cuda

package cuda

import (
	"errors"

	"gorgonia.org/gorgonia"
)

func available() error { return errors.New("the program was built without the tag cuda") }

// A machine is never opened without the tag cuda.
type machine struct{}

func lock() {}

func (machine) open(*gorgonia.ExprGraph, []gorgonia.VMOpt) error { return available() }
func (machine) run() error                                       { return available() }
func (machine) reset()                                           {}
func (machine) close() error                                     { return nil }
func (machine) context() uintptr                                 { return 0 }

func flush(gorgonia.External, gorgonia.Device, gorgonia.Value, gorgonia.Value) (gorgonia.Value, error) {
	return nil, available()
}

func bind(gorgonia.External, gorgonia.Device) error { return available() }

func register(string, string, []string) {}
