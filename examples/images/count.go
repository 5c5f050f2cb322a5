package main

import (
	"errors"
	"strconv"

	"github.com/penstock-go/penstock/loader"
)

// A count is a number of workers as a flag: "auto" is [loader.Auto].
type count int

func (c *count) String() string {
	if *c == loader.Auto {
		return "auto"
	}
	return strconv.Itoa(int(*c))
}

func (c *count) Set(text string) error {
	if text == "auto" {
		*c = loader.Auto
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("want a number from 0 on, or auto")
	}
	*c = count(n)
	return nil
}
