package loader_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// secret hides the identity of a sampler.
type secret struct{ of sampler.Sampler }

func (s secret) Epoch(epoch int) sampler.Order { return s.of.Epoch(epoch) }

// secretBatches hides the identity of a batch sampler.
type secretBatches struct{ of sampler.BatchSampler }

func (s secretBatches) Epoch(epoch int) sampler.Batches { return bare{s.of.Epoch(epoch)} }

type bare struct{ sampler.Batches }

func must[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}

// text is a position as JSON.
func text(t *testing.T, p loader.Position) string {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// middle is the position after the second batch of epoch 1, through JSON.
func middle(t *testing.T, l *loader.Loader) (p loader.Position) {
	t.Helper()
	for b, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Number() < 1 {
			continue
		}
		text, err := json.Marshal(b.Position())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		break
	}
	return p
}

// TestPositionBelongsToItsOrder takes a position in every order and resumes it in
// every other. That works only inside a group.
func TestPositionBelongsToItsOrder(t *testing.T) {
	const n = 24
	order := func(s sampler.Sampler, err error) []loader.Option {
		return []loader.Option{loader.Sampler(must(s, err)), loader.BatchSize(3)}
	}
	batches := func(s sampler.BatchSampler, err error) []loader.Option {
		return []loader.Option{loader.BatchSampler(must(s, err))}
	}
	weights, others := slices.Repeat([]float64{1, 2, 3}, n/3), slices.Repeat([]float64{3, 2, 1}, n/3)
	ends := []int{5, 12, 24}
	lengths := slices.Repeat([]int{5, 1, 9}, n/3)
	shuffle := sampler.Shuffle(n, 7)
	type begun struct {
		group    int
		loader   *loader.Loader
		position loader.Position
	}
	var all []begun
	for g, group := range [][][]loader.Option{
		{order(sampler.Sequential(n), nil), {loader.BatchSize(3)}},
		{
			order(shuffle, nil),
			{loader.Sampler(shuffle), loader.BatchSize(2)},
			order(sampler.Shard(shuffle, 1, 2, sampler.KeepExact)),
			batches(sampler.Fixed(shuffle, sampler.BatchSize(5)), nil),
			batches(sampler.ShardBatches(sampler.Fixed(shuffle, sampler.BatchSize(2)), 1, 2, sampler.DropToEven)),
		},
		{order(sampler.Shuffle(n, 8), nil)},
		{{loader.Shuffle(true), loader.BatchSize(3)}}, // of seed 0
		{order(sampler.Shuffle(n-1, 7), nil)},
		{order(sampler.Torch(n, 7), nil)},
		{order(sampler.Random(n, 7), nil)},
		{order(sampler.Weighted(weights, 7))},
		{order(sampler.Weighted(others, 7))},
		{order(sampler.WeightedWithoutReplacement(weights, 7))},
		{order(sampler.Grouped(ends, 7), nil)},
		{order(sampler.Grouped(ends, 7, sampler.Together(2)), nil)},
		{batches(sampler.ByLength(lengths, 7, sampler.BatchSize(3)), nil)},
		{batches(sampler.ByLength(lengths, 7, sampler.BatchSize(2)), nil)},
		{batches(sampler.List{{1, 2}, {3}, {4, 5}}, nil)},
		{order(secret{sampler.Shuffle(n, 11)}, nil), order(sampler.Shard(secret{sampler.Shuffle(n, 11)}, 0, 3, sampler.PadToEven)), batches(sampler.Fixed(secret{sampler.Shuffle(n, 11)}), nil)},
		{order(secret{sampler.Shuffle(n, 12)}, nil)},
		{batches(secretBatches{sampler.List{{1, 2}, {3}, {4, 5}}}, nil), batches(sampler.ShardBatches(secretBatches{sampler.List{{1, 2}, {3}, {4, 5}}}, 0, 1, sampler.KeepExact))},
		{batches(secretBatches{sampler.List{{1, 2}, {3}, {4, 6}}}, nil)},
	} {
		for _, options := range group {
			l := loadertest.New(t, &fake{n: n}, append(options, loader.Workers(1))...)
			all = append(all, begun{g, l, middle(t, l)})
		}
	}
	for _, before := range all {
		for _, after := range all {
			var err error
			for _, err = range after.loader.From(t.Context(), before.position, 2) {
				break
			}
			switch same := before.group == after.group; {
			case same && err != nil:
				t.Errorf("%v does not go on: %v", before.position, err)
			case !same && (err == nil || !strings.Contains(err.Error(), "the position was taken in the order "+before.position.Order+", this loader's is ")):
				t.Errorf("%v goes on in the order %s: %v", before.position, after.position.Order, err)
			}
			if _, leftErr := after.loader.Len(before.position); (leftErr == nil) != (err == nil) {
				t.Errorf("Left says %v, From %v", leftErr, err)
			}
		}
	}
}

func TestStartOfAnEpochInAnUnknownOrderFitsAnother(t *testing.T) {
	own := loadertest.New(t, &fake{n: 9}, loader.Workers(1), loader.Sampler(secret{sampler.Shuffle(9, 1)}))
	other := loadertest.New(t, &fake{n: 9}, loader.Workers(1), loader.Sampler(secret{sampler.Shuffle(9, 2)}))
	for _, err := range other.From(t.Context(), own.Position(3), 4) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestLenAndLeftCountBatches(t *testing.T) {
	l := loadertest.New(t, &fake{n: 20}, loader.Workers(2), loader.BatchSampler(pairs(20)))
	for epoch, want := range []int{6, 6, 6} {
		if got, err := l.Len(l.Position(epoch)); got != want || err != nil {
			t.Errorf("epoch %d: got %d batches, %v, want %d", epoch, got, err, want)
		}
	}
	for _, unordered := range []bool{false, true} {
		options := []loader.Option{loader.Workers(3), loader.BatchSize(3), loader.Unordered(unordered)}
		l, again := loadertest.New(t, &fake{n: 20}, options...), loadertest.New(t, &fake{n: 20}, options...)
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for range again.From(t.Context(), b.Position(), 1) {
				want++
			}
			if got, err := again.Len(b.Position()); got != want || err != nil {
				t.Errorf("after %v: %d batches are left, %v, want %d", b, got, err, want)
			}
		}
	}
	broken := loadertest.New(t, &fake{n: 8}, loader.Workers(1), loader.Sampler(ending{1, func() { panic("broken") }}))
	if n, err := broken.Len(broken.Position(1)); n != 0 || err == nil || !strings.Contains(err.Error(), "loader: epoch 1: panic: broken") {
		t.Errorf("got %d, %v", n, err)
	}
}
