package gpu

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
)

// A StageOption changes what [NewStage] makes. The zero StageOption changes nothing.
type StageOption struct{ set func(*stageConfig) }

type stageConfig struct {
	buffers int
	fields  []string
	chosen  bool         // fields was given
	spec    dataset.Spec // of the fields
}

const mostBuffers = 1 << 16

// Buffers sets how many batches have room on the device. The default is 2: one
// in use, one being copied. More of them even out batches that take longer.
func Buffers(n int) StageOption { return StageOption{func(c *stageConfig) { c.buffers = n }} }

// Fields chooses what is uploaded, by name. The default is every field.
func Fields(names ...string) StageOption {
	return StageOption{func(c *stageConfig) { c.fields, c.chosen = names, true }}
}

// newStageConfig reports everything that is wrong with the options together. The
// loader has the fields of all.
func newStageConfig(options []StageOption, all dataset.Spec) (stageConfig, error) {
	c := stageConfig{buffers: 2, spec: all}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	var errs []error
	if c.buffers < 2 || c.buffers > mostBuffers {
		errs = append(errs, fmt.Errorf("gpu: Buffers(%d): want 2 to %d", c.buffers, mostBuffers))
	}
	if c.chosen {
		var err error
		c.spec, err = choose(c.fields, all)
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

// choose is what the names stand for.
func choose(names []string, all dataset.Spec) (chosen dataset.Spec, err error) {
	if len(names) == 0 {
		return nil, errors.New("gpu: Fields(): want a field at least")
	}
	var errs []error
	for _, name := range names {
		switch i := all.Index(name); {
		case i < 0:
			errs = append(errs, fmt.Errorf("gpu: Fields(%q): the loader has only %v", name, all))
		case chosen.Index(name) >= 0:
			errs = append(errs, fmt.Errorf("gpu: Fields(%q): the field is named twice", name))
		default:
			chosen = append(chosen, all[i])
		}
	}
	return chosen, errors.Join(errs...)
}
