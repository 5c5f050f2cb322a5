package prng

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
)

func TestPermIsTorchRandperm(t *testing.T) {
	for _, c := range []struct {
		n    int
		seed uint64
		want []int
	}{
		{0, 1, []int{}},
		{1, 1, []int{0}},
		{10, 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
		{10, 0, []int{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}}, // the ranks of the distributed sampler's golden, interleaved
		{10, 1<<32 + 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
	} {
		if got := Perm(c.n, c.seed); !slices.Equal(got, c.want) {
			t.Errorf("Perm(%d, %d) = %v, want %v", c.n, c.seed, got, c.want)
		}
	}
}

// The values are those of torch.empty((), dtype=torch.int64).random_().
func TestSeedIsTorchRandom(t *testing.T) {
	g := New(1)
	for i, want := range []uint64{7692698082559361259, 4064269471072392264, 2109959069025161} {
		if got := g.Seed(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// The value is the one that the C++ standard demands of std::mt19937
// ([rand.predef]): the 10000th number of the default seed 5489.
func TestTwisterIsMT19937(t *testing.T) {
	var drawn, skipped twister
	drawn.seed(5489)
	for range 9999 {
		drawn.next()
	}
	if got := drawn.next(); got != 4123659995 {
		t.Errorf("10000th number is %d, want 4123659995", got)
	}
	skipped.seed(5489)
	for _, n := range []int{0, 1, 623, 624, 0, 625, 8126} {
		skipped.skip(1, uint64(n))
	}
	if got := skipped.next(); got != 4123659995 {
		t.Errorf("10000th number after skips is %d, want 4123659995", got)
	}
}

// The values come from the same algorithm in Python with numpy's MT19937. For the
// lengths for which torch uses it, that gave torch's permutations: see TestLargePerms.
func TestInsideOut(t *testing.T) {
	for _, c := range []struct {
		n    int
		seed uint64
		want []int
	}{
		{0, 1, []int{}},
		{1, 1, []int{0}},
		{10, 1, []int{8, 4, 2, 0, 7, 5, 3, 6, 9, 1}},
		{10, 7, []int{1, 8, 7, 3, 4, 5, 9, 6, 2, 0}},
		{20, 3, []int{13, 5, 17, 2, 10, 7, 6, 3, 4, 14, 11, 9, 12, 19, 18, 15, 16, 1, 0, 8}},
	} {
		if got := New(c.seed).insideOut(c.n); !slices.Equal(got, c.want) {
			t.Errorf("n %d, seed %d: got %v, want %v", c.n, c.seed, got, c.want)
		}
	}
}

var large = flag.Bool("large", false, "make permutations of 214,748,364 numbers: 2 GB, half a minute each")

// The values are those of torch 2.15.0: SHA-256 of the int64s in little-endian
// order, the first, middle and last numbers, and torch.randint(2**31, ()) then.
func TestLargePerms(t *testing.T) {
	if border != 214_748_364 {
		t.Errorf("the border is %d", border)
	}
	if !*large {
		t.Skip("needs -large")
	}
	for _, c := range []struct {
		n                   int
		seed                uint64
		sum                 string
		first, middle, last [3]int
		next                uint64
	}{
		{
			border - 1, 1, "b1e38d5f01492976b0bd195e4147e5fb01c3ee1d3bc25c7317767adfd683ec01",
			[3]int{73108941, 202657262, 87293072}, [3]int{165459214, 61010140, 202829604}, [3]int{91435668, 81668876, 153835339}, 692914582,
		}, {
			border, 1, "af62bf39d29e91000f69f7d9b84a8f5558df0452681ae133bcb5379faecafaac",
			[3]int{81757386, 14531738, 31696440}, [3]int{200865724, 171158385, 174837127}, [3]int{54849191, 129805825, 97769735}, 1878876512,
		}, {
			border, 7, "bc1a456324f5a859ee4e9c06495dd01950811344e384db27ab00e6c548d83938",
			[3]int{93268064, 63068233, 165770247}, [3]int{24387038, 113235377, 62387554}, [3]int{205120279, 143705087, 187216702}, 344207859,
		}, {
			border + 1, 1, "768fd8aeade65e955ca9e57f4a96ccb967b730b3f8267b70a219cbffa88ac2a0",
			[3]int{81757386, 14531738, 31696440}, [3]int{200865724, 171158385, 174837127}, [3]int{129805825, 97769735, 3668390}, 410029164,
		},
	} {
		g := New(c.seed)
		perm := g.Perm(c.n)
		for _, part := range []struct {
			name      string
			got, want []int
		}{
			{"begins with", perm[:3], c.first[:]},
			{"has in the middle", perm[c.n/2:][:3], c.middle[:]},
			{"ends with", perm[c.n-3:], c.last[:]},
		} {
			if !slices.Equal(part.got, part.want) {
				t.Errorf("n %d, seed %d: %s %v, want %v", c.n, c.seed, part.name, part.got, part.want)
			}
		}
		sum := sha256.New()
		buffer := make([]byte, 0, 8<<10)
		for chunk := range slices.Chunk(perm, 1<<10) {
			buffer = buffer[:0]
			for _, v := range chunk {
				buffer = binary.LittleEndian.AppendUint64(buffer, uint64(v))
			}
			sum.Write(buffer)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != c.sum {
			t.Errorf("n %d, seed %d: SHA-256 is %s, want %s", c.n, c.seed, got, c.sum)
		}
		if got := g.next64() & math.MaxInt32; got != c.next {
			t.Errorf("n %d, seed %d: after the permutation the generator gives %d, want %d", c.n, c.seed, got, c.next)
		}
	}
}

func TestSkippingLeavesTheGeneratorAsDrawingDoes(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 311, 312, 313, 5000} {
		drawn, skipped := New(3), New(3)
		for range n {
			drawn.Seed()
		}
		skipped.SkipSeeds(n)
		if got, want := skipped.Seed(), drawn.Seed(); got != want {
			t.Errorf("%d after %d skipped seeds, want %d", got, n, want)
		}
	}
}

// TestAJumpIsAsManyTwists compares with twists one by one.
func TestAJumpIsAsManyTwists(t *testing.T) {
	var twisted, jumped twister
	twisted.seed(7)
	begin, twists := twisted, uint64(0)
	for _, n := range []uint64{1, 2, 3, 31, 32, 1000, 4097, 20_011} {
		for ; twists < n; twists++ {
			twisted.twist()
		}
		jumped = begin
		if jumped.jump(0, n); jumped != twisted {
			t.Errorf("%d twists: another state", n)
		}
	}
}

// TestLongJumpsAddUp compares jumps that are too long for anything else with two halves of them,
// and with other factors.
func TestLongJumpsAddUp(t *testing.T) {
	for _, n := range []uint64{1 << 40, 1<<64 - 1, 12_345_678_901_234_567_890} {
		var once, twice, factors twister
		for _, g := range []*twister{&once, &twice, &factors} {
			g.seed(7)
		}
		once.skip(n, 30)
		twice.skip(n, 13)
		twice.skip(n, 17)
		factors.skip(2, n)
		factors.skip(28, n)
		if once != twice || once != factors {
			t.Errorf("%d·30 numbers: another state", n)
		}
	}
}

func TestAnyNumberIsSkippedInTime(t *testing.T) {
	hostile.Bounded(t, 0, 0, func() { New(1).SkipSeeds(math.MaxUint64) })
}

func TestPermIsAPermutation(t *testing.T) {
	got := Perm(100_000, 7)
	slices.Sort(got)
	for i, v := range got {
		if i != v {
			t.Fatalf("sorted, element %d is %d", i, v)
		}
	}
}

func BenchmarkPerm(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		Perm(n, 1)
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "indices/s")
}

func BenchmarkSkip(b *testing.B) {
	for _, n := range []uint64{far - 1, far, 1 << 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var t twister
			t.seed(1)
			for b.Loop() {
				t.skip(words, n)
			}
		})
	}
}
