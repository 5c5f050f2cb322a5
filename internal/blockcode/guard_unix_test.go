//go:build linux || darwin

package blockcode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/guard"
)

// TestKernelsStayWithinTheirMemory decodes valid and damaged codes. A guard page follows
// the blocks, the last places, the code with its slack, and the decoder's own memory.
func TestKernelsStayWithinTheirMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	accepted := 0
	for round := range 150 {
		want := noise(r, 1+r.IntN(40))
		if round%3 == 0 { // the values and escapes fill their memory
			for i := range want {
				for k := range want[i] {
					want[i][k] = 100
				}
			}
		}
		n := len(want)
		blocks, last := guard.AtEnd[Block](t, n), guard.AtEnd[uint8](t, n)
		for level := range Small + 1 {
			valid, err := e.Append(nil, level, want)
			if err != nil {
				t.Fatal(err)
			}
			memory := guard.AtEnd[byte](t, len(valid)+Slack)
			small := guard.AtEnd[byte](t, scratchSize(n))
			flat := guard.AtEnd[int8](t, 2*((63*n+1)/2)+flatSlack)
			for change := range 8 {
				code := memory[:copy(memory, valid)]
				for range change { // the first one is valid
					code[r.IntN(len(code))] = byte(r.Uint32())
				}
				if change == 7 {
					for i := range code[1:] {
						code[1+i] = byte(r.Uint32())
					}
				}
				for i := range memory[len(code):] {
					memory[len(code)+i] = byte(r.Uint32())
				}
				for _, k := range sets() {
					d := Decoder{kernels: k, small: small, flat: flat}
					err := d.Decode(blocks, last, level, code)
					if err == nil {
						accepted++
					}
					if change == 0 && (err != nil || !slices.Equal(blocks, want)) {
						t.Fatalf("level %d, kernels %d: a valid code gives other blocks, or error %v", level, k, err)
					}
				}
			}
		}
	}
	t.Log(accepted, "codes are accepted")
}
