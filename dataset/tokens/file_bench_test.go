package tokens_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/internal/datatest"
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
