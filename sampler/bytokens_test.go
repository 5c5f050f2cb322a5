package sampler_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestByTokensTakesEverySampleOnceWithinTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		limit := 1 + r.IntN(300)
		if r.IntN(10) == 0 {
			limit = 3_000_000 + r.IntN(3_000_000) // in units of several tokens
		}
		if r.IntN(20) == 0 {
			limit = math.MaxInt >> max(strconv.IntSize-51, 1) // 2⁵⁰-1 at most
		}
		lengths := make([]int, r.IntN(400))
		for i := range lengths {
			if lengths[i] = r.IntN(limit/(1+r.IntN(9)) + 1); r.IntN(20) == 0 {
				lengths[i] = limit - r.IntN(2)
			}
		}
		padded := r.IntN(2) == 0
		var options []sampler.TokenOption
		if padded {
			options = append(options, sampler.Padded())
		}
		s, err := sampler.ByTokens(lengths, limit, r.Uint64(), options...)
		if err != nil {
			t.Fatal(err)
		}
		batches := s.Epoch(r.IntN(3))
		seen := make([]int, len(lengths))
		for k := range batches.Len() {
			batch := batches.At(k, nil)
			sum, longest := 0, 0
			for _, i := range batch {
				seen[i]++
				sum, longest = sum+lengths[i], max(longest, lengths[i])
			}
			if padded {
				sum = longest * len(batch)
			}
			if len(batch) == 0 || sum < 0 || sum > limit {
				t.Fatalf("batch %d of %d has %d samples with %d tokens, the limit is %d", k, batches.Len(), len(batch), sum, limit)
			}
		}
		if i := slices.IndexFunc(seen, func(n int) bool { return n != 1 }); i >= 0 {
			t.Fatalf("sample %d is taken %d times", i, seen[i])
		}
	}
}

// texts are lengths like those of texts: many short ones and few long ones.
func texts(n, longest int) []int32 {
	r := rand.New(rand.NewPCG(3, 4))
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(min(1+r.ExpFloat64()*400, float64(longest)))
	}
	return lengths
}

// Ranks that take batches in turn have the same number of them, and nearly the same work at every step.
func TestByTokensGivesRanksTheSameWork(t *testing.T) {
	const limit, world = 16384, 8
	for name, lengths := range map[string][]int32{"tokens": texts(100_000, 8192), "squares": squares(texts(100_000, 1000))} {
		of := limit
		if name == "squares" {
			of = 1000 * 1000 * 16
		}
		all, err := sampler.ByTokens(lengths, of, 7)
		if err != nil {
			t.Fatal(err)
		}
		var ranks []sampler.Batches
		for rank := range world {
			s, err := sampler.ShardBatches(all, rank, world, sampler.PadToEven)
			if err != nil {
				t.Fatal(err)
			}
			ranks = append(ranks, s.Epoch(0))
		}
		n := ranks[0].Len()
		uneven := 0
		for k := range n {
			least, most := of, 0
			for rank := range ranks {
				if ranks[rank].Len() != n {
					t.Fatalf("%s: rank %d has %d batches, rank 0 %d", name, rank, ranks[rank].Len(), n)
				}
				sum := 0
				for _, i := range ranks[rank].At(k, nil) {
					sum += int(lengths[i])
				}
				least, most = min(least, sum), max(most, sum)
			}
			if 100*least < 99*most {
				uneven++
			}
		}
		if uneven > 2 {
			t.Errorf("%s: at %d of %d steps the work of ranks differs by more than 1 %%, want 2 at most, in the end", name, uneven, n)
		}
	}
}

func squares(lengths []int32) []int32 {
	for i, n := range lengths {
		lengths[i] = n * n
	}
	return lengths
}

// Spaces are told apart by two tokens here, and no batch wastes as many per sample.
func TestByTokensFillsBatchesOfManyShortSamples(t *testing.T) {
	const limit, n = 2 << 20, 1_000_000
	lengths := slices.Repeat([]int32{9, 11, 3}, n/3)
	s, err := sampler.ByTokens(lengths, limit, 7)
	if err != nil {
		t.Fatal(err)
	}
	batches := s.Epoch(0)
	for k := range batches.Len() - 1 {
		sum := 0
		for _, i := range batches.At(k, nil) {
			sum += int(lengths[i])
		}
		if 100*sum < 99*limit {
			t.Errorf("batch %d of %d has %d tokens, want %d", k, batches.Len(), sum, limit)
		}
	}
	if want := 4; batches.Len() != want {
		t.Errorf("%d batches, want %d", batches.Len(), want)
	}
}

func TestByTokensWithPaddingWastesLittle(t *testing.T) {
	lengths := texts(100_000, 8192)
	s, err := sampler.ByTokens(lengths, 16384, 7, sampler.Padded())
	if err != nil {
		t.Fatal(err)
	}
	tokens, padded := 0, 0
	batches := s.Epoch(0)
	for k := range batches.Len() {
		longest, n := 0, 0
		for _, i := range batches.At(k, nil) {
			tokens, longest, n = tokens+int(lengths[i]), max(longest, int(lengths[i])), n+1
		}
		padded += longest * n
	}
	if share := 1 - float64(tokens)/float64(padded); share > 0.04 {
		t.Errorf("%.1f %% is padding, want 4 at most", 100*share)
	}
}

func TestByTokensHasOtherBatchesInEveryEpochAndTheSameForASeed(t *testing.T) {
	lengths := texts(500, 1000)
	at := func(seed uint64, epoch int) []int {
		s, err := sampler.ByTokens(lengths, 2000, seed)
		if err != nil {
			t.Fatal(err)
		}
		return s.Epoch(epoch).At(0, nil)
	}
	if !slices.Equal(at(1, 0), at(1, 0)) || slices.Equal(at(1, 0), at(1, 1)) || slices.Equal(at(1, 0), at(2, 0)) {
		t.Error("batches do not depend on the seed and the epoch alone")
	}
}

func TestMistakesOfByTokens(t *testing.T) {
	for want, c := range map[string]struct {
		lengths []int
		limit   int
	}{
		"a limit of 0 tokens: want 1 to 2⁵⁰":  {[]int{1}, 0},
		"sample 1 has 9 tokens: want 0 to 8":  {[]int{8, 9}, 8},
		"sample 0 has -1 tokens: want 0 to 8": {[]int{-1, 9}, 8},
	} {
		_, err := sampler.ByTokens(c.lengths, c.limit, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "sampler: ByTokens: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
