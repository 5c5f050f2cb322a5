package loader_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
)

// A simulation is a load in simulated time. A sample first waits for its read and then
// keeps one of the processors busy, of which there are as many as Go uses.
type simulation struct {
	batch   int
	read    func(at time.Duration, i int) time.Duration // of sample i, at that time since the start
	compute time.Duration
	cached  bool          // whether reads compute, because the data is in memory
	stages  bool          // whether the dataset reports its stages
	body    float64       // samples per second of the loop body; 0 is no limit
	bytes   int           // of the second field, if any
	settles time.Duration // how long the settling phase is; 10 s if 0
}

// onTwoProcessors lets Go use two processors until the test ends, on any machine. Auto
// begins with a worker per processor, and a simulation computes on so many.
func onTwoProcessors(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func reads(d time.Duration) func(time.Duration, int) time.Duration {
	return func(time.Duration, int) time.Duration { return d }
}

func (s simulation) dataset() *fake {
	ds, _ := s.computing()
	return ds
}

// computing is the dataset, and the processor time that its samples have taken so far.
func (s simulation) computing() (ds *fake, used *atomic.Int64) {
	used = new(atomic.Int64)
	processors := make(chan bool, runtime.GOMAXPROCS(0))
	begun := time.Now()
	ds = &fake{n: 1 << 30}
	if s.bytes > 0 {
		ds.spec = dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "y", Dtype: dataset.Uint8, Shape: dataset.Shape{s.bytes}}}
	}
	ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
		if s.stages {
			dst.Stage(dataset.StageRead)
		}
		if s.read != nil {
			time.Sleep(s.read(time.Since(begun), i))
		}
		if s.stages && !s.cached {
			dst.Stage(dataset.StageDecode)
		}
		processors <- true
		time.Sleep(s.compute)
		used.Add(int64(s.compute))
		<-processors
		dataset.Set(dst, 0, int64(i))
		return nil
	}
	return ds, used
}

// A simulated loop.
type simulated struct {
	whole   float64 // samples per second
	settled float64 // the same after the settling phase
	usual   int     // workers that it had for most of the time after the settling phase
	stats   loader.Stats
	changes int      // of the number of workers by Auto
	log     []string // of what Auto did
	most    int64    // bytes of memory that the loader had while it placed a sample
}

// run loops until the time is over.
func (s simulation) run(t *testing.T, settled, until time.Duration, options ...loader.Option) (got simulated) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ds, used := s.computing()
		options = append(options, loader.BatchSize(s.batch), loader.ProcessTime(func() (time.Duration, bool) {
			return time.Duration(used.Load()), true
		}))
		var l *loader.Loader
		var most atomic.Int64
		if place := ds.place; s.bytes > 0 {
			ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
				if n := l.Stats().SlabBytes; n > most.Load() {
					most.Store(n)
				}
				return place(ctx, i, dst)
			}
		}
		l = loadertest.New(t, ds, options...)
		samples, before, since, last, looked := 0, 0, time.Duration(0), "", begun
		had := map[int]time.Duration{}
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(looked) > 100*ms { // because it takes long
				now := l.Stats()
				if time.Since(begun) > settled {
					had[now.Workers] += time.Since(looked)
				}
				looked = time.Now()
				if now.Tuning != last {
					last = now.Tuning
					got.log = append(got.log, fmt.Sprintf("%v: %v", time.Since(begun), now.Tuning))
				}
			}
			if s.body > 0 {
				time.Sleep(time.Duration(float64(b.Len()) / s.body * float64(time.Second)))
			}
			samples += b.Len()
			at := time.Since(begun)
			if at < settled {
				before, since = samples, at
			}
			if at >= until {
				break
			}
		}
		took := time.Since(begun)
		got.whole = float64(samples) / took.Seconds()
		got.settled = float64(samples-before) / (took - since).Seconds()
		got.stats, got.most = l.Stats(), most.Load()
		if got.stats.Tuning != "" {
			got.changes = loader.Changes(l)
		}
		for n, long := range had {
			if long > had[got.usual] {
				got.usual = n
			}
		}
	})
	return got
}

var autoLog = flag.Bool("autolog", false, "log what Auto does in simulations")

func (s simulated) tell(t *testing.T) {
	t.Helper()
	if t.Failed() || *autoLog {
		for _, line := range s.log {
			t.Log(line)
		}
	}
}

