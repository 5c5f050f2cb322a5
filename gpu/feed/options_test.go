package feed_test

import (
	"context"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu/feed"
	"github.com/penstock-go/penstock/loader"
)

func TestFieldsThatDoNotFitAreErrors(t *testing.T) {
	for field, says := range map[string]string{
		"label":  `field "label": Node's expected shape is (4, 3). Got (4) instead`,
		"absent": `field "absent": the batch has no such field`,
	} {
		m := newModel(t)
		f := newFeed(t, m.vm, feed.Bind(field, m.x), feed.Pad(m.mask))
		n := 0
		for _, err := range f.Run(newLoader(t, rows).Epoch(t.Context(), 0)) {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want %s", err, says)
			}
			n++
		}
		if n != 1 {
			t.Errorf("the body ran %d times", n)
		}
	}
}

// TestRaggedFieldsAreErrorsThoughTheirElementsWouldFit: four samples have four
// elements in all, but not one each.
func TestRaggedFieldsAreErrorsThoughTheirElementsWouldFit(t *testing.T) {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Float64, Ragged: true}}
	ds := dataset.Func(rows, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		clear(dataset.Grow[float64](dst, 0, 2*(i%2)))
		return nil
	})
	l, err := loader.New(ds, loader.Workers(0), loader.BatchSize(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x := gorgonia.NewVector(gorgonia.NewGraph(), tensor.Float64, gorgonia.WithShape(rows), gorgonia.WithName("x"))
	f := newFeed(t, gorgonia.NewTapeMachine(x.Graph()), feed.Bind("x", x))
	n := 0
	for _, err := range f.Run(l.Epoch(t.Context(), 0)) {
		if n++; err == nil || !strings.Contains(err.Error(), `field "x": the field is ragged`) {
			t.Errorf("got %v, want an error", err)
		}
	}
	if n != 1 {
		t.Errorf("the body ran %d times", n)
	}
}

func TestWrongOptionsAreReportedTogether(t *testing.T) {
	m, other := newModel(t), newModel(t)
	flat := gorgonia.NewVector(m.x.Graph(), tensor.Float64, gorgonia.WithShape(rows+1), gorgonia.WithName("flat"))
	_, err := feed.New(nil,
		feed.Bind("x", m.x), feed.Bind("x", other.x), feed.Bind("y", m.x), feed.Bind("z", flat),
		feed.Bind("s", m.sum), feed.Bind("n", nil), feed.Pad(flat))
	if err == nil {
		t.Fatal("no error")
	}
	for _, says := range []string{
		"the VM is nil", `Bind("x"): the field is bound twice`, `Bind("y"): the node is bound to "x" already`,
		`Bind("z"): the node has shape (5): want 4 rows`, `Bind("s"): node`, `Bind("n"): the node is nil`,
		"Pad: the mask is float64 of shape (5)",
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v\ndoes not say %s", err, says)
		}
	}
	if _, err := feed.New(m.vm, feed.Bind("n", nil), feed.Bind("x", m.x), feed.Pad(m.mask)); err == nil || err.Error() != `feed: Bind("n"): the node is nil` {
		t.Errorf("got %v, want nothing that is wrong about the mask", err)
	}
	for says, options := range map[string][]feed.Option{
		"want at least one Bind": nil, "another graph": {feed.Bind("x", m.x), feed.Bind("y", other.x)},
		"the mask is nil":                 {feed.Bind("x", m.x), feed.Pad(nil)},
		"the mask belongs to another":     {feed.Bind("x", m.x), feed.Pad(other.mask)},
		"Pad: the mask is bound to \"y\"": {feed.Bind("y", m.mask), feed.Pad(m.mask)},
	} {
		if _, err := feed.New(m.vm, options...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}
