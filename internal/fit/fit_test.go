package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestASetFindsTheNextNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 63, 64, 65, 4096, 4097, 300_000} {
		s, in := newSet(n), map[int]bool{}
		for range 500 {
			i := r.IntN(n)
			if s.has(i) != in[i] {
				t.Fatalf("has(%d) of %d: %v", i, n, s.has(i))
			}
			if in[i] = !in[i]; in[i] {
				s.add(i)
			} else {
				s.remove(i)
			}
			from := r.IntN(n + 1)
			want, there := n, false
			for j, ok := range in {
				if ok && j >= from && j < want {
					want, there = j, true
				}
			}
			if got, ok := s.next(from); ok != there || ok && got != want {
				t.Fatalf("next(%d) of %d: %d, %v, want %d, %v", from, n, got, ok, want, there)
			}
		}
	}
}

func TestTheLeastSpaceThatSufficesIsTaken(t *testing.T) {
	r := NewRows(10)
	for range 2 {
		var got []int
		for _, n := range []int{7, 6, 5, 4, 3, 3, 2, 10, 1, 1} {
			row, space := r.Take(n)
			r.Give(row, space-n)
			got = append(got, row)
		}
		// 7|3, 6|4: 4 fills it, 5: 5 left, 3 fills the first, 3: of 5, 2 are left, and so on
		if want := []int{0, 1, 2, 1, 0, 2, 2, 3, 4, 4}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		r.Reset()
	}
}
