package dataset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
)

// Every sample is made once, in the first epoch.
func ExampleCached() {
	made := 0
	slow := dataset.Func(3, dataset.Spec{{Name: "x", Dtype: dataset.Float64}},
		func(_ context.Context, i int, dst dataset.Slot) error {
			made++
			dataset.Set(dst, 0, float64(i)/2)
			return nil
		})
	fast, err := dataset.Cached(slow, 1<<30) // 1 GiB at most
	if err != nil {
		log.Fatal(err)
	}
	for range 10 { // epochs
		for i := range fast.Len() {
			if _, err := dataset.At(context.Background(), fast, i); err != nil {
				log.Fatal(err)
			}
		}
	}
	s := dataset.StatsOf(fast)
	fmt.Println(made, "made;", s.Hits, "hits,", s.Misses, "misses,", s.Samples, "kept")
	// Output: 3 made; 27 hits, 3 misses, 3 kept
}
