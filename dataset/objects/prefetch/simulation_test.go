package prefetch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/loader"
)

// A far store answers after a random time: lognormal, with a median of 30 ms. A share of
// the answers takes 20 times as long. Object i has the bytes of its own number.
type far struct {
	objects, size int
	slow          float64
	broken        map[string]int // failures that are left, by object

	mu       sync.Mutex
	r        *rand.Rand
	requests map[string]int // by object
	bytes    int64
	flying   int
	most     int      // requests at once
	order    []string // of the requests
}

func newFar(n, size int) *far {
	return &far{objects: n, size: size, r: rand.New(rand.NewPCG(1, 2)), requests: map[string]int{}}
}

func (s *far) Identity() string { return "far" }

func (s *far) object(i int) objects.Object {
	return objects.Object{Name: fmt.Sprintf("class/%06d.jpg", i), Size: int64(s.size), Version: "1"}
}

func (s *far) List(context.Context, string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for i := range s.objects {
			if !yield(s.object(i), nil) {
				return
			}
		}
	}
}

func (s *far) Stat(context.Context, string) (objects.Object, error) {
	return objects.Object{}, errors.ErrUnsupported
}

var errFar = errors.New("the far store has failed")

func (s *far) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	s.mu.Lock()
	s.requests[o.Name]++
	s.order = append(s.order, strings.TrimLeft(strings.Trim(o.Name, "clas/.jpg"), "0"))
	s.bytes += int64(len(p))
	s.flying++
	s.most = max(s.most, s.flying)
	fails := s.broken[o.Name] > 0
	if fails {
		s.broken[o.Name]--
	}
	d := 0.030 * math.Exp(0.3*s.r.NormFloat64())
	if s.r.Float64() < s.slow {
		d *= 20
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flying--
	}()
	timer := time.NewTimer(time.Duration(d * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if fails {
		return errFar
	}
	for k := range p {
		p[k] = byte(o.Name[len("class/")+k%6])
	}
	return nil
}

// asked is the order of the objects that were requested.
func (s *far) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.order, " ")
}

// total is the number of requests, and the most for one object.
func (s *far) total() (all, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.requests {
		all, most = all+n, max(most, n)
	}
	return all, most
}

// images is a folder of images over a store.
func images(t testing.TB, s objects.Store) dataset.Dataset {
	t.Helper()
	fsys, err := objects.NewFS(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	ds, err := dataset.ImageFolder(fs.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// costly is a dataset whose samples take a time to compute.
func costly(t testing.TB, ds dataset.Dataset, cost time.Duration) dataset.Dataset {
	t.Helper()
	ds, err := dataset.Map(ds, ds.Spec(), func(_, _ dataset.Slot) error {
		time.Sleep(cost)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// A loop is what a loop over a dataset has measured.
type loop struct {
	took  time.Duration
	waits []time.Duration // of all batches but the first
}

// run loops over epochs and compares the samples.
func run(t testing.TB, ds dataset.Dataset, epochs int, options ...loader.Option) (got loop) {
	t.Helper()
	begin := time.Now()
	trace := loader.Trace{BatchDelivered: func(_ loader.BatchInfo, waited time.Duration) { got.waits = append(got.waits, waited) }}
	l, err := loader.New(ds, append([]loader.Option{loader.Shuffle(true), loader.Observe(trace)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for b, err := range l.Epochs(t.Context(), 0, epochs) {
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Indices() {
			offsets := b.Offsets("image")
			image := loader.Values[uint8](b, "image")[offsets[row]:offsets[row+1]]
			if want := fmt.Sprintf("%06d", i); string(image[:6]) != want {
				t.Fatalf("sample %d holds %s", i, image[:6])
			}
		}
		n += b.Len()
	}
	if n != epochs*ds.Len() {
		t.Fatalf("%d samples", n)
	}
	got.took = time.Since(begin)
	got.waits = got.waits[1:]
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

func quantile(took []time.Duration, part float64) time.Duration {
	took = slices.Sorted(slices.Values(took))
	return took[min(int(part*float64(len(took))), len(took)-1)]
}
