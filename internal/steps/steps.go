// Package steps has what lists of steps share: how a step prints, which is as the
// call that made it, and the check of a probability.
package steps

import (
	"errors"
	"fmt"
	"strings"
)

// Call prints a call: its name and arguments.
func Call(name string, args ...any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = fmt.Sprint(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

// Anys are values as arguments of [Call].
func Anys[T any](values []T) []any {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return args
}

// Join prints a list.
func Join[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = s.String()
	}
	return strings.Join(texts, ", ")
}

// Name prints a user's own step: as it prints itself, or else its type.
func Name(t any) string {
	switch t := t.(type) {
	case nil:
		return "Apply(nil)"
	case fmt.Stringer:
		return t.String()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", t), "*")
}

// CheckProbability wants a number from 0 to 1.
func CheckProbability(p float64) error {
	if !(p >= 0 && p <= 1) {
		return errors.New("want a probability from 0 to 1")
	}
	return nil
}
