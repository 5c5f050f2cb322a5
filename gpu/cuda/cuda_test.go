package cuda_test

import (
	"testing"

	"github.com/penstock-go/penstock/gpu/cuda"
)

func TestVMsThatNewHasNotMadeAreErrors(t *testing.T) {
	for _, vm := range []*cuda.VM{nil, {}} {
		_, device := vm.Device()
		var loop error
		for _, loop = range vm.Run(nil) {
		}
		for call, err := range map[string]error{"Device": device, "RunAll": vm.RunAll(), "Run": loop} {
			if err == nil {
				t.Errorf("%s: got no error", call)
			}
		}
		vm.Reset()
		if err := vm.Close(); err != nil {
			t.Errorf("Close: got %v", err)
		}
	}
}