const us, ms = time.Microsecond, time.Millisecond

// simulations are the loads on which Auto is compared with fixed numbers of workers.
var simulations = map[string]simulation{
	"photos":                                 {batch: 32, read: reads(20 * us), compute: 500 * us, stages: true},
	"photos, no stages":                      {batch: 32, compute: 500 * us},
	"photos on a slow disk":                  {batch: 32, read: reads(300 * us), compute: 500 * us, stages: true},
	"preprocessed items":                     {batch: 64, compute: 100 * us, cached: true, stages: true},
	"CIFAR in memory":                        {batch: 64, compute: 10 * us},
	"files throttled to 80 ms":               {batch: 32, read: reads(80 * ms), compute: ms, stages: true, settles: 2 * time.Second},
	"files throttled to 80 ms, no stages":    {batch: 32, read: reads(80 * ms), compute: 2 * ms},
	"files throttled to 80 ms, batches of 1": {batch: 1, read: reads(80 * ms), compute: 2 * ms, stages: true, settles: 2 * time.Second},
	"photos, body of 200 samples/s":          {batch: 32, compute: 500 * us, body: 200},
	"photos, body of 1000 samples/s":         {batch: 32, compute: 500 * us, body: 1000},
	"photos, body of 5000 samples/s":         {batch: 32, compute: 500 * us, body: 5000},
	"throttled, body of 200 samples/s":       {batch: 32, read: reads(80 * ms), compute: ms, body: 200, stages: true},
	"throttled, body of 1000 samples/s":      {batch: 32, read: reads(80 * ms), compute: ms, body: 1000, stages: true, settles: 2 * time.Second},
	"throttled, body of 5000 samples/s":      {batch: 32, read: reads(80 * ms), compute: ms / 4, body: 5000, stages: true, settles: 2 * time.Second},
	"preprocessed, body of 5000 samples/s":   {batch: 32, compute: 100 * us, cached: true, body: 5000, stages: true},
	"volumes of half a second":               {batch: 1, read: reads(300 * ms), compute: 200 * ms, stages: true, settles: 30 * time.Second},
}

// TestAutoIsNearlyAsFastAsTheBestFixedNumberOfWorkers in simulated time: after a settling
// phase, and nearly so from the beginning.
func TestAutoIsNearlyAsFastAsTheBestFixedNumberOfWorkers(t *testing.T) {
	testenv.Slow(t)
	onTwoProcessors(t)
	for name, s := range simulations {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "throttled, body of 200 samples/s" {
				t.Skip("takes long with the race detector")
			}
			settles, until, most := cmp.Or(s.settles, 10*time.Second), time.Minute, 256
			if s.read == nil || s.read(0, 0) < ms { // many events
				until = 20 * time.Second
				most = 8
			}
			if s.compute < 50*us {
				settles, until, most = 3*time.Second, 4*time.Second, 4
			}
			best, with := 0.0, 0
			for _, w := range []int{1, 2, 4, 8, 32, 128, 256} {
				if w > most {
					break
				}
				got := s.run(t, until/6, until/2, loader.Workers(w)).settled
				if s.compute > 0 { // what was loaded before does not count
					got = min(got, float64(runtime.GOMAXPROCS(0))/s.compute.Seconds())
				}
				if got > 1.001*best {
					best, with = got, w
				}
			}
			got := s.run(t, settles, until, loader.Workers(loader.Auto), loader.Budget(1<<30))
			if got.settled < 0.95*best {
				t.Errorf("%.0f samples/s, want 95 %% of %.0f at least", got.settled, best)
			}
			if n := got.changes; n > 30 {
				t.Errorf("%d changes of the number of workers, want 30 at most", n)
			}
			t.Logf("%.3f of the %.0f samples/s with %d workers, %.3f with the settling phase; %d changes, %d workers",
				got.settled/best, best, with, got.whole/best, got.changes, got.stats.Workers)
			got.tell(t)
		})
	}
}

