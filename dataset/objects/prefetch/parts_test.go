package prefetch_test

import (
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/loader"
)

// pairsOf is the objects from first on as images, with masks that are objects from mask on.
func pairsOf(t *testing.T, s *far, images, others fs.FS, first, mask, n int) dataset.Dataset {
	t.Helper()
	pairs := make([]masks.Pair, n)
	for k := range pairs {
		pairs[k] = masks.Pair{Image: s.object(first + k).Name, Mask: s.object(mask + k).Name}
	}
	ds, err := masks.Pairs(images, others, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// Concat, Zip and masks divide a loop's future, whose parts the store is told one by one.
func TestPartsOfALoopAreFetchedInTheOrderOfItsBatches(t *testing.T) {
	const n, cost, workers = 1200, 1200 * time.Microsecond, 2
	for _, c := range []struct {
		name    string
		objects int
		parts   func(t *testing.T, s *far, fsys func() fs.FS) []dataset.Dataset
	}{
		{"images and masks in one file system", 2 * n, func(t *testing.T, s *far, fsys func() fs.FS) []dataset.Dataset {
			both := fsys()
			return []dataset.Dataset{pairsOf(t, s, both, both, 0, n, n)}
		}},
		{"images and masks in two file systems", 2 * n, func(t *testing.T, s *far, fsys func() fs.FS) []dataset.Dataset {
			return []dataset.Dataset{pairsOf(t, s, fsys(), fsys(), 0, n, n)}
		}},
		{"four datasets", n, func(t *testing.T, s *far, fsys func() fs.FS) (parts []dataset.Dataset) {
			for k := range 4 {
				of := fsys()
				parts = append(parts, pairsOf(t, s, of, of, k*n/4, k*n/4, n/4))
			}
			return parts
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newFar(c.objects, 1000)
			p := newPrefetcher(t, s)
			ds, err := dataset.Concat(c.parts(t, s, func() fs.FS {
				fsys, err := objects.NewFS(t.Context(), p, "")
				if err != nil {
					t.Fatal(err)
				}
				return fsys
			})...)
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, costly(t, ds, cost), 2, loader.Workers(workers), loader.BatchSize(32))
			all, _ := s.total()
			if most := 2 * n * cost / workers * 100 / 90; got.took > most {
				t.Errorf("%s: two epochs took %v, want %v at most; %v", c.name, got.took, most, p.Stats())
			}
			if direct := int(p.Stats().Direct); all > 2*c.objects+direct || direct > 4 {
				t.Errorf("%s: %d requests, %d of them by readers, want %d and hardly one", c.name, all, direct, 2*c.objects)
			}
		})
	}
}
