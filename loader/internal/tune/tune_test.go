package tune_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader/internal/tune"
)

// A load is made: samples that wait for a read and then compute.
type load struct {
	processors    int
	read, compute time.Duration
	served        int           // reads at once that storage serves; 0 is any number
	body          float64       // samples per second; 0 is no limit
	others        time.Duration // processor time per second that other code of the program takes, and that samples do not need
	copies        bool          // whether reads compute too
	stages, timed bool
	noise         float64 // of the speed, as a share
	epoch         int     // samples; 0 is no limit
}

// speed is in samples per second.
func (l load) speed(workers int) float64 {
	sample := (l.read + l.compute).Seconds()
	speed := float64(workers) / sample
	if l.copies {
		speed = min(speed, float64(l.processors)/sample)
	}
	speed = min(speed, float64(l.processors)/l.compute.Seconds())
	if l.served > 0 {
		speed = min(speed, float64(l.served)/l.read.Seconds())
	}
	if l.body > 0 {
		speed = min(speed, l.body)
	}
	return speed
}

func (l load) best() (best float64) {
	for n := range tune.Most {
		best = max(best, l.speed(n+1))
	}
	return best
}

func (l load) limits() tune.Limits {
	most := tune.Most
	if l.epoch > 0 {
		most = min(most, l.epoch)
	}
	return tune.Limits{Processors: l.processors, Workers: most, Rows: 1}
}

// window is what happens in so much time, of which the samples that are begun are whole on average.
func (l load) window(workers int, took time.Duration, r *rand.Rand) tune.Window {
	speed := l.speed(workers) * (1 + l.noise*(2*r.Float64()-1))
	n := math.Floor(speed*took.Seconds() + r.Float64())
	w := tune.Window{Took: took, Samples: int(n), Batches: int(n), Waited: took, Timed: l.timed}
	if l.body > 0 {
		w.Waited = max(0, took-time.Duration(n/l.body*float64(time.Second)))
	}
	busy := min(time.Duration(workers)*took, time.Duration(n*float64(l.read+l.compute)))
	if l.served > 0 || l.body == 0 {
		busy = time.Duration(workers) * took // reads take longer, or samples wait for processors
	}
	w.Idle = time.Duration(workers)*took - busy
	computed := time.Duration(n * float64(l.compute))
	if l.copies {
		computed = time.Duration(n * float64(l.read+l.compute))
	}
	if l.timed {
		w.Used = min(computed+time.Duration(took.Seconds()*float64(l.others)), time.Duration(l.processors)*took)
	}
	if l.stages {
		w.Reads, w.Staged = int64(n), busy
		w.Reading = busy - time.Duration(n*float64(l.compute))
	}
	return w
}

// follow lets the load run for some time with what a tuner chooses, and returns what it
// loaded after the first five seconds, as a share of the best.
func (l load) follow(t *tune.Tuner, d time.Duration, r *rand.Rand) (share float64) {
	const took = 50 * time.Millisecond
	var w tune.Window
	var loaded, since time.Duration
	for at := time.Duration(0); at < d; at += took {
		w.Add(l.window(t.Workers, took, r))
		if at >= 5*time.Second {
			loaded += time.Duration(l.speed(t.Workers) / l.best() * float64(took))
			since += took
		}
		if t.Step(w, l.limits()) {
			w = tune.Window{}
		}
	}
	return float64(loaded) / float64(max(since, 1))
}