// TestAutoTakesFewWorkersForLargeItemsInMemory: their reads take long, and longer the more
// workers there are, but they compute.
func TestAutoTakesFewWorkersForLargeItemsInMemory(t *testing.T) {
	onTwoProcessors(t)
	s := simulation{batch: 32, compute: ms, cached: true, stages: true}
	got := s.run(t, 5*time.Second, 30*time.Second, loader.Workers(loader.Auto), loader.Budget(1<<30))
	if best := 2 / s.compute.Seconds(); got.settled < 0.95*best || got.usual > 4 || len(got.log) == 0 {
		t.Errorf("%.0f samples/s, usually with %d workers, want 95 %% of %.0f with 4 at most", got.settled, got.usual, best)
	}
	for _, line := range got.log {
		if strings.Contains(line, "waited for") {
			t.Errorf("reads that compute were taken for waiting: %s", line)
		}
	}
	got.tell(t)
}

// TestAutoFollowsAStorageThatBecomesSlowAndFastAgain gives it ten seconds after each
// change.
func TestAutoFollowsAStorageThatBecomesSlowAndFastAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	onTwoProcessors(t)
	phase := func(at time.Duration, _ int) time.Duration { // of the reads
		if at > 30*time.Second && at < 60*time.Second {
			return 80 * ms
		}
		return 4 * ms
	}
	s := simulation{batch: 32, read: phase, compute: ms, stages: true}
	processors := float64(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		from, to time.Duration
		most     int // workers at the end
	}{{10 * time.Second, 30 * time.Second, 50}, {40 * time.Second, 60 * time.Second, 256}, {70 * time.Second, 90 * time.Second, 50}} {
		best := min(processors/s.compute.Seconds(), 256/(phase(c.from, 0)+s.compute).Seconds())
		got := s.run(t, c.from, c.to, loader.Workers(loader.Auto), loader.Budget(1<<30))
		if got.settled < 0.95*best {
			t.Errorf("from %v to %v: %.0f samples/s, want 95 %% of %.0f at least", c.from, c.to, got.settled, best)
		}
		if n := got.stats.Workers; n > c.most {
			t.Errorf("%d workers after %v, want %d at most", n, c.to, c.most)
		}
		if got.tell(t); c.to == 90*time.Second && got.changes > 60 {
			t.Errorf("%d changes, want 60 at most", got.changes)
		}
	}
}

// TestAutoHasAsManyBatchesInFlightAsASlowSampleNeeds: every 400th sample takes 60 ms, in which the
// others fill many batches. With a fixed number of batches, 300 are as good as any.
func TestAutoHasAsManyBatchesInFlightAsASlowSampleNeeds(t *testing.T) {
	testenv.Slow(t)
	onTwoProcessors(t)
	s := simulation{batch: 8, compute: 100 * us, stages: true, read: func(_ time.Duration, i int) time.Duration {
		if i%400 == 399 {
			return 60 * ms
		}
		return 0
	}}
	best := s.run(t, 2*time.Second, 6*time.Second, loader.Workers(4), loader.InFlight(300)).settled
	got := s.run(t, 5*time.Second, 10*time.Second, loader.Workers(loader.Auto), loader.Budget(1<<30))
	if got.settled < 0.95*best || got.stats.Slabs > 300 {
		t.Errorf("%.3f of %.0f samples/s: %v", got.settled/best, best, got.stats.Tuning)
	}
	if v := got.stats.Verdict(); strings.Contains(v, "Budget") {
		t.Errorf("the verdict is %q, where the budget is not used up", v)
	}
	const slab = 8 * 8
	few := s.run(t, 2*time.Second, 6*time.Second, loader.Workers(loader.Auto), loader.Budget(6*slab))
	if v := few.stats.Verdict(); !strings.HasPrefix(v, "batches in flight are the limit") || !strings.HasSuffix(v, "Budget helps") {
		t.Errorf("with memory for 6 batches the verdict is %q", v)
	}
	got.tell(t)
}

// TestAutoHasNoMoreWorkersThanAnEpochHasSamples: reads of 30 ms, and a loop for every epoch, which
// is over before there is a second measurement. What it has is kept from loop to loop.
func TestAutoHasNoMoreWorkersThanAnEpochHasSamples(t *testing.T) {
	testenv.Slow(t)
	onTwoProcessors(t)
	for _, c := range []struct{ samples, least, most int }{{300, 70, 100}, {40, 32, 40}, {8, 2, 8}} {
		synctest.Test(t, func(t *testing.T) {
			s := simulation{read: reads(30 * ms), compute: ms, stages: true}
			ds, used := s.computing()
			ds.n = c.samples
			var opened atomic.Int64
			ds.open = func() error { opened.Add(1); return nil }
			l := loadertest.New(t, ds, loader.Workers(loader.Auto), loader.BatchSize(16), loader.Budget(64<<20),
				loader.ProcessTime(func() (time.Duration, bool) { return time.Duration(used.Load()), true }))
			had := map[int]bool{}
			for epoch := range 500 {
				for _, err := range l.Epoch(t.Context(), epoch) {
					if err != nil {
						t.Fatal(err)
					}
				}
				if epoch > 50 {
					had[l.Stats().Workers] = true
				}
			}
			n := l.Stats().Workers
			if len(had) != 1 || n < c.least || n > c.most || opened.Load() > int64(c.most) {
				t.Errorf("epochs of %d samples: numbers %v after 50 epochs, %d Readers, want one number from %d to %d", c.samples, had, opened.Load(), c.least, c.most)
			}
		})
	}
}

