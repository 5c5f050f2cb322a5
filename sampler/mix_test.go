package sampler_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/sampler"
)

// sequences are sources of the given lengths, in ascending order.
func sequences(lengths ...int) (sources []sampler.Source) {
	for _, n := range lengths {
		sources = append(sources, sampler.Source{Samples: n, Sampler: sampler.Sequential(n)})
	}
	return sources
}

func TestWeightsHaveTheOrderOfMegatron(t *testing.T) {
	text, err := os.ReadFile("testdata/blend.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string
		Weights []float64
		Draws   int
		Sha256  string
		First   []int
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 9 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		sources := sequences(slices.Repeat([]int{c.Draws}, len(c.Weights))...)
		order := must(sampler.Mix(sources, sampler.Stage{Weights: c.Weights, Draws: c.Draws})).Epoch(0)
		var first []int
		var datasets, samples []byte
		for k := range order.Len() {
			source, sample := order.At(k)/c.Draws, order.At(k)%c.Draws
			datasets = binary.LittleEndian.AppendUint16(datasets, uint16(source))
			samples = binary.LittleEndian.AppendUint64(samples, uint64(sample))
			if k < len(c.First) {
				first = append(first, source)
			}
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(append(datasets, samples...)))[:16]; got != c.Sha256 || !slices.Equal(first, c.First) {
			t.Errorf("%s: got %s, want %s: begins with %v, want %v", c.Name, got, c.Sha256, first, c.First)
		}
	}
}

// A mixing is a random mixture with small numbers.
type mixing struct {
	sources []sampler.Source
	lengths []int
	stages  []sampler.Stage
}

func randomMixing(r *rand.Rand) mixing {
	var m mixing
	for range 1 + r.IntN(5) {
		n := 1 + r.IntN(6)
		m.lengths = append(m.lengths, n)
		m.sources = append(m.sources, sampler.Source{Samples: n, Sampler: sampler.Shuffle(n, r.Uint64())})
	}
	stages := 1 + r.IntN(3)
	for i := range stages {
		var s sampler.Stage
		sure := r.IntN(len(m.sources)) // of a number above 0
		if weighted := r.IntN(3) == 0; weighted {
			s.Weights = make([]float64, len(m.sources))
			for k := range s.Weights {
				s.Weights[k] = float64(r.IntN(10)) * 0.1
			}
			s.Weights[sure] = 0.5
		} else {
			s.Proportions = make([]int, len(m.sources))
			for k := range s.Proportions {
				s.Proportions[k] = r.IntN(6)
			}
			s.Proportions[sure] = 1 + r.IntN(6)
		}
		if end := r.IntN(3); end == 0 || i < stages-1 {
			s.Draws = 1 + r.IntN(12)
		} else {
			s.AllExhausted = end == 1
		}
		m.stages = append(m.stages, s)
	}
	return m
}

func TestMixturesTakeEverySampleOncePerPass(t *testing.T) {
	cases := 100_000
	if testing.Short() || testenv.Race {
		cases = 5_000
	}
	r := rand.New(rand.NewPCG(3, 1))
	for checked, exhausted := 0, 0; checked < cases; {
		m := randomMixing(r)
		mixture, err := sampler.Mix(m.sources, m.stages...)
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "exhausted before: want Draws") && exhausted < cases/2:
			exhausted++
			continue
		default:
			t.Fatalf("%+v: %v", m, err)
		}
		m.check(t, mixture)
		checkRanks(t, r, mixture.Epoch(1))
		if t.Failed() {
			t.Fatalf("case %d: %+v", checked, m)
		}
		checked++
	}
}

