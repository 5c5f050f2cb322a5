package figures

import (
	"errors"
	"fmt"
	"strings"
)

// Call formats a call: its name and arguments.
func Call(name string, args ...any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = fmt.Sprint(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

// Anys converts values to arguments of [Call].
func Anys[T any](values []T) []any {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return args
}

// Join formats a list, with commas.
func Join[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = "nil"
		if any(s) != nil {
			texts[i] = s.String()
		}
	}
	return strings.Join(texts, ", ")
}

// Name formats a user's own step: by its String method, or by its type if it has
// none.
func Name(t any) string {
	switch t := t.(type) {
	case nil:
		return "Apply(nil)"
	case fmt.Stringer:
		return t.String()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", t), "*")
}

// CheckProbability returns an error if p is not from 0 to 1.
func CheckProbability(p float64) error {
	if !(p >= 0 && p <= 1) {
		return errors.New("want a probability from 0 to 1")
	}
	return nil
}
