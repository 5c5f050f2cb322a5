package dataset_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
)

// A passing Future is one of which more and more batches are begun.
type passing struct {
	datatest.Future
	begun atomic.Int64
}

func (p *passing) Begun() int { return int(p.begun.Load()) }

// localFiles are n files of so many bytes that are not in memory.
func localFiles(t *testing.T, n int, size int64) *datatest.OpenedFS {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system takes no advice")
	}
	dir := t.TempDir()
	for i := range n {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%02d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return &datatest.OpenedFS{FS: os.DirFS(dir)}
}

// whole are blocks of a file each.
func whole(n int) dataset.FileBlocks {
	return dataset.FileBlocks{Len: n, At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
		return append(dst, dataset.FilePart{Path: fmt.Sprintf("%02d", i), Len: -1})
	}}
}

// soon waits until every goroutine waits for time to pass, and returns the files that were
// opened.
func soon(fsys *datatest.OpenedFS) []string {
	time.Sleep(time.Second)
	synctest.Wait()
	return slices.Sorted(maps.Keys(fsys.Opens()))
}

func TestLocalFilesAreFetchedAsFarAsTheNextBatchAndSixteenMebibytes(t *testing.T) {
	for _, c := range []struct {
		size int64
		want []string // batches, as more of them are begun
	}{
		{4 << 20, []string{"[0 1]", "[2]", "[3 4]", "[]"}},
		{40 << 20, []string{"[0]", "[1]", "[2 3]", "[4]"}},
	} {
		fsys := localFiles(t, 12, c.size)
		synctest.Test(t, func(t *testing.T) {
			f := &passing{Future: datatest.Future{{-1, 2, 12, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}}
			stop := dataset.ForeseeFiles(fsys, f, whole(12))
			for k, begun := range []int64{0, 1, 3, 4} {
				f.begun.Store(begun)
				var got []int
				for _, name := range soon(fsys) { // of a batch all files, or the first one if others were in memory
					i, _ := strconv.Atoi(name)
					got = append(got, i/2-1)
				}
				if got := fmt.Sprint(slices.Compact(got)); got != c.want[k] {
					t.Errorf("files of %d MiB, %d batches begun: fetched the batches %s, want %s", c.size>>20, begun, got, c.want[k])
				}
			}
			stop()
		})
	}
}

func TestFilesInMemoryAreNotFetched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell what is in memory")
	}
	fsys := localFiles(t, 80, 1<<10)
	f := &passing{Future: make(datatest.Future, 4)} // of 20 files each
	for i := range 80 {
		if _, err := fs.ReadFile(fsys, fmt.Sprintf("%02d", i)); err != nil {
			t.Fatal(err)
		}
		f.Future[i/20] = append(f.Future[i/20], i)
	}
	fsys.Opens()
	synctest.Test(t, func(t *testing.T) {
		stop := dataset.ForeseeFiles(fsys, f, whole(80))
		got := soon(fsys)
		if n := len(got); n != 34 || got[31] != "31" || got[32] != "40" || got[33] != "60" {
			t.Errorf("opened %s, want the first 32 files, and the first one of each later batch", got)
		}
		stop()
	})
}

func TestABlockIsFetchedOnceIfTheDatasetKeepsIt(t *testing.T) {
	fsys := localFiles(t, 4, 1<<20)
	b := whole(4)
	b.Of = func(sample int) int { return sample / 3 }
	b.Once = true
	synctest.Test(t, func(t *testing.T) {
		stop := dataset.ForeseeFiles(fsys, &passing{Future: datatest.Future{{4, 3}, {0, 11, 5}, {2, 40, -1}}}, b)
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := fmt.Sprint(fsys.Opens()), "map[00:1 01:1 03:1]"; got != want {
			t.Errorf("opened %s, want %s", got, want)
		}
		stop()
	})
}

func TestFilesOfNoOperatingSystemAreOpenedOnceInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := &datatest.OpenedFS{FS: pets}
		ds := imageFolder(t, fsys)
		fsys.Opens() // by the scan
		stop := ds.Foresee(datatest.Future{{-1, 0, 1, 2}, {1, 2}})
		if got, want := fmt.Sprint(soon(fsys)), "["+ds.Name(0)+"]"; stop != nil && got != want {
			t.Errorf("opened %s, want %s, which shows of what kind they are", got, want)
		}
		if stop != nil {
			stop()
		}
	})
}

// broken panics when a file is opened.
type broken struct{ fs.FS }

func (broken) Open(string) (fs.File, error) { panic("no hinges") }

func TestAPanicOfAFileSystemInAdvanceIsThatOfStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := dataset.ForeseeFiles(broken{}, datatest.Future{{0}}, whole(1))
		if stop == nil {
			t.Skip("this system takes no advice")
		}
		synctest.Wait()
		defer func() {
			var p *dataset.PanicError
			if err, _ := recover().(error); !errors.As(err, &p) || p.Value != "no hinges" {
				t.Errorf("stop panics with %v, want that of Open", err)
			}
		}()
		stop()
	})
}
