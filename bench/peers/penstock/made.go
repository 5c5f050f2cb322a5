package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/data"
)

// makeData makes the data that is named kind:N, in the benchmarks' cache, and prints its folder.
func makeData(ctx context.Context, what string, w io.Writer) error {
	kind, number, _ := strings.Cut(what, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("penstock: -make %s: want a kind and a number, such as volumes:8", what)
	}
	root, err := data.Root()
	if err != nil {
		return err
	}
	var dir string
	switch kind {
	case "photos":
		dir, err = data.Photos(ctx, root, n)
	case "items64", "items224":
		size, _ := strconv.Atoi(strings.TrimPrefix(kind, "items"))
		dir, err = data.Items(ctx, root, n, size)
	case "cifar100":
		dir, err = data.CIFAR100(ctx, root, n)
	case "volumes":
		dir, err = data.Volumes(ctx, root, n)
	default:
		return fmt.Errorf("penstock: -make %s: want photos, items64, items224, cifar100 or volumes", what)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, dir)
	return err
}

// describe prints the machine and the versions, as records have them.
func describe(ctx context.Context, w io.Writer) error {
	r, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(map[string]any{"machine": r.Machine, "versions": r.Versions})
}
