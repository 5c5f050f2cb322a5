package transform

import (
	"errors"
	"fmt"
)

// within says in which place the mistakes are that err joins. Each of them gets a line of its own.
func within(place string, err error) error {
	var errs []error
	each(err, func(err error) { errs = append(errs, fmt.Errorf("%s: %w", place, err)) })
	return errors.Join(errs...)
}

// each calls do with every error that err joins.
func each(err error, do func(error)) {
	if err == nil {
		return
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		do(err)
		return
	}
	for _, err := range joined.Unwrap() {
		each(err, do)
	}
}

// A container is a step that has other steps.
type container interface {
	Step
	brief() string // the call that made it, without the steps
}

// nameOf is how mistakes name a step.
func nameOf(s Step) string {
	if c, ok := s.(container); ok {
		return c.brief()
	}
	return s.String()
}
