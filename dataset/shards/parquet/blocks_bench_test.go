package parquet_test

import (
	"bytes"
	"fmt"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
)

// A stored row has a column for each way to store values.
type stored struct {
	Plain      int64    `parquet:"plain,plain"`
	Optional   *float32 `parquet:"optional,plain,optional"`
	Split      float32  `parquet:"split,split"`
	Delta      int64    `parquet:"delta,delta"`
	Dictionary string   `parquet:"dictionary,dict"`
	Packed     string   `parquet:"packed,dict,zstd"`
	Texts      string   `parquet:"texts,delta"`
	Bytes      []byte   `parquet:"bytes,plain"`
	List       []int32  `parquet:"list,dict,list"`
	Flag       bool     `parquet:"flag,plain"`
}

// BenchmarkBlock decodes a block of one column: 50,000 rows.
func BenchmarkBlock(b *testing.B) {
	const n = 50_000
	rows := make([]stored, n)
	for i := range rows {
		r := &rows[i]
		f, class := float32(i)/16, fmt.Sprint("class ", i*7919%100)
		*r = stored{
			Plain: int64(i * 7919), Optional: &f, Split: f, Delta: int64(i * i % 1001), Dictionary: class, Packed: class,
			Texts: fmt.Sprintf("photos/%08d.jpg", i*31), Bytes: make([]byte, i%200), List: []int32{int32(i % 50), 7, int32(i % 3)}, Flag: i%3 == 0,
		}
		if i%10 == 3 {
			r.Optional = nil
		}
	}
	var file bytes.Buffer
	w := pq.NewGenericWriter[stored](&file)
	if _, err := w.Write(rows); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	s := &memoryStore{objects: map[string][]byte{"a.parquet": file.Bytes()}}
	for _, c := range []struct {
		column string
		field  shards.Field
	}{
		{"plain", shards.Scalar[int64]("x", "plain")}, {"optional", shards.Scalar[float32]("x", "optional")}, {"split", shards.Scalar[float32]("x", "split")},
		{"delta", shards.Scalar[int64]("x", "delta")}, {"dictionary", shards.Bytes("x", "dictionary")}, {"packed", shards.Bytes("x", "packed")}, {"texts", shards.Bytes("x", "texts")},
		{"bytes", shards.Bytes("x", "bytes")}, {"list", shards.Ragged[int32]("x", nil, "list")}, {"flag", shards.Scalar[bool]("x", "flag")},
	} {
		index, err := shards.Scan(b.Context(), s, parquet.Format(parquet.Columns(c.column)), []string{"a.parquet"}, shards.BlockSize(1<<30))
		if err != nil {
			b.Fatal(err)
		}
		if len(index.Ends()) != 1 {
			b.Fatalf("%d blocks, want 1", len(index.Ends()))
		}
		ds, err := shards.Open(s, index, []shards.Field{c.field}, shards.MaxBytes(0))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.column, func(b *testing.B) {
			slot := newSlot(ds)
			for b.Loop() {
				s.take()
				r, err := ds.Open()
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Place(b.Context(), 0, slot); err != nil {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