// check draws two epochs one sample after the other, and counts.
func (m mixing) check(t *testing.T, mixture *sampler.Mixture) {
	drawn := make([]int, len(m.sources))
	for epoch := range 2 {
		order := mixture.Epoch(epoch)
		inEpoch := make([]int, len(m.sources))
		stage, inStage := 0, make([]int, len(m.sources))
		for k, n := 0, 0; k < order.Len(); k, n = k+1, n+1 {
			if d := m.stages[stage].Draws; d > 0 && d == n {
				stage, n, inStage = stage+1, 0, make([]int, len(m.sources))
			}
			if got := mixture.Drawn(epoch, k); !slices.Equal(got, drawn) {
				t.Errorf("before draw %d of epoch %d: Drawn is %v, want %v", k, epoch, got, drawn)
			}
			if m.over(stage, inEpoch) {
				t.Errorf("stage %d goes on after draw %d of epoch %d", stage, k, epoch)
			}
			source, sample := 0, order.At(k)
			for sample >= m.lengths[source] {
				sample -= m.lengths[source]
				source++
			}
			pass, place := drawn[source]/m.lengths[source], drawn[source]%m.lengths[source]
			if want := m.sources[source].Sampler.Epoch(pass).At(place); sample != want {
				t.Errorf("draw %d of epoch %d is sample %d of source %d, want %d", k, epoch, sample, source, want)
			}
			drawn[source]++
			inEpoch[source]++
			inStage[source]++
			m.checkShares(t, stage, n+1, inStage)
		}
		last := m.stages[len(m.stages)-1]
		if stage != len(m.stages)-1 || last.Draws == 0 && !m.over(stage, inEpoch) {
			t.Errorf("epoch %d ends in stage %d after %v", epoch, stage, inEpoch)
		}
	}
}

// over reports whether a stage without Draws has ended.
func (m mixing) over(stage int, inEpoch []int) bool {
	s := m.stages[stage]
	if s.Draws > 0 {
		return false
	}
	all := true
	for i, n := range m.lengths {
		if s.Proportions != nil && s.Proportions[i] == 0 || s.Weights != nil && s.Weights[i] == 0 {
			continue
		}
		if inEpoch[i] >= n && !s.AllExhausted {
			return true
		}
		all = all && inEpoch[i] >= n
	}
	return all
}

// checkShares compares what sources have given after n draws of a stage with their shares.
func (m mixing) checkShares(t *testing.T, stage, n int, got []int) {
	proportions := m.stages[stage].Proportions
	sum := 0
	for _, p := range proportions {
		sum += p
	}
	for i, p := range proportions {
		if d := got[i]*sum - n*p; d <= -sum || d >= sum {
			t.Errorf("stage %d: source %d has given %d samples of %d draws, want %d/%d of them", stage, i, got[i], n, p, sum)
		}
	}
	for i, w := range m.stages[stage].Weights {
		if w == 0 && got[i] > 0 {
			t.Errorf("stage %d: source %d has weight 0 and has given a sample", stage, i)
		}
	}
}

