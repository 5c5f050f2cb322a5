package volume_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

func TestVolumesAreDecodedOnce(t *testing.T) {
	fsys := &datatest.OpenedFS{FS: patients(3)}
	cohort := cohortOf(t, fsys)
	fsys.Opens() // of the headers
	_, err := cohort.Load(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	once := fsys.Opens()["p0/ct.nrrd"]
	if once < 1 {
		t.Fatal("Load opened nothing")
	}
	ds := cut(t)(cohort.Slices(t.Context()))
	var group sync.WaitGroup
	for range 9 {
		r, slot := opened(t, ds)
		group.Go(func() {
			for i := range ds.Len() {
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	opens := fsys.Opens()
	for p, want := range []int{0, once, once} { // the first patient has been loaded
		name := fmt.Sprintf("p%d/ct.nrrd", p)
		if got := opens[name]; got != want {
			t.Errorf("%s was opened %d times for its values, want %d", name, got, want)
		}
	}
	got := cohort.Stats()
	want := dataset.CacheStats{Hits: 9*12 - 2, Misses: 3, Samples: 3, Bytes: 3 * 120 * 3, Limit: 2 << 30}
	if got, line := want.String(), "3 samples in 1.1 KiB, limit 2 GiB, 106 hits, 3 misses"; got != line {
		t.Errorf("stats print as %s, want %s", got, line)
	}
	if got != want || cohort.Bytes() != got.Bytes {
		t.Errorf("got %#v, want %#v; the cohort has %d bytes", got, want, cohort.Bytes())
	}
}

func TestCanceledPlaceReturns(t *testing.T) {
	ds := cut(t)(cohortOf(t, patients(1)).Whole())
	r, slot := opened(t, ds)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Place(ctx, 0, slot); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCorruptVolumeNamesPatientAndFile(t *testing.T) {
	fsys := patients(2)
	file := fsys["p1/ct.nrrd"]
	file.Data = file.Data[:len(file.Data)-7]
	ds := cut(t)(cohortOf(t, fsys).Slices(t.Context()))
	l, err := loader.New(ds, loader.Workers(3), loader.BatchSize(8))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err = range l.Epoch(t.Context(), 0) {
		if err != nil {
			break
		}
	}
	for _, part := range []string{"p1, axial slice 0", "volume: patient p1, ct (p1/ct.nrrd)"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
		}
	}
}

// halting cancels its context with the third read and counts what follows.
type halting struct {
	fs.FS
	cancel context.CancelFunc
	reads  int
}

func (h *halting) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if err != nil || name == "." {
		return f, err
	}
	return haltingFile{f, h}, nil
}

type haltingFile struct {
	fs.File
	*halting
}

func (f haltingFile) Read(p []byte) (int, error) {
	if f.reads++; f.reads == 3 {
		f.cancel()
	}
	return f.File.Read(p[:min(len(p), 1000)])
}

func (f haltingFile) Open(string) (fs.File, error) { panic("not used") }

func TestDecodingEndsSoonAfterItIsCanceled(t *testing.T) {
	for _, options := range [][]bool{nil, {true}} {
		fsys := &halting{FS: fstest.MapFS{"p.nrrd": nrrdFile(scanOf(0, 20, 50, 50), options...)}, cancel: func() {}}
		s, err := volume.Open(fsys, volume.Scan("ct", "{patient}.nrrd"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		fsys.cancel, fsys.reads = cancel, 0
		if _, err := s.Load(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if fsys.reads != 3 {
			t.Errorf("%d reads, cancelled at the third", fsys.reads)
		}
	}
}
