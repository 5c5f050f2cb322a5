package main

import (
	"context"
	"flag"
	"os"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/penstock-go/penstock/dataset"
)

// A shardMaker makes the shards whose numbers it gets.
type shardMaker struct {
	Job    job
	photos *dataset.Folder
}

// registerFunctions tells Beam which code the workers run. It is called before beam.Init.
func registerFunctions() {
	register.DoFn2x1[context.Context, int, error](&shardMaker{})
}

// Setup is called by Beam on the worker, once for each bundle that is worked on at a time.
func (f *shardMaker) Setup() (err error) {
	f.photos, err = f.Job.open()
	return quoted(err)
}

// ProcessElement is called by Beam for each shard, and again where that has failed.
func (f *shardMaker) ProcessElement(ctx context.Context, shard int) error {
	return quoted(f.Job.makeShard(ctx, f.photos, shard, 0))
}

// makeOnBeam makes all shards on the runner that Beam's flags name. Shards have only their
// numbers as input, because a list of all images would be too large for a pipeline.
func (j *job) makeOnBeam(ctx context.Context, bundles int) error {
	if err := os.MkdirAll(j.Out, 0o777); err != nil {
		return err
	}
	if bundles == 0 {
		bundles = 1
		if name := flag.Lookup("runner").Value.String(); name == "" || name == "prism" {
			bundles = runtime.GOMAXPROCS(0)
		}
	}
	p, s := beam.NewPipelineWithRoot()
	for b := range min(bundles, j.shards()) {
		var numbers []int
		for shard := b; shard < j.shards(); shard += bundles {
			numbers = append(numbers, shard)
		}
		// Reshuffle distributes the shards. Without it, the worker that lists them makes them.
		beam.ParDo0(s, &shardMaker{Job: *j}, beam.Reshuffle(s, beam.CreateList(s, numbers)))
	}
	return withTempDir(func() error { return cause(beamx.Run(ctx, p)) })
}

// withTempDir calls f while temporary files have a folder of their own, and removes that.
// Beam makes an empty file there for each pipeline and leaves it.
func withTempDir(f func() error) error {
	dir, err := os.MkdirTemp("", "cluster-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // fails on Windows, because Beam does not close the file
	name := "TMPDIR"
	if runtime.GOOS == "windows" {
		name = "TMP"
	}
	if old, ok := os.LookupEnv(name); ok {
		defer os.Setenv(name, old)
	} else {
		defer os.Unsetenv(name)
	}
	if err := os.Setenv(name, dir); err != nil {
		return err
	}
	return f()
}
