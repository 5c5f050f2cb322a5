package dataset

import (
	"context"

	"github.com/penstock-go/penstock/internal/slots"
)

// Worker is the number of the loader's worker that places a sample, from 0 to
// Workers-1, as the context of Place and PlaceBatch tells, through all datasets
// that wrap one another. It is false outside a loader.
//
// It serves Readers that have something apart for every worker: a device, a
// connection, a folder for scratch files. They take it when their first sample is
// placed, because Open has no context. What a sample holds must not depend on it,
// because any worker may place any sample. PyTorch has get_worker_info().id.
func Worker(ctx context.Context) (id int, ok bool) { return slots.Worker(ctx) }