func chance(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// TestTheNumberFollowsFromHowMuchWorkersWait for random loads, with noise of up to a fifth.
func TestTheNumberFollowsFromHowMuchWorkersWait(t *testing.T) {
	for seed := range uint64(300) {
		r := chance(seed)
		l := load{processors: 1 + r.IntN(16), compute: time.Duration(math.Exp(r.Float64()*5) * 5e4), noise: []float64{0, 0.05, 0.2}[seed%3]}
		l.read = time.Duration(float64(l.compute) * math.Exp(r.Float64()*5-1))
		l.stages, l.timed = seed%2 == 0, seed%4 != 0
		if !l.stages {
			l.timed = true
		}
		if seed%5 == 0 {
			l.body = l.best() * r.Float64()
		}
		u := tune.New(l.processors)
		share := l.follow(u, time.Minute, r)
		if least := []float64{0.9, 0.9, 0.85}[seed%3]; share < least || u.Changes > 6 {
			t.Errorf("seed %d, %+v: %.3f of the best speed with %d workers, %d changes, want %.2f and 6: %s", seed, l, share, u.Workers, u.Changes, least, u.Reason)
		}
	}
}

func TestWorkersThatComputeStayOnePerProcessor(t *testing.T) {
	const ms = time.Millisecond
	for name, l := range map[string]load{
		"decoding":                         {read: ms / 50, compute: ms, stages: true, timed: true},
		"no stages":                        {compute: ms, timed: true},
		"no processor time":                {read: ms / 50, compute: ms, stages: true},
		"reads that copy":                  {read: 10 * ms, compute: ms / 10, copies: true, stages: true, timed: true},
		"nothing is known":                 {read: 80 * ms, compute: ms},
		"a loop body that computes beside": {read: ms / 50, compute: ms, stages: true, timed: true, others: 2 * time.Second},
	} {
		for seed := range uint64(20) {
			l.processors, l.noise = 2, 0.1
			u := tune.New(2)
			l.follow(u, time.Minute, chance(seed))
			if u.Workers != 2 || u.Changes > 2 {
				t.Errorf("%s, seed %d: %d workers after %d changes, want 2: %s", name, seed, u.Workers, u.Changes, u.Reason)
			}
		}
	}
}

// TestTheWaitForProcessorsCountsAsComputing, because other programs have them: two workers that
// compute for a millisecond wait for one of two processors three times as long, and read for two.
func TestTheWaitForProcessorsCountsAsComputing(t *testing.T) {
	const ms = time.Millisecond
	window := func(workers int, queued bool) tune.Window {
		n := min(workers*60/6, 40) // of 6 ms each
		w := tune.Window{Took: 300 * ms, Samples: 5 * n, Batches: 4, Waited: 300 * ms, Timed: true,
			Reads: int64(5 * n), Staged: time.Duration(workers) * 300 * ms, Reading: time.Duration(5*n) * 2 * ms, Used: time.Duration(5*n) * ms}
		if queued {
			w.Used += time.Duration(5*n) * 3 * ms
		}
		return w
	}
	for _, queued := range []bool{false, true} {
		u := tune.New(2)
		u.Step(window(2, queued), tune.Limits{Processors: 2, Workers: 256, Rows: 8})
		if got := u.Workers; queued && got > 5 || !queued && got < 10 {
			t.Errorf("%d workers, with the time of waiting known: %v", got, queued)
		}
	}
}

// TestThereAreNoMoreWorkersThanAnEpochHasSamples, and none are tried for ever where an epoch is
// over before there is a second measurement.
func TestThereAreNoMoreWorkersThanAnEpochHasSamples(t *testing.T) {
	const ms = time.Millisecond
	for _, epoch := range []int{1, 3, 50, 300} {
		l := load{processors: 2, read: 80 * ms, compute: ms / 4, timed: true, epoch: epoch}
		u := tune.New(2)
		most, r := 0, chance(1)
		for range 60 {
			l.follow(u, time.Second, r)
			most = max(most, u.Workers)
		}
		if want := max(2, min(epoch, tune.Most)); most != want {
			t.Errorf("up to %d workers for epochs of %d samples, want %d", most, epoch, want)
		}
	}
}

func TestWhatStorageDoesNotServeIsGivenBack(t *testing.T) {
	const ms = time.Millisecond
	for _, served := range []int{2, 3, 8, 20} {
		l := load{processors: 2, read: 40 * ms, compute: ms / 4, served: served, stages: true, timed: true}
		u := tune.New(2)
		share := l.follow(u, time.Minute, chance(2))
		if u.Workers > 2*served+1 || share < 0.99 {
			t.Errorf("%d workers load %.3f of what storage serves, %d reads at once: %s", u.Workers, share, served, u.Reason)
		}
	}
}

// TestAnotherLoadIsNoticed: storage becomes slow, and fast again.
func TestAnotherLoadIsNoticed(t *testing.T) {
	const ms = time.Millisecond
	near := load{processors: 2, read: 4 * ms, compute: ms, stages: true, timed: true}
	far := near
	far.read = 80 * ms
	u, r := tune.New(2), chance(3)
	for k, l := range []load{near, far, near, far} {
		if share := l.follow(u, time.Minute, r); share < 0.97 {
			t.Errorf("phase %d: %.3f of the best speed with %d workers: %s", k, share, u.Workers, u.Reason)
		}
	}
	if u.Changes > 12 {
		t.Errorf("%d changes", u.Changes)
	}
}

func TestALoadThatIsNeverTheSameDoesNotKeepItBusy(t *testing.T) {
	const ms = time.Millisecond
	near := load{processors: 4, read: 4 * ms, compute: ms, stages: true, timed: true}
	far := near
	far.read = 80 * ms
	u, r := tune.New(4), chance(4)
	for k := range 900 { // half an hour
		l := near
		if k%2 == 1 {
			l = far
		}
		l.follow(u, 2*time.Second, r)
	}
	if u.Changes > 300 {
		t.Errorf("%d changes in half an hour, want 300 at most", u.Changes)
	}
}

// TestTheNumberStaysWhileTheBodyIsTheLimit.
func TestTheNumberStaysWhileTheBodyIsTheLimit(t *testing.T) {
	tuner := tune.New(4)
	for range 100 {
		w := tune.Window{Took: time.Second, Samples: 1000, Batches: 10, Waited: time.Millisecond, Idle: 3 * time.Second, Used: time.Second, Timed: true}
		if !tuner.Step(w, tune.Limits{Processors: 4, Workers: 256, Rows: 100}) || tuner.Workers != 4 {
			t.Fatalf("%d workers: %s", tuner.Workers, tuner.Reason)
		}
	}
}

// TestAfterASlowBodyTheReasonIsThatOfTheNumber again.
func TestAfterASlowBodyTheReasonIsThatOfTheNumber(t *testing.T) {
	const ms = time.Millisecond
	far := load{processors: 2, read: 80 * ms, compute: 2 * ms, stages: true, timed: true}
	slow := far
	slow.body = 20
	u, r := tune.New(2), chance(8)
	far.follow(u, 20*time.Second, r)
	want := u.Choice
	slow.follow(u, 20*time.Second, r)
	if got := u.Reason; u.Workers != want.Workers || got != "the loop body is the limit" {
		t.Errorf("with a slow body: %d workers: %s", u.Workers, got)
	}
	if far.follow(u, 2*time.Second, r); u.Choice != want {
		t.Errorf("got %+v, want %+v", u.Choice, want)
	}
}

func TestReasonsReadAsSentences(t *testing.T) {
	const ms = time.Millisecond
	far := load{processors: 2, read: 80 * ms, compute: 2 * ms, stages: true, timed: true}
	few, slow := far, far
	few.served, slow.body = 4, 20
	var said []string
	for _, loads := range [][]load{{far, few}, {few}, {far, slow, far}, {{processors: 2, compute: ms, timed: true}}, {{processors: 2, compute: ms}},
		{{processors: 2, read: 10 * ms, compute: ms / 10, copies: true, stages: true, timed: true}}} {
		u, r := tune.New(2), chance(6)
		said = append(said, u.Reason)
		for _, l := range loads {
			var w tune.Window
			for range 1200 {
				if w.Add(l.window(u.Workers, 50*ms, r)); u.Step(w, l.limits()) {
					w = tune.Window{}
				}
				said = append(said, u.Reason)
			}
		}
	}
	slices.Sort(said)
	said = slices.Compact(said)
	for _, want := range []string{
		"a worker per processor to begin with", "32 workers waited for 98% of their time", "32 workers do not load more",
		"the loop body is the limit", "the load has changed", "workers compute rather than wait",
		"neither the system nor the dataset's stages tell whether workers wait",
	} {
		if !slices.Contains(said, want) {
			t.Errorf("%q was not said, only\n%s", want, strings.Join(said, "\n"))
		}
	}
}
