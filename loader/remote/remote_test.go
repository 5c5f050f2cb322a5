package remote_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestBatchesAreThoseOfALocalLoader(t *testing.T) {
	for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
		url := newReplica(t, samples(43), nil, serve.Loader(plan...), serve.Loader(loader.Workers(loader.Auto)), serve.Mode(mode))
		for _, world := range []int{1, 3} {
			for rank := range world {
				for _, workers := range []int{0, 1, 5, loader.Auto} {
					far := open(t, []string{url}, remote.Rank(rank, world), remote.Loader(loader.Workers(workers)))
					near := local(t, samples(43), append(slices.Clone(plan), loader.Ranks(rank, world, mode))...)
					got, want := sums(t, far, far.Position(0), 3), sums(t, near, near.Position(0), 3)
					if !slices.Equal(got, want) {
						t.Errorf("rank %d of %d, %v, %d workers: got\n%s\nwant\n%s", rank, world, mode, workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					if n, err := far.Len(far.Position(1)); err != nil || n*3 != len(want) {
						t.Errorf("Len is %d, %v, want %d", n, err, len(want)/3)
					}
				}
			}
		}
	}
}

func TestBatchSamplersAndStepsAreServed(t *testing.T) {
	lengths := make([]int, 57)
	for i := range lengths {
		lengths[i] = i * i % 41
	}
	for name, options := range map[string][]loader.Option{
		"by length": {loader.BatchSampler(sampler.ByLength(lengths, 5, sampler.BatchSize(4))), loader.Seed(9)},
		"drop last": {loader.BatchSize(5), loader.DropLast(true), loader.Sampler(sampler.Torch(57, 3))},
		"collate": {loader.BatchSize(5), loader.Collate(dataset.BatchFunc(func(dst, _ dataset.Columns) error {
			dataset.Column[float32](dst, 2)[0] = dst.Rand().Float32()
			return nil
		}))},
	} {
		url := newReplica(t, samples(57), nil, serve.Loader(options...))
		far, near := open(t, []string{url}, remote.Rank(1, 2)), local(t, samples(57), append(options, loader.Ranks(1, 2, sampler.PadToEven))...)
		if got, want := sums(t, far, far.Position(0), 2), sums(t, near, near.Position(0), 2); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Four ranks stop in the middle of an epoch, and three go on, half of them with a local loader.
func TestARunGoesOnWithAnotherNumberOfRanks(t *testing.T) {
	const n = 203
	url := newReplica(t, samples(n), nil, serve.Loader(plan...), serve.Mode(sampler.KeepExact), serve.Batches(96))
	seen := map[int]int{}
	var at loader.Position
	for rank := range 4 {
		l := open(t, []string{url}, remote.Rank(rank, 4))
		for b, err := range l.Epoch(t.Context(), 2) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				seen[i]++
			}
			if at = b.Position(); b.Number() == 4 {
				break
			}
		}
	}
	if at.Draw != 80 {
		t.Fatalf("the position is %+v", at)
	}
	for rank := range 3 {
		far := open(t, []string{url}, remote.Rank(rank, 3))
		near := local(t, samples(n), append(slices.Clone(plan), loader.Ranks(rank, 3, sampler.KeepExact))...)
		if got, want := sums(t, far, at, 4), sums(t, near, at, 4); !slices.Equal(got, want) {
			t.Errorf("rank %d: got\n%s\nwant\n%s", rank, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for b, err := range far.From(t.Context(), at, 3) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range b.Indices() {
				seen[i]++
			}
		}
	}
	for i := range n {
		if seen[i] != 1 {
			t.Errorf("sample %d came %d times", i, seen[i])
		}
	}
}

func TestRanksPreferDifferentReplicas(t *testing.T) {
	var hits [4]atomic.Int64
	var replicas []string
	for k := range hits {
		replicas = append(replicas, newReplica(t, samples(100), func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Count(r.URL.Path, "/") == 5 {
				hits[k].Add(1)
			}
			return false
		}, serve.Loader(plan...), serve.Batches(200)))
	}
	used := 0
	for rank := range 16 { // ports, and with them the order of replicas, differ from run to run
		before := [4]int64{}
		for k := range hits {
			before[k] = hits[k].Load()
		}
		l := open(t, replicas, remote.Rank(rank, 16))
		sums(t, l, l.Position(0), 2)
		one := 0
		for k := range hits {
			if hits[k].Load() > before[k] {
				one++
			}
		}
		if one != 1 {
			t.Errorf("rank %d was read from %d replicas", rank, one)
		}
	}
	for k := range hits {
		if hits[k].Load() > 0 {
			used++
		}
	}
	if used < 2 {
		t.Errorf("sixteen ranks use %d replicas", used)
	}
}
