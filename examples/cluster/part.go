package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/examples/internal/usage"
)

// makePart makes every n-th shard, with all processors. part is "i/n", with i from 0 to n-1.
func (j *job) makePart(ctx context.Context, photos *dataset.Folder, part string) error {
	var i, n int
	if _, err := fmt.Sscanf(part+" ", "%d/%d ", &i, &n); err != nil || i < 0 || i >= n {
		return usage.Errorf("-shards %s: want i/n, with i from 0 to n-1", part)
	}
	if err := os.MkdirAll(j.Out, 0o777); err != nil {
		return err
	}
	for shard := i; shard < j.shards(); shard += n {
		if err := j.makeShard(ctx, photos, shard, runtime.GOMAXPROCS(0)); err != nil {
			return err
		}
	}
	return nil
}
