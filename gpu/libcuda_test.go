package gpu_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/penstock-go/penstock/gpu"
)

var realDriver = flag.String("driver", "", "NVIDIA's own libcuda, for a machine without a device")

// NVIDIA's library itself, not the fake: all functions that gpu needs are in it, and on a machine without a device it
// says so.
func TestNVIDIAsOwnDriverLoadsAndSaysThatThereIsNoDevice(t *testing.T) {
	if *realDriver == "" {
		t.Skip("-driver names no library; the script libcuda fetches one")
	}
	_, err := gpu.Open(gpu.Library(*realDriver))
	if !errors.Is(err, gpu.ErrNoDevice) {
		t.Fatalf("got %v, want ErrNoDevice", err)
	}
	t.Log(err)
}
