package transform_test

import "github.com/penstock-go/penstock/transform"

// resizeTo is Resize with one or two numbers.
func resizeTo(n []int, options ...transform.Option) transform.Step {
	if len(n) == 1 {
		return transform.Resize(n[0], options...)
	}
	return transform.Resize([2]int(n), options...)
}

// padBy is Pad with one, two or four numbers.
func padBy(n []int, options ...transform.Option) transform.Step {
	switch len(n) {
	case 1:
		return transform.Pad(n[0], options...)
	case 2:
		return transform.Pad([2]int(n), options...)
	}
	return transform.Pad([4]int(n), options...)
}
