package net_test

import (
	"errors"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/gpu"
)

func TestMissingDevicesAreErrors(t *testing.T) {
	if gorgonia.CUDA {
		t.Skip("built with the tag cuda")
	}
	if _, err := net.Open("cuda", "kernels"); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("cuda: got %v, want ErrNoDevice", err)
	}
	if _, err := net.Open("gpu", ""); err == nil || errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("gpu: got %v, want an error of an unknown device", err)
	}
	on, err := net.Open("auto", "kernels")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	if got, want := on.String(), "gorgonia's VM for the processor"; got != want {
		t.Errorf("auto: got %s, want %s", got, want)
	}
}
