package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/sampler"
)

// options are those for n samples, which may be one rank's share, or of unknown number.
func options(t *testing.T, r *rand.Rand, n int, unknown bool) plan.Options {
	s := sampler.Shuffle(n, r.Uint64())
	length := n
	if unknown {
		s, length = sampler.Endless(), dataset.Unknown
	}
	o := plan.Options{Len: func() int { return length }, Size: 1 + r.IntN(5), DropLast: r.IntN(2) == 0}
	world := 1 + r.IntN(3)
	rank, mode := r.IntN(world), sampler.Mode(r.IntN(3))
	var err error
	if !unknown && r.IntN(3) == 0 {
		o.Batches, err = sampler.ShardBatches(sampler.Fixed(s, sampler.BatchSize(o.Size)), rank, world, mode)
	} else {
		o.Sampler, err = sampler.Shard(s, rank, world, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A walk takes batches of a cursor, and gives it what it needs some time later.
type walk struct {
	*plan.Cursor
	plans *plan.Planner
	r     *rand.Rand
	until int
	n     int // samples in the end
	known int
	due   []plan.Position
	fails func(error)
}

func (w *walk) next() (ref plan.Ref, ok bool) {
	for {
		if from, ok := w.Due(); ok {
			w.due = append(w.due, from)
		}
		if w.Ready() && w.r.IntN(4) > 0 {
			return w.Take(), true
		}
		if len(w.due) > 0 && w.r.IntN(2) == 0 {
			p, err := w.plans.Next(context.Background(), w.due[0], w.until)
			w.SetPlan(p, err)
			w.due = w.due[1:]
		}
		if need := w.Lacks(); need > 0 && w.r.IntN(2) == 0 {
			p := w.At().Plan
			if w.known = min(w.n, max(need, w.known)+w.r.IntN(5)); w.known < need {
				w.fails(p.EndAt(w.n))
			} else {
				p.Grow(w.known)
			}
		}
		if w.Err() != nil {
			w.fails(w.Err())
			return ref, false
		}
		if w.Over() {
			return ref, false
		}
	}
}

func text(ref plan.Ref) string {
	return fmt.Sprint(ref.Plan.Epoch, ref.Plan.Number(ref.K), ref.Plan.AppendSamples(ref.K, nil))
}

// TestWhatIsLeftAfterAPositionIsWhatWasNotDelivered for loops that are interrupted several times, with batches that are
// delivered in any order, and plans and samples that come at any time.
func TestWhatIsLeftAfterAPositionIsWhatWasNotDelivered(t *testing.T) {
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n, until := r.IntN(40), 1+r.IntN(3)
		plans := plan.New(options(t, r, n, r.IntN(3) == 0))
		begin := func(from plan.Position) *walk {
			return &walk{Cursor: plans.NewCursor(from, until), plans: plans, r: r, until: until, n: n, fails: func(err error) {
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}}
		}
		var all []string
		for w := begin(plans.Start(0)); ; {
			ref, ok := w.next()
			if !ok {
				break
			}
			all = append(all, text(ref))
		}
		var got []string
		from := plans.Start(0)
		for loops := 1 + r.IntN(4); loops > 0; loops-- { // the last one goes to the end
			w, ledger, stop := begin(from), plan.NewLedger(from), len(all)
			if loops > 1 {
				stop = min(stop, len(got)+r.IntN(10))
			}
			var begun []plan.Ref
			for len(got) < stop && (!w.Over() || len(begun) > 0) {
				if ref, ok := w.next(); ok {
					begun = append(begun, ref)
				}
				for len(begun) > 0 && (len(begun) > 4 || r.IntN(2) == 0 || w.Over()) && len(got) < stop {
					k := r.IntN(len(begun))
					b, next := begun[k], w.At()
					if begun = slices.Delete(begun, k, k+1); len(begun) > 0 {
						next = begun[0]
					}
					got = append(got, text(b))
					from = ledger.Deliver(b, next).Position()
				}
			}
			if err := plans.Check(from); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Fatalf("seed %d: with interruptions there are\n%q, want\n%q", seed, got, all)
		}
	}
}
