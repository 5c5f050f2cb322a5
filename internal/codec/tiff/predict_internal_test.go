package tiff

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestSumsOfBytesStayBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for step := 1; step <= 6; step++ {
		row := make([]byte, 1000*step)
		for i := range row {
			row[i] = byte(r.Uint32())
		}
		want := bytes.Clone(row)
		for i := step; i < len(want); i++ {
			want[i] += want[i-step]
		}
		if sumBytes(row, step); !bytes.Equal(row, want) {
			t.Errorf("%d samples: other sums than byte by byte", step)
		}
	}
}
