//go:build cuda

package cuda_test

import (
	"errors"
	"log"
	"os"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
	driver "github.com/penstock-go/penstock/gpu/internal/fake"
)

// fake controls the fake driver, if the program runs with it. A real driver cannot be
// controlled: tests that make calls fail then skip, and the others only check results.
var fake struct {
	*driver.Driver
	missing error
}

func TestMain(m *testing.M) {
	fake.Driver, fake.missing = driver.Load("libcuda.so.1") // the one that is loaded
	if err := kernels(); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// kernels registers those in PENSTOCK_PTX, a folder of PTX files.
func kernels() error {
	dir := os.Getenv("PENSTOCK_PTX")
	if dir == "" {
		return errors.New("PENSTOCK_PTX is not set: it names the folder of PTX files that the script kernels makes, or stubs -fake")
	}
	return cuda.AddKernels(os.DirFS(dir))
}

// needFake skips a test that makes calls fail if the driver is a real one.
func needFake(t testing.TB) {
	t.Helper()
	if fake.missing != nil {
		t.Skip(fake.missing)
	}
	needDevice(t)
}

// needDevice resets the fake driver, and checks after the test that nothing is left. With
// a real driver it does nothing: New reports what is wrong.
func needDevice(t testing.TB) {
	t.Helper()
	if fake.missing == nil {
		fake.Use(t)
	}
}

// uploads are the copies to the device since the driver was reset.
func uploads() (all [][3]uint64) {
	for i := range fake.Uploads() {
		var entry [3]uint64
		fake.Upload(i, &entry)
		all = append(all, entry)
	}
	return all
}

// closed closes c at the end of the test.
func closed(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// pinned is page-locked memory of a device.
func pinned(t testing.TB, d *gpu.Device) *gpu.Pinned {
	t.Helper()
	p, err := d.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, p)
	return p
}

// A recorder is page-locked memory that remembers its slabs.
type recorder struct {
	*gpu.Pinned
	slabs [][]byte
}

func (r *recorder) Alloc(n int) ([]byte, error) {
	slab, err := r.Pinned.Alloc(n)
	r.slabs = append(r.slabs, slab)
	return slab, err
}

// copies counts the uploads from a slab.
func (r *recorder) copies(uploads [][3]uint64) (n int) {
	for _, u := range uploads {
		for _, slab := range r.slabs {
			begin := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(slab))))
			if u[0] >= begin && u[0] < begin+uint64(len(slab)) {
				n++
			}
		}
	}
	return n
}
