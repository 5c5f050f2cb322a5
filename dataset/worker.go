package dataset

import (
	"context"

	"github.com/penstock-go/penstock/internal/slots"
)

// Worker returns the id of the loader's worker that places a sample, from 0 to
// Workers-1. ctx is the context of Place or PlaceBatch; datasets that wrap
// another one pass it on. ok is false outside a loader.
//
// Use it in a Reader that needs something of its own per worker: a device, a
// connection, a folder for scratch files. Make it when the first sample is
// placed, because Open has no context. What a sample holds must not depend on
// the id, because any worker may place any sample. In PyTorch the id is
// get_worker_info().id.
func Worker(ctx context.Context) (id int, ok bool) { return slots.Worker(ctx) }
