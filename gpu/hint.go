package gpu

import "errors"

// hints are the usual causes of an error when the driver starts, by its code.
// Source: CUresult, and the deployment guides of NVIDIA's drivers.
var hints = map[int]string{
	2:   "has another process taken the device's memory?",
	34:  "the file is the stub library of a CUDA toolkit, which is only for linking: keep its folder out of LD_LIBRARY_PATH",
	46:  "another process has exclusive use of the device: see its compute mode in nvidia-smi",
	304: "does this user have permission to open /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm?",
	802: "on a machine with NVSwitch: is nvidia-fabricmanager running, in the same version as the driver?",
	803: "the NVIDIA kernel module and libcuda have different versions: after an update, reload the module or restart the machine",
	804: "the library path has a libcuda for forward compatibility, which this device does not support: remove cuda-compat",
	999: "is the kernel module nvidia_uvm loaded (nvidia-modprobe -u), and does this user have permission to open /dev/nvidia-uvm?",
}

// hinted adds the hint for the error's code, if there is one.
func hinted(err error) error {
	var d *DriverError
	if errors.As(err, &d) && hints[d.Code] != "" {
		return hintError{err, hints[d.Code]}
	}
	return err
}

type hintError struct {
	error
	hint string
}

func (e hintError) Error() string { return e.error.Error() + " (" + e.hint + ")" }
func (e hintError) Unwrap() error { return e.error }
