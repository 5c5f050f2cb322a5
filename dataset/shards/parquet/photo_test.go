package parquet_test

import (
	"os"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// A photo is a row as Hugging Face's datasets stores one, with another large column.
type photo struct {
	Image struct {
		Bytes []byte `parquet:"bytes,plain"`
		Path  string `parquet:"path"`
	} `parquet:"image"`
	Mask  []byte `parquet:"mask,plain"`
	Label int64  `parquet:"label"`
}

// writePhotos writes a file with row groups of about 8 MiB.
func writePhotos(t testing.TB, path string, photos []photo) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := pq.NewGenericWriter[photo](f, pq.DataPageStatistics(false))
	group := 0
	for _, p := range photos {
		n := len(p.Image.Bytes) + len(p.Mask)
		if group > 0 && group+n > 8<<20 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			group = 0
		}
		group += n
		if _, err := w.Write([]photo{p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
