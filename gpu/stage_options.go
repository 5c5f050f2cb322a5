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

// Buffers sets how many batches fit into the stage's device memory, from 2 to 65536.
// The default is 2: one batch in use, one being uploaded. With more buffers, a batch
// that takes longer to load or upload delays the loop less.
func Buffers(n int) StageOption { return StageOption{func(c *stageConfig) { c.buffers = n }} }

// Fields chooses the fields to upload, by name. The default is all fields of the
// loader.
func Fields(names ...string) StageOption {
	return StageOption{func(c *stageConfig) { c.fields, c.chosen = names, true }}
}

// newStageConfig applies the options and reports all wrong ones at once. all are the
// loader's fields.
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

// choose returns the named fields.
func choose(names []string, all dataset.Spec) (chosen dataset.Spec, err error) {
	if len(names) == 0 {
		return nil, errors.New("gpu: Fields(): want at least one field")
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
