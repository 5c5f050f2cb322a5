package nrrd

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// quoted reads strings in double quotes. Need returns their number.
func quoted(at func(*Header) *[]string, need func(*parser) (int, error)) func(*parser, string) error {
	return func(p *parser, value string) error {
		n, err := need(p)
		if err != nil {
			return err
		}
		values := make([]string, n)
		for i := range values {
			if values[i], value, err = unquote(value); err != nil {
				return fmt.Errorf("axis %d: %w", i, err)
			}
		}
		if value != "" {
			return fmt.Errorf("%.60q follows %d strings", value, n)
		}
		*at(p.h) = values
		return nil
	}
}

// unquote takes a string in double quotes from the beginning of s. \" is a quote in it. There are no other escapes.
func unquote(s string) (text, rest string, err error) {
	s, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return "", "", errors.New("a string in double quotes is missing")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), strings.TrimLeft(s[i+1:], " \t"), nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", errors.New("the closing double quote is missing")
}

// vectors reads vectors of the world. Need returns their number.
func vectors(at func(*Header) *[][]float64, need func(*parser) (int, error)) func(*parser, string) error {
	return func(p *parser, value string) error {
		world, err := p.needWorld()
		if err != nil {
			return err
		}
		n, err := need(p)
		if err != nil {
			return err
		}
		values := make([][]float64, n)
		for i := range values {
			if values[i], value, err = vector(value, world); err != nil {
				return fmt.Errorf("axis %d: %w", i, err)
			}
		}
		if value != "" {
			return fmt.Errorf("%.60q follows %d vectors", value, n)
		}
		*at(p.h) = values
		return nil
	}
}

// vector takes a vector of n coordinates from the beginning of s, for example (x,y,z). The word none gives nil, and so do
// coordinates that are all NaN.
func vector(s string, n int) (v []float64, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "none"); ok && (rest == "" || strings.ContainsRune(" \t", rune(rest[0]))) {
		return nil, strings.TrimLeft(rest, " \t"), nil
	}
	s, ok := strings.CutPrefix(s, "(")
	if !ok {
		return nil, "", errors.New("a vector, (x,y,…) or none, is missing")
	}
	inside, rest, ok := strings.Cut(s, ")")
	if !ok {
		return nil, "", errors.New("the closing parenthesis is missing")
	}
	words := strings.Split(inside, ",")
	if len(words) != n {
		return nil, "", fmt.Errorf("(%.60s) has %d coordinates, the world %d", inside, len(words), n)
	}
	v = make([]float64, n)
	unknown := 0
	for i, word := range words {
		if v[i], err = finite(strings.TrimSpace(word)); err != nil {
			return nil, "", fmt.Errorf("coordinate %d: %w", i, err)
		}
		if math.IsNaN(v[i]) {
			unknown++
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	switch unknown {
	case 0:
		return v, rest, nil
	case n:
		return nil, rest, nil
	}
	return nil, "", fmt.Errorf("(%.60s) is only partly known", inside)
}
