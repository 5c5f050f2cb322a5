package dataset

import (
	"errors"
	"fmt"
)

// BatchChoice makes a [BatchStep] that applies one of the steps to every batch, each
// with the same probability, as torchvision's RandomChoice does: MixUp or CutMix. All
// steps must leave the same fields.
func BatchChoice(steps ...BatchStep) BatchStep { return batchChoice(steps) }

type batchChoice []BatchStep

func (c batchChoice) Bind(before Spec) (after Spec, _ BatchApply, err error) {
	if len(c) == 0 {
		return nil, nil, errors.New("dataset: BatchChoice: no steps")
	}
	choices := make([]BatchApply, len(c))
	for k, step := range c {
		if step == nil {
			return nil, nil, fmt.Errorf("dataset: BatchChoice: step %d is nil", k)
		}
		spec, apply, err := step.Bind(before)
		if err != nil {
			return nil, nil, err
		}
		if k > 0 && !sameSpec(spec, after) {
			return nil, nil, fmt.Errorf("dataset: BatchChoice: steps leave different fields: %v; %v", after, spec)
		}
		after, choices[k] = spec, apply
	}
	return after, func(dst, src Columns) error {
		return choices[src.Rand().IntN(len(choices))](dst, src)
	}, nil
}
