package coco

import (
	"bytes"
	"fmt"
	"strconv"
)

// appendNumbers appends the numbers of the list with which text begins, and returns what
// comes after it. It is faster than encoding/json, which matters because polygons are most of
// an annotation file. text is valid JSON.
func appendNumbers(numbers []float64, text []byte) (all []float64, rest []byte, err error) {
	text, ok := bytes.CutPrefix(space(text), []byte("["))
	if !ok {
		return numbers, nil, fmt.Errorf("found %.20q, want a list of numbers", text)
	}
	for text = space(text); text[0] != ']'; text = space(text) {
		n := bytes.IndexAny(text, ",] \t\r\n")
		v, err := strconv.ParseFloat(string(text[:n]), 64)
		if err != nil {
			return numbers, nil, err
		}
		numbers = append(numbers, v)
		if text = space(text[n:]); text[0] == ',' {
			text = text[1:]
		}
	}
	return numbers, text[1:], nil
}

func space(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }
