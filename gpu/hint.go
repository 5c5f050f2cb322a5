package gpu

import "errors"

// hints are the usual causes of a driver's error at the start, by code; see
// CUresult and the deployment guides of NVIDIA's drivers.
var hints = map[int]string{
	2:   "has another process taken the device's memory?",
	34:  "the file is a CUDA toolkit's stub, for linking alone: keep its folder out of LD_LIBRARY_PATH",
	46:  "another process has the device for itself: see its compute mode in nvidia-smi",
	304: "may this user open /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm?",
	802: "on machines with NVSwitch, is nvidia-fabricmanager running, of the driver's version?",
	803: "the kernel's NVIDIA module is of another version than libcuda: after an update, load it anew or restart",
	804: "a libcuda for forward compatibility is on the library path, which this device does not support: remove cuda-compat",
	999: "is the kernel module nvidia_uvm loaded (nvidia-modprobe -u), and may this user open /dev/nvidia-uvm?",
}

// hinted is the error with its hint, if there is one.
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