// TestAutoOpensFewReadersWhileOtherProgramsHaveTheProcessors: every sample reads for 2 ms and computes
// for one, for which it first waits 3 ms. Without that wait it would seem to read for five sixths of its time.
func TestAutoOpensFewReadersWhileOtherProgramsHaveTheProcessors(t *testing.T) {
	onTwoProcessors(t)
	for _, told := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var opened, placed atomic.Int64
			ds := simulation{stages: true, read: reads(5 * ms), compute: ms}.dataset()
			ds.open = func() error { opened.Add(1); return nil }
			place := ds.place
			ds.place = func(ctx context.Context, i int, dst dataset.Slot) error {
				defer placed.Add(1)
				return place(ctx, i, dst)
			}
			l := loadertest.New(t, ds, loader.Workers(loader.Auto), loader.BatchSize(16),
				loader.ProcessTime(func() (time.Duration, bool) { return time.Duration(placed.Load()) * ms, true }),
				loader.ProcessorWait(func() (time.Duration, bool) {
					if !told {
						return 0, false
					}
					return 3 * ms * time.Duration(placed.Load()), true
				}))
			forTime(t, l, 10*time.Second, nil)
			if got := opened.Load(); told != (got <= 5) {
				t.Errorf("%d Readers, with the wait told %v: %v", got, told, l.Stats())
			}
		})
	}
}

// TestAutoStaysWithinTheBudget looks whenever a sample is placed.
func TestAutoStaysWithinTheBudget(t *testing.T) {
	onTwoProcessors(t)
	for _, slabs := range []int{1, 2, 3, 7, 40} {
		if testing.Short() && slabs != 3 {
			continue // takes long with the race detector
		}
		s := simulation{batch: 8, read: reads(80 * ms), compute: ms, stages: true, bytes: 1016}
		slab := 8 * (8 + s.bytes)
		budget := slabs*slab + slab/2
		got := s.run(t, 0, 6*time.Second, loader.Workers(loader.Auto), loader.Budget(budget))
		if got.most > int64(budget) {
			t.Errorf("%d bytes, want %d at most", got.most, budget)
		}
		if want := int64(min(slabs, 6) * slab); got.most < want {
			t.Errorf("%d bytes, want %d of the budget of %d to be used", got.most, want, budget)
		}
		got.tell(t)
	}
}

// TestAutoStaysWithinTheBudgetWithRaggedFields of samples that differ in size.
func TestAutoStaysWithinTheBudgetWithRaggedFields(t *testing.T) {
	onTwoProcessors(t)
	synctest.Test(t, func(t *testing.T) {
		const budget = 400_000
		var l *loader.Loader
		var most atomic.Int64
		ds := &fake{n: 1 << 30, spec: dataset.Spec{{Name: "x", Dtype: dataset.Uint8, Ragged: true}}}
		ds.place = func(_ context.Context, i int, dst dataset.Slot) error {
			dst.Stage(dataset.StageRead)
			time.Sleep(20 * ms)
			dataset.Grow[uint8](dst, 0, 1000+i*7919%1000)
			most.Store(max(most.Load(), l.Stats().SlabBytes))
			return nil
		}
		l = loadertest.New(t, ds, loader.Workers(loader.Auto), loader.Budget(budget), loader.BatchSize(16))
		begun := time.Now()
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(begun) > 5*time.Second {
				break
			}
		}
		if got := most.Load(); got > budget || got < budget/2 {
			t.Errorf("%d bytes, want %d at most and not less than half of that", got, budget)
		}
		if s := l.Stats(); s.Workers < 16 {
			t.Errorf("%v", s)
		}
	})
}
