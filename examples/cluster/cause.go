package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// mark precedes the error of a worker in the text that a runner makes of it.
const mark = "cluster worker: "

// quoted prepares the error of a worker for cause.
func quoted(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%q", mark, err.Error())
}

// cause finds the error of a worker in that of a pipeline. Runners pass on only its text,
// and put it among stages, instructions and, on Flink, the stack of a Java program.
func cause(err error) error {
	if err == nil {
		return nil
	}
	_, text, _ := strings.Cut(err.Error(), mark)
	text, notFound := strconv.QuotedPrefix(text)
	if notFound != nil {
		return err
	}
	text, notFound = strconv.Unquote(text)
	if notFound != nil {
		return err
	}
	return errors.New(text)
}