// checkRanks divides an order among ranks, and its rest among another number of them.
func checkRanks(t *testing.T, r *rand.Rand, order sampler.Order) {
	want, got := indices(order), []int(nil)
	first, second := 1+r.IntN(4), 1+r.IntN(4)
	steps := r.IntN(order.Len()/first + 2)
	from := 0
	for rank := range first {
		part := must(sampler.Shard(constant{order}, rank, first, sampler.KeepExact)).Epoch(0).(sampler.Part)
		got = append(got, indices(part)[:min(steps, part.Len())]...)
		from = part.Consumed(steps)
	}
	for rank := range second {
		part := must(sampler.Shard(constant{order}, rank, second, sampler.KeepExact)).Epoch(0).(sampler.Part)
		got = append(got, indices(part.From(from))...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d steps of %d ranks, then %d ranks: got %v, want %v", steps, first, second, got, want)
	}
}

// constant has the same order in all epochs.
type constant struct{ sampler.Order }

func (c constant) Epoch(int) sampler.Order { return c.Order }

// Hundreds of sources of very different proportions have their shares at every place, too.
func TestManySourcesHaveTheirShares(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 20 {
		m := mixing{stages: []sampler.Stage{{Draws: 3000}}}
		for range 2 + r.IntN(300) {
			m.lengths = append(m.lengths, 3000)
			m.stages[0].Proportions = append(m.stages[0].Proportions, 1+r.IntN(1<<r.IntN(12)))
		}
		order := must(sampler.Mix(sequences(m.lengths...), m.stages...)).Epoch(0)
		got := make([]int, len(m.lengths))
		for k := range order.Len() {
			got[order.At(k)/3000]++
			m.checkShares(t, 0, k+1, got)
		}
	}
}

func TestAThousandSourcesTakeLittleMemory(t *testing.T) {
	const sources, samples, draws, limit = 1000, 1_000_000, 100_000, 3 << 20
	proportions, weights := make([]int, sources), make([]float64, sources)
	for i := range sources {
		proportions[i] = 1 + i%10
		weights[i] = float64(proportions[i])
	}
	for name, s := range map[string]sampler.Stage{
		"Proportions": {Proportions: proportions},
		"Weights":     {Weights: weights, Draws: draws},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := make([]sampler.Source, sources)
		for i := range list {
			list[i] = sampler.Source{Samples: samples, Sampler: sampler.Shuffle(samples, uint64(i))}
		}
		m := must(sampler.Mix(list, s))
		for epoch := range 3 { // of all sources, two orders are kept
			order := m.Epoch(epoch * samples)
			for k := range draws {
				order.At(k)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(m)
		bytes := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("%s: %d sources take %.2f MB", name, sources, float64(bytes)/1e6)
		if bytes > limit {
			t.Errorf("%s: %d sources of %d samples take %d bytes, want %d at most", name, sources, samples, bytes, limit)
		}
	}
}

func TestMixedOrdersAllocateOncePerPass(t *testing.T) {
	order := must(sampler.Mix(sequences(1000, 1000), sampler.Stage{Proportions: []int{2, 1}})).Epoch(0)
	order.At(0)
	order.At(1)
	if n := testing.AllocsPerRun(100, func() { order.At(500); order.At(501); order.At(502) }); n != 0 {
		t.Errorf("%v allocations for three draws", n)
	}
}

// The samples of an epoch that no loop reaches are still samples.
func TestMixturesOfLateEpochsStayInRange(t *testing.T) {
	for _, s := range []sampler.Stage{
		{Proportions: []int{1, 2, 4}, Draws: math.MaxInt},
		{Proportions: []int{1, 2, 4}, Draws: math.MaxInt - 1},
		{Proportions: []int{3, 2, 4}, AllExhausted: true},
	} {
		m := must(sampler.Mix(sequences(5, 1<<20, 7), s))
		for _, epoch := range []int{1 << 30, math.MaxInt - 1, math.MaxInt} {
			order := m.Epoch(epoch)
			for k := range 50 {
				for _, i := range []int{order.At(k), order.At(order.Len() - 1 - k)} {
					if i < 0 || i >= 5+1<<20+7 {
						t.Errorf("%v: epoch %d has sample %d", s, epoch, i)
					}
				}
			}
		}
	}
}

// Zeros at the end must not change how the sum of the others is rounded.
func TestSourcesOfWeight0ChangeNoDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 300 {
		n := 2 + r.IntN(12)
		lengths, weights := slices.Repeat([]int{1000}, n), make([]float64, n)
		for i := range weights {
			weights[i] = float64(1+r.IntN(9)) * 0.1
		}
		old := must(sampler.Mix(sequences(lengths...), sampler.Stage{Weights: weights, Draws: 1000}))
		more := must(sampler.Mix(sequences(append(lengths, 7)...), sampler.Stage{Weights: append(slices.Clone(weights), 0), Draws: 1000}))
		if !slices.Equal(indices(old.Epoch(0)), indices(more.Epoch(0))) {
			t.Fatalf("the weights %v draw other samples if another source has the weight 0", weights)
		}
	}
}

// Stages without a new beginning: a mixture whose weights change begins as the old one.
func TestAChangedMixtureBeginsAsTheOldOne(t *testing.T) {
	old := must(sampler.Mix(sequences(50, 70), sampler.Stage{Weights: []float64{0.7, 0.3}, Draws: 100}))
	changed := must(sampler.Mix(sequences(50, 70, 10),
		sampler.Stage{Weights: []float64{0.7, 0.3, 0}, Draws: 40},
		sampler.Stage{Proportions: []int{1, 1, 2}, Draws: 60}))
	a, b := indices(old.Epoch(0)), indices(changed.Epoch(0))
	if !slices.Equal(a[:40], b[:40]) {
		t.Errorf("got %v, want %v", b[:40], a[:40])
	}
	if got, want := changed.Drawn(0, 40), append(old.Drawn(0, 40), 0); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := changed.Drawn(0, 100), []int{28 + 15, 12 + 15, 30}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if old.Identity() == changed.Identity() {
		t.Errorf("both have the identity %s", old.Identity())
	}
}

func TestIdentitiesOfMixturesDiffer(t *testing.T) {
	seen := map[string]int{}
	for i, m := range []*sampler.Mixture{
		must(sampler.Mix(sequences(5, 7), sampler.Stage{Proportions: []int{1, 2}, Draws: 9})),
		must(sampler.Mix(sequences(5, 8), sampler.Stage{Proportions: []int{1, 2}, Draws: 9})),
		must(sampler.Mix(sequences(5, 7), sampler.Stage{Proportions: []int{1, 3}, Draws: 9})),
		must(sampler.Mix(sequences(5, 7), sampler.Stage{Proportions: []int{1, 2}, Draws: 10})),
		must(sampler.Mix(sequences(5, 7), sampler.Stage{Weights: []float64{1, 2}, Draws: 9})),
		must(sampler.Mix(sequences(5, 7), sampler.Stage{Proportions: []int{1, 2}, Draws: 4}, sampler.Stage{Proportions: []int{1, 2}, Draws: 5})),
		must(sampler.Mix([]sampler.Source{{Samples: 6, Sampler: sampler.Sequential(5)}, sequences(7)[0]}, sampler.Stage{Proportions: []int{1, 2}, Draws: 9})),
	} {
		if j, is := seen[m.Identity()]; is {
			t.Errorf("mixtures %d and %d have the identity %s", i, j, m.Identity())
		}
		seen[m.Identity()] = i
	}
	m := must(sampler.Mix([]sampler.Source{{Samples: 4, Sampler: mute{}}}, sampler.Stage{Proportions: []int{1}}))
	if id := m.Identity(); id != "" {
		t.Errorf("got %q, want none", id)
	}
}

func TestMistakesInMixtures(t *testing.T) {
	two := sequences(5, 7)
	half := must(sampler.Shard(sampler.Sequential(5), 0, 2, sampler.PadToEven))
	for want, c := range map[string]struct {
		sources []sampler.Source
		stages  []sampler.Stage
	}{
		"0 sources: want 1 to 65536":   {nil, []sampler.Stage{{Proportions: []int{}}}},
		"no stages":                    {two, nil},
		"source 0: the sampler is nil": {make([]sampler.Source, 1), make([]sampler.Stage, 1)},
		"source 1: 0 samples, and a pass of 0: want 1 or more of each":                                    {sequences(1, 0), make([]sampler.Stage, 1)},
		"source 0: its order has no end":                                                                  {[]sampler.Source{{Samples: 5, Sampler: sampler.Endless()}}, make([]sampler.Stage, 1)},
		"source 0: its sampler has one rank's share: put the Shard around the mixture":                    {[]sampler.Source{{Samples: 5, Sampler: half}}, make([]sampler.Stage, 1)},
		"stage 0: want either Proportions or Weights":                                                     {two, []sampler.Stage{{Draws: 1}}},
		"stage 1: want either Proportions or Weights":                                                     {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: 3}, {Proportions: []int{1, 1}, Weights: []float64{1, 1}}}},
		"stage 0: 1 Proportions for 2 sources":                                                            {two, []sampler.Stage{{Proportions: []int{1}}}},
		"stage 0: 3 Weights for 2 sources":                                                                {two, []sampler.Stage{{Weights: []float64{1, 2, 3}}}},
		"stage 0: proportion 1 is -2: want 0 or more":                                                     {two, []sampler.Stage{{Proportions: []int{1, -2}}}},
		"stage 0: none of 2 proportions is positive":                                                      {two, []sampler.Stage{{Proportions: []int{0, 0}}}},
		"stage 0: weight 1 is NaN: want a finite number, 0 or more":                                       {two, []sampler.Stage{{Weights: []float64{1, math.NaN()}}}},
		"stage 0: none of 2 weights is positive":                                                          {two, []sampler.Stage{{Weights: []float64{0, 0}}}},
		"stage 0: the sum of the weights is infinite":                                                     {two, []sampler.Stage{{Weights: []float64{math.MaxFloat64, math.MaxFloat64}}}},
		"stage 0: Draws is -1: want 0 or more":                                                            {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: -1}}},
		"stage 0: Draws is 3 and AllExhausted is set: want one of them":                                   {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: 3, AllExhausted: true}}},
		"stage 1: source 0 is exhausted before: want Draws":                                               {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: 12}, {Proportions: []int{1, 1}}}},
		"stage 1: all sources are exhausted before: want Draws":                                           {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: 14}, {Weights: []float64{1, 1}, AllExhausted: true}}},
		fmt.Sprintf("stage 0: the stage takes %d draws or more: want Draws", math.MaxInt):                 {append(sequences(math.MaxInt-1), sequences(1)...), []sampler.Stage{{Proportions: []int{1, 2}, AllExhausted: true}}},
		"stage 0: the stage takes about 5e+20 draws, and Weights can have 1073741824: use Proportions":    {two, []sampler.Stage{{Weights: []float64{1e-20, 1}, AllExhausted: true}}},
		"stage 0: the proportions, divided by 1, their greatest common divisor, sum to more than 4194304": {two, []sampler.Stage{{Proportions: []int{1 << 22, 1}}}},
		fmt.Sprintf("stage 1: its 2 draws make more than %d per epoch", math.MaxInt):                      {two, []sampler.Stage{{Proportions: []int{1, 1}, Draws: math.MaxInt - 1}, {Proportions: []int{1, 1}, Draws: 2}}},
		fmt.Sprintf("source 1: with its %d samples there are more than %[1]d", math.MaxInt):               {append(sequences(1), sampler.Source{Samples: math.MaxInt, Sampler: sampler.Sequential(1)}), make([]sampler.Stage, 1)},
	} {
		if _, err := sampler.Mix(c.sources, c.stages...); err == nil || err.Error() != "sampler: Mix: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A sampler that breaks its promises must not give samples of another source.
func TestASourceKeepsToItsOwnSamples(t *testing.T) {
	for want, s := range map[string]sampler.Source{
		"sampler: Mix: source 0: its sampler drew sample 2 of 2 in epoch 0":    {Samples: 2, Sampler: sampler.Sequential(3)},
		"sampler: Mix: source 0: its epoch 1 has 1 samples, and epoch 0 has 2": {Samples: 2, Sampler: shrinking{}},
	} {
		order := must(sampler.Mix(append([]sampler.Source{s}, sequences(9)...), sampler.Stage{Proportions: []int{1, 0}, Draws: 6})).Epoch(0)
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			indices(order)
		}()
	}
}

type shrinking struct{}

func (shrinking) Epoch(epoch int) sampler.Order { return sampler.Sequential(max(1, 2-epoch)).Epoch(0) }
