package blockcode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/guard"
)

// TestKernelsStayWithinTheirMemory has pages that must not be touched before or after all that
// kernels read and write.
func TestKernelsStayWithinTheirMemory(t *testing.T) {
	guard.Kernels(t, map[string]func(*testing.T){
		"flatten64 flatten32 flatten16 expand64 expand32 expand16 readLanes": rowsAtPages,
	})
}

// rowsAtPages decodes valid and damaged codes with all kernels. The blocks, the last places, the code
// with its slack, and the decoder's own memory have exactly the size that they need.
func rowsAtPages(t *testing.T) {
	t.Helper()
	const most = 40
	r := rand.New(rand.NewPCG(1, 2))
	blockFence, lastFence := guard.New[Block](t, most), guard.New[uint8](t, most)
	codeFence, smallFence := guard.New[byte](t, 1<<14), guard.New[byte](t, scratchSize(most))
	flatFence := guard.New[int8](t, 2*(63*most+1)/2+flatSlack+1)
	var e Encoder
	accepted := 0
	for round := range 150 {
		want := noise(r, 1+r.IntN(most))
		if round%3 == 0 { // the values and escapes fill their memory
			for i := range want {
				for k := range want[i] {
					want[i][k] = 100
				}
			}
		}
		n, side := len(want), round%guard.Sides
		blocks, last, small := blockFence.At(side, n), lastFence.At(side, n), smallFence.At(side, scratchSize(n))
		for level := range Small + 1 {
			valid, err := e.Append(nil, level, want)
			if err != nil {
				t.Fatal(err)
			}
			memory := codeFence.At(side, len(valid)+Slack)
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
				var plain Decoder // tells how many values there are
				wrong := plain.Decode(make([]Block, n), make([]uint8, n), level, slices.Clip(code))
				for _, k := range sets() {
					d := Decoder{kernels: k, small: small, flat: flatFence.At(side, 2*len(plain.values)+flatSlack)}
					err := d.Decode(blocks, last, level, code)
					if (err == nil) != (wrong == nil) || change == 0 && (err != nil || !slices.Equal(blocks, want)) {
						t.Fatalf("level %d, kernels %d: other blocks than the code's, or error %v, want %v", level, k, err, wrong)
					}
					if err == nil {
						accepted++
					}
				}
			}
		}
	}
	if accepted < 400 {
		t.Errorf("%d codes are accepted, want more", accepted)
	}
}
