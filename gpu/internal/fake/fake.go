//go:build linux && (amd64 || arm64)

package fake

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
)

// Error codes of the CUDA driver API. The last two are sticky.
const (
	OutOfMemory    = 2
	NoDevice       = 100
	OSError        = 304
	IllegalAddress = 700
	LaunchFailed   = 719
)

// What Live counts.
const (
	PinnedBytes int32 = iota
	DeviceBytes
	Streams
	Events
	Contexts
	Modules
	accounts
)

var names = [accounts]string{"page-locked bytes", "device bytes", "streams", "events", "contexts", "modules"}

// A Driver is a loaded fake driver. Its fields are functions that control it or report
// what it has done. Times are in nanoseconds.
type Driver struct {
	File string

	Reset   func() // forgets all settings and counts, but no live memory or handle
	Restart func() // makes cuInit necessary again
	Devices func(n int32)
	Speed   func(latency, jitter, bytesPerMicrosecond int64) // of copies
	Drains  func(on bool, perMB int64)                       // whether allocating memory waits for all streams, and blocks other calls
	Capture func(on bool)                                    // whether another thread captures a graph
	Fail    func(call string, n int64, code int32)           // makes the n-th call from now fail; 0 for none
	Poison  func(code int32, n int64)                        // makes the n-th copy or kernel that runs from now fail
	Live    func(account int32) int64
	Faults  func() int64 // mistakes that no correct caller makes
	// Failures counts the calls, copies and kernels that Fail and Poison made fail.
	Failures func() int64
	Captured func() int64                    // calls that would have broken the capture
	Uploads  func() int64                    // copies to the device that are complete
	Upload   func(i int64, entry *[3]uint64) // source, destination, bytes
	Calls    func(call string) int64
	Launches func() int64
	Pending  func() int64 // copies and kernels that are not complete

	Context    func(device int32) uintptr // makes a context, as another library would
	Primary    func(device int32) uintptr // the primary context, or 0 if it is not active
	EndContext func(context uintptr)
	Current    func() uintptr                               // the context of the calling thread
	Stream     func(context uintptr, blocking bool) uintptr // makes a stream, as another library would
	EndStream  func(stream uintptr)
	Drain      func(stream uintptr) // waits for the stream's work
	Hold       func(stream uintptr) // stops the stream until Release
	Release    func()
	Sum        func(stream, src uintptr, n uintptr, out *uint64, delay int64)

	lastFault func(text *byte, n int64)
}

//go:embed build driver
var sources embed.FS

// Build compiles the driver into a folder, together with the .cu files of kernels, and
// loads it. Without gcc the error wraps exec.ErrNotFound.
func Build(dir string, kernels ...string) (*Driver, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(dir, "fake"), sources); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	file := filepath.Join(dir, "libcuda.so.1")
	args := append([]string{filepath.Join(dir, "fake", "build"), file}, kernels...)
	if out, err := exec.Command("bash", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the fake driver: %w\n%s", err, out)
	}
	return Load(file)
}

// Load loads a fake driver that was built before; it may be loaded already. It is an
// error if the file is not a fake driver.
func Load(file string) (*Driver, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	d := &Driver{File: file}
	for name, f := range map[string]any{
		"reset": &d.Reset, "restart": &d.Restart, "devices": &d.Devices, "speed": &d.Speed,
		"drains": &d.Drains, "capture": &d.Capture, "fail": &d.Fail, "poison": &d.Poison, "live": &d.Live,
		"faults": &d.Faults, "failures": &d.Failures, "captured": &d.Captured, "uploads": &d.Uploads, "upload": &d.Upload,
		"calls": &d.Calls, "launches": &d.Launches, "pending": &d.Pending, "context": &d.Context, "primary": &d.Primary, "end_context": &d.EndContext,
		"current": &d.Current, "stream": &d.Stream, "end_stream": &d.EndStream, "drain": &d.Drain, "hold": &d.Hold,
		"release": &d.Release, "sum": &d.Sum, "last_fault": &d.lastFault,
	} {
		if _, err := purego.Dlsym(handle, "fake_"+name); err != nil {
			return nil, fmt.Errorf("%s is not a fake driver: %w", file, err)
		}
		purego.RegisterLibFunc(f, handle, "fake_"+name)
	}
	return d, nil
}

// Use resets the driver, and checks at the end of the test that the test has left no
// memory or handle, and that the driver saw no fault.
func (d *Driver) Use(t testing.TB) {
	t.Helper()
	d.Reset()
	var before [accounts]int64
	for i := range before {
		before[i] = d.Live(int32(i))
	}
	t.Cleanup(func() {
		d.Settle()
		for i, what := range names {
			if n := d.Live(int32(i)) - before[i]; n != 0 {
				t.Errorf("%d %s are left", n, what)
			}
		}
		if n := d.Faults(); n != 0 {
			t.Errorf("the driver saw %d faults, the last: %s", n, d.LastFault())
		}
		if n := d.Captured(); n != 0 {
			t.Errorf("%d calls would have broken the capture of a graph", n)
		}
	})
}

// Settle waits until all copies and kernels are complete.
func (d *Driver) Settle() {
	for d.Pending() > 0 {
		runtime.Gosched()
	}
}

// LastFault describes the last fault.
func (d *Driver) LastFault() string {
	text := make([]byte, 160)
	d.lastFault(&text[0], int64(len(text)))
	s, _, _ := strings.Cut(string(text), "\x00")
	return s
}
