//go:build cuda

package cuda_test

import (
	"fmt"
	"log"
	"os"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/gpu/cuda"
)

// fake is the driver of gpu/testdata/fake where the program runs with it. A real one
// has no such functions: tests that need them skip, others look at the results alone.
var fake struct {
	missing error

	Reset    func()
	Fail     func(call string, n int64, code int32)
	Live     func(account int32) int64
	Faults   func() int64
	Uploads  func() int64
	Upload   func(i int64, entry *[3]uint64) // source, destination, bytes
	Calls    func(call string) int64
	Launches func() int64
	Syncs    func() int64
}

func TestMain(m *testing.M) {
	fake.missing = findFake()
	if err := kernels(); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

func findFake() error {
	handle, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW) // the one that is loaded
	if err != nil {
		return err
	}
	for name, f := range map[string]any{
		"fake_reset": &fake.Reset, "fake_fail": &fake.Fail, "fake_live": &fake.Live, "fake_faults": &fake.Faults,
		"fake_uploads": &fake.Uploads, "fake_upload": &fake.Upload, "fake_calls": &fake.Calls,
		"fake_launches": &fake.Launches, "fake_syncs": &fake.Syncs,
	} {
		if _, err := purego.Dlsym(handle, name); err != nil {
			return fmt.Errorf("this is no fake driver: %w", err)
		}
		purego.RegisterLibFunc(f, handle, name)
	}
	return nil
}

// kernels registers those in PENSTOCK_PTX, a folder of PTX files, or, for the
// fake driver, their names.
func kernels() error {
	if dir := os.Getenv("PENSTOCK_PTX"); dir != "" {
		return cuda.AddKernels(os.DirFS(dir))
	}
	if fake.missing != nil {
		return fmt.Errorf("PENSTOCK_PTX is not set: it names the folder of PTX files that the script kernels makes (%w)", fake.missing)
	}
	return cuda.AddKernels(os.DirFS("testdata/fake/kernels"))
}

// accounts of fake.Live.
var accounts = []string{"page-locked bytes", "device bytes", "streams", "events", "contexts"}

// needFake is for tests that make calls fail.
func needFake(t testing.TB) {
	t.Helper()
	if fake.missing != nil {
		t.Skip(fake.missing)
	}
	needDevice(t)
}

// needDevice resets the fake driver, and afterwards sees that nothing is left that
// was not there before. On a real one it does nothing: New says what is wrong.
func needDevice(t testing.TB) {
	t.Helper()
	if fake.missing != nil {
		return
	}
	fake.Reset()
	before := make([]int64, len(accounts))
	for i := range before {
		before[i] = fake.Live(int32(i))
	}
	t.Cleanup(func() {
		for i, what := range accounts {
			if n := fake.Live(int32(i)) - before[i]; n != 0 {
				t.Errorf("%d %s are left", n, what)
			}
		}
		if n := fake.Faults(); n != 0 {
			t.Errorf("the driver saw %d faults", n)
		}
	})
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
