package tokens_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/sampler"
)

// BenchmarkRows reads rows of 2,048 tokens, which are in the memory of the operating system, in a scattered order. The bytes are those of
// the field.
func BenchmarkRows(b *testing.B) {
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "x"), make([]byte, 64<<20), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		stored, dtype dataset.Dtype
	}{{"uint16 to int32", dataset.Uint16, dataset.Int32}, {"uint16 to int64", dataset.Uint16, dataset.Int64}, {"int32", dataset.Int32, dataset.Int32}} {
		b.Run(c.name, func(b *testing.B) {
			rows, err := open(b, os.DirFS(folder), "x", tokens.Raw(c.stored), tokens.As(c.dtype)).Rows(2048, 2048)
			if err != nil {
				b.Fatal(err)
			}
			r, slot := datatest.Open(b, rows), dataset.NewSlot(rows.Spec()...)
			b.SetBytes(int64(rows.Spec()[0].Bytes()))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := r.Place(b.Context(), i, slot); err != nil {
					b.Fatal(err)
				}
				i = (i + 7919) % rows.Len()
			}
		})
	}
}

// BenchmarkPack reads rows of 2,048 tokens of documents with lengths as those of texts, in a random order of both. The bytes are those of
// the fields. A copy of as many is what to compare it with.
func BenchmarkPack(b *testing.B) {
	const documents, length = 30_000, 2048
	folder, random := b.TempDir(), rand.New(rand.NewPCG(1, 2))
	lengths, offsets, sum := make([]int32, documents), make([]int64, documents), int64(0)
	for i := range lengths {
		lengths[i] = int32(min(max(math.Exp(6.4+1.1*random.NormFloat64()), 1), 1e5))
		offsets[i] = 2 * sum
		sum += int64(lengths[i])
	}
	for name, data := range map[string][]byte{"x.idx": megatronIndex(8, lengths, offsets, nil), "x.bin": make([]byte, 2*sum)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	four := tokens.Fields("input_ids", "labels", "position_ids", "loss_mask")
	for _, c := range []struct {
		name     string
		dtype    dataset.Dtype
		strategy tokens.Strategy
		options  []tokens.PackOption
	}{
		{"Wrap int32", dataset.Int32, tokens.Wrap, []tokens.PackOption{tokens.Order(sampler.Shuffle(documents, 1))}},
		{"Megatron int64", dataset.Int64, tokens.Wrap, []tokens.PackOption{tokens.Megatron(10_000, 1234), four}},
		{"BestFit int32", dataset.Int32, tokens.BestFit, nil},
	} {
		f := open(b, os.DirFS(folder), "x.idx", tokens.As(c.dtype))
		rows, err := tokens.Pack(f, lengths, length, c.strategy, c.options...)
		if err != nil {
			b.Fatal(err)
		}
		bytes := 0
		for _, f := range rows.Spec() {
			bytes += f.Bytes()
		}
		b.Run(c.name, func(b *testing.B) {
			r, slot := datatest.Open(b, rows), dataset.NewSlot(rows.Spec()...)
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := r.Place(b.Context(), i, slot); err != nil {
					b.Fatal(err)
				}
				i = (i + 7919) % rows.Len()
			}
		})
		b.Run("copy for "+c.name, func(b *testing.B) {
			from, to := make([]byte, bytes), make([]byte, bytes)
			b.SetBytes(int64(bytes))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}

// BenchmarkIndex opens the index of ten million documents, and reads all lengths.
func BenchmarkIndex(b *testing.B) {
	const n = 10_000_000
	folder := b.TempDir()
	lengths, offsets := make([]int32, n), make([]int64, n)
	for i := range lengths {
		lengths[i], offsets[i] = 1, int64(2*i)
	}
	for name, data := range map[string][]byte{"x.idx": megatronIndex(8, lengths, offsets, nil), "x.bin": make([]byte, 2*n)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("Open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			open(b, os.DirFS(folder), "x.idx")
		}
	})
	b.Run("Lengths", func(b *testing.B) {
		f := open(b, os.DirFS(folder), "x.idx")
		for b.Loop() {
			if got, err := f.Lengths(b.Context()); err != nil || len(got) != n {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/document")
	})
}
