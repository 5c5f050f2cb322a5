package packed

import (
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// An Option changes what [Create] and [Write] do.
type Option struct{ set func(*config) }

type config struct {
	classes []string
	source  string
	names   func(i int) string
}

func configOf(options []Option) config {
	var c config
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	return c
}

// Classes sets the names of the classes, which [File.Classes] returns.
func Classes(names ...string) Option {
	return Option{func(c *config) { c.classes = slices.Clone(names) }}
}

// Names sets the names of the samples, which [File.Name] returns: name is called
// with their indices in the source. Names of more than 4 KiB are cut off. A Writer
// that continues calls name again for the samples that are there.
func Names(name func(i int) string) Option {
	return Option{func(c *config) { c.names = name }}
}

// Origin describes where the samples come from and how they are made: the
// files, the transforms. [File.Origin] returns it. A Writer continues the work of
// another one only if both have the same source, fields and classes.
func Origin(description string) Option {
	return Option{func(c *config) { c.source = description }}
}

// name is the name of a sample of the source.
func (c *config) name(i int) string {
	name := c.names(i)
	return name[:min(len(name), maxName)]
}

// trailer is that of a file without samples.
func (c *config) trailer(spec dataset.Spec) (*trailer, error) {
	l, err := layoutOf(spec)
	return &trailer{spec: spec, layout: l, classes: c.classes, source: c.source, named: c.names != nil}, err
}
