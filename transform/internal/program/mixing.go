package program

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// Steps for whole batches.
var (
	MixUp  = &Kind{name: "MixUp", takes: []*Kind{Fields, Probability}}
	CutMix = &Kind{name: "CutMix", takes: []*Kind{Fields, Probability}}
)

// A Mixing is MixUp or CutMix.
type Mixing struct{ *Call }

// Bind finds the fields, and makes the label float32 of shape (classes).
func (m Mixing) Bind(before dataset.Spec) (dataset.Spec, dataset.BatchApply, error) {
	b, err := m.Mixer(before)
	if err != nil {
		return nil, nil, fmt.Errorf("transform: %v: %w", m, err)
	}
	after := slices.Clone(before)
	after[b.To] = dataset.Field{Name: before[b.To].Name, Dtype: dataset.Float32, Shape: dataset.Shape{b.Classes}}
	return after, b.Apply, nil
}

// Mixer is the step for batches of these fields.
func (m Mixing) Mixer(before dataset.Spec) (*engine.Mixer, error) {
	b := &engine.Mixer{Name: m.name, Cut: m.Kind == CutMix, Beta: m.Args.float(0), Classes: m.Args.int(1), Probability: optionOf(m.Call, Probability, 1.0)}
	switch {
	case !(b.Beta > 0) || math.IsInf(b.Beta, 1):
		return nil, errors.New("want an alpha above 0")
	case b.Classes < 1 || b.Classes > maxClasses:
		return nil, fmt.Errorf("want 1 to %d classes", maxClasses)
	case m.mistake != nil:
		return nil, m.mistake
	}
	names := []string{"image", "label"}
	if m.has(Fields) {
		names = m.option(Fields).texts()
	}
	b.At, b.To = before.Index(names[0]), before.Index(names[1])
	if b.At < 0 || b.To < 0 || b.At == b.To {
		return nil, fmt.Errorf("want fields %q and %q, not %v", names[0], names[1], before)
	}
	b.Field, b.Shares = before[b.At], before[b.To].Dtype == dataset.Float32
	switch f := b.Field; {
	case f.Ragged:
		return nil, fmt.Errorf("field %v: want images of one size", f)
	case b.Cut && len(f.Shape) < 2:
		return nil, fmt.Errorf("field %v: want images with height and width", f)
	case !b.Cut && !slices.Contains([]dataset.Dtype{dataset.Float32, dataset.Float64, dataset.Float16, dataset.BFloat16}, f.Dtype):
		return nil, fmt.Errorf("field %v: want floating-point numbers, as ToTensor makes them", f)
	}
	f := before[b.To]
	classes := f.Dtype == dataset.Int64 && len(f.Shape) == 0
	shares := f.Dtype == dataset.Float32 && slices.Equal(f.Shape, dataset.Shape{b.Classes})
	if f.Ragged || !classes && !shares {
		return nil, fmt.Errorf("field %v: want an int64 class, or float32 shares of %d classes", f, b.Classes)
	}
	return b, nil
}

// maxClasses bounds the memory of labels.
const maxClasses = 1 << 20
