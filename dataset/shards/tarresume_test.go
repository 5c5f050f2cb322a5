package shards_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
)

// TestInterruptedShardsAreContinued stops after any number of samples, and damages what a
// kill or a crash may damage.
func TestInterruptedShardsAreContinued(t *testing.T) {
	const n = 12
	options := []shards.TarOption{shards.MaxShardBytes(20 << 10), shards.Origin("photos")}
	ds := photosLike(n)
	whole := t.TempDir()
	if err := shards.WriteTar(t.Context(), whole+"/%d.tar", ds, photoColumns, options...); err != nil {
		t.Fatal(err)
	}
	want := folderBytes(t, whole)
	for stop := range n + 1 {
		for what, damage := range map[string]func(path string){
			"nothing else": func(string) {},
			"half a line":  func(path string) { shorten(t, path+".journal", 5) },
			"more in part": func(path string) { extend(t, path+".part", "not yet in the journal") },
			"less in part": func(path string) { shorten(t, path+".part", 100) },
			"a wrong byte in part": func(path string) {
				shorten(t, path+".part", 1)
				extend(t, path+".part", "!")
			},
			"no name yet": func(path string) { unname(t, path) },
			"a new journal that was not renamed": func(path string) {
				extend(t, path+".journal.new", "half")
			},
		} {
			dir := t.TempDir()
			path := dir + "/%d.tar"
			interrupted, cancel := context.WithCancel(t.Context())
			stopped := dataset.Func(n, ds.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
				if i == stop {
					cancel()
					return interrupted.Err()
				}
				r, err := ds.Open()
				if err != nil {
					return err
				}
				return r.Place(ctx, i, dst)
			})
			err := shards.WriteTar(interrupted, path, stopped, photoColumns, options...)
			cancel()
			if stop < n {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				damage(path)
			} else if err != nil {
				t.Fatal(err)
			} else {
				continue
			}
			if err := shards.WriteTar(t.Context(), path, ds, photoColumns, options...); err != nil {
				t.Fatalf("stopped at %d, %s: %v", stop, what, err)
			}
			if folderBytes(t, dir) != want {
				t.Errorf("stopped at %d, %s: other bytes than without", stop, what)
			}
		}
	}
}

func shorten(t *testing.T, name string, bytes int64) {
	t.Helper()
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, max(0, info.Size()-bytes))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unname takes the files back to where the last complete shard is in the journal, but still
// named .part.
func unname(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	kept := 1
	for kept < len(lines) && strings.Contains(lines[kept], " shard ") {
		kept++
	}
	if kept == 1 {
		return
	}
	name := strings.Replace(path, "%d", fmt.Sprint(kept-2), 1)
	err = errors.Join(os.Rename(name, path+".part"), os.WriteFile(path+".journal", []byte(strings.Join(lines[:kept], "")), 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// Samples of a shard that a journal only claims would be missing.
func TestAShardThatIsNotedAfterSamplesIsNotBelieved(t *testing.T) {
	ds := photosLike(4)
	first, err := dataset.Subset(ds, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/%d.tar"
	w, err := shards.CreateTar(t.Context(), path, ds.Spec(), photoColumns)
	if err != nil {
		t.Fatal(err)
	}
	l := loadertest.New(t, first, loader.BatchSize(2))
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err := errors.Join(err, w.AppendBatch(batch.Indices(), batch)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const note = "0 00000000 shard 3 100"
	extend(t, path+".journal", fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(note), crc32.MakeTable(crc32.Castagnoli)), note))
	if w, err = shards.CreateTar(t.Context(), path, ds.Spec(), photoColumns); err != nil {
		t.Fatal(err)
	}
	if w.Next() != 2 || w.Shards() != 0 {
		t.Errorf("next is %d after %d shards, want 2 after none", w.Next(), w.Shards())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOtherWorkIsNotContinued changes what the samples depend on.
func TestOtherWorkIsNotContinued(t *testing.T) {
	path := t.TempDir() + "/%d.tar"
	ds := photosLike(9)
	broken := dataset.Func(ds.Len(), ds.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
		r, err := ds.Open()
		if err == nil && i == 5 {
			err = errors.New("broken")
		}
		if err != nil {
			return err
		}
		return r.Place(ctx, i, dst)
	})
	if err := shards.WriteTar(t.Context(), path, broken, photoColumns); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"shard size": shards.WriteTar(t.Context(), path, ds, photoColumns, shards.MaxShardBytes(1)),
		"source":     shards.WriteTar(t.Context(), path, ds, photoColumns, shards.Origin("other")),
		"columns":    shards.WriteTar(t.Context(), path, ds, photoColumns[1:]),
	} {
		if err == nil || !strings.Contains(err.Error(), "with other fields, columns or options, or of another source") {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err != nil {
		t.Fatal(err)
	}
	if err := shards.WriteTar(t.Context(), path, ds, photoColumns); err == nil || !strings.Contains(err.Error(), "exists already, and there is no journal") {
		t.Errorf("shards that exist: %v", err)
	}
}

// killedFolder is the environment variable that makes TestKilledWritersAreContinued write.
const killedFolder = "PENSTOCK_SHARDS_WRITE"

// TestKilledWritersAreContinued kills a process that writes shards, again and again.
func TestKilledWritersAreContinued(t *testing.T) {
	slow := func(delay time.Duration) dataset.Dataset {
		ds := photosLike(400)
		return dataset.Func(ds.Len(), ds.Spec(), func(ctx context.Context, i int, dst dataset.Slot) error {
			time.Sleep(delay)
			r, err := ds.Open()
			if err != nil {
				return err
			}
			return r.Place(ctx, i, dst)
		})
	}
	write := func(dir string, delay time.Duration) error {
		ds := slow(delay)
		w, err := shards.CreateTar(t.Context(), dir+"/%d.tar", ds.Spec(), photoColumns, shards.MaxShardBytes(100<<10))
		if err != nil {
			return err
		}
		defer w.Close()
		l, err := loader.New(ds, loader.BatchSize(4), loader.Workers(1))
		if err != nil {
			return err
		}
		defer l.Close()
		from := l.Position(0)
		from.Draw = w.Next()
		for batch, err := range l.From(t.Context(), from, 1) {
			if err != nil {
				return err
			}
			if err := w.AppendBatch(batch.Indices(), batch); err != nil {
				return err
			}
		}
		return w.Finish()
	}
	if dir := os.Getenv(killedFolder); dir != "" {
		if err := write(dir, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		return
	}
	whole, killed := t.TempDir(), t.TempDir()
	if err := write(whole, 0); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWritersAreContinued$")
		c.Env = append(os.Environ(), killedFolder+"="+killed)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(20+random.IntN(60)) * time.Millisecond
		if kills == 12 { // the last one may finish
			delay = time.Hour
		}
		after := time.AfterFunc(delay, func() { c.Process.Kill() })
		err := c.Wait()
		failed := after.Stop() // it ended by itself
		if err == nil {
			break
		}
		if kills++; failed {
			t.Fatalf("after %d kills: %v\n%s", kills, err, &out)
		}
	}
	if kills == 0 {
		t.Error("no process was killed")
	}
	if folderBytes(t, killed) != folderBytes(t, whole) {
		t.Errorf("other bytes after %d kills", kills)
	}
}
