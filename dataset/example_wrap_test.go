package dataset_test

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

// titled is another dataset with titles for its samples.
type titled struct {
	dataset.Wrap
	titles []string
}

// Name is what differs. Spec, Len, Open and the rest are those of the other dataset.
func (t titled) Name(i int) string { return fmt.Sprintf("%s, %q", t.Wrap.Name(i), t.titles[i]) }

func ExampleWrap() {
	ds := titled{dataset.Wrap{Dataset: planned{squares{3}}}, []string{"nothing", "one", "four"}}
	fmt.Println(dataset.Name(ds, 2))
	stop := dataset.Foresee(ds, epoch{{2, 0}, {1}}) // as a loader does
	stop()
	// Output:
	// square of 2, "four"
	// batch 0 reads [2 0]
	// batch 1 reads [1]
	// stop
}
