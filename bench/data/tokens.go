package data

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
)

// Tokens makes Megatron's files tokens.bin and tokens.idx of n documents, and returns their folder. The tokens are noise below the size
// of GPT-2's vocabulary. The lengths are as those of pages of text: the logarithm is normal, the median 602 and the mean about 1,100.
func Tokens(ctx context.Context, root string, n int) (dir string, err error) {
	return made(root, "tokens", n, 10_000_000, func(dir string) (err error) {
		w, err := tokens.Create(ctx, filepath.Join(dir, "tokens"), dataset.Uint16, "noise")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		r := rand.New(rand.NewPCG(1, 7))
		for done := 0; done < n; {
			documents := make([][]int32, min(1000, n-done))
			for i := range documents {
				documents[i] = make([]int32, int(min(max(math.Exp(6.4+1.1*r.NormFloat64()), 1), 100_000)))
				for j := range documents[i] {
					documents[i][j] = r.Int32N(50257)
				}
			}
			done += len(documents)
			if err := errors.Join(ctx.Err(), w.Append(done, documents...)); err != nil {
				return err
			}
		}
		return w.Finish()
	})
}
