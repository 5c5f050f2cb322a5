package loader

import "slices"

// A wholeBatch is a job whose batch comes from elsewhere as a whole. Only the worker
// that has claimed its first row uses it.
type wholeBatch struct{ j *job }

func (b wholeBatch) Epoch() int { return b.j.Plan.Epoch }
func (b wholeBatch) Draw() int {
	if !b.j.Plan.Aligned() {
		return b.j.Plan.Begin()
	}
	return 0
}

func (b wholeBatch) Number() int {
	if b.Draw() > 0 {
		return b.j.K
	}
	return b.j.Plan.Number(b.j.K)
}

func (b wholeBatch) Reserve(rows int) ([]int, error) {
	if err := b.j.slab.Reserve(rows); err != nil {
		return nil, err
	}
	b.j.slab.Indices = slices.Grow(b.j.slab.Indices[:0], rows)[:rows]
	return b.j.slab.Indices, nil
}

func (b wholeBatch) Dropped(samples int) { b.j.dropped = samples }

func (b wholeBatch) Fixed(field int) []byte { return b.j.slab.Column(field, len(b.j.slab.Indices)) }

func (b wholeBatch) Ragged(field, n int) (values []byte, offsets []int, err error) {
	return b.j.slab.Fill(field, len(b.j.slab.Indices), n)
}

// stageService lasts while a service is asked for a batch.
const stageService = "service"

// placeWhole makes the reader fill the batch. An error ends the run in its place.
func (w *worker) placeWhole(j *job) {
	err := w.calls(fetching, func() error {
		w.clock.Stage(stageService)
		return w.whole.PlaceWhole(w.ctx, wholeBatch{j})
	})
	w.clock.Stop()
	if err != nil {
		j.breaks(j.named(err))
	}
}

// checkService reports each option that sets what the service has decided.
func (c *config) checkService(wrong func(is bool, format string, args ...any)) {
	const belongs = "belongs to the service, which decides what batches have"
	wrong(c.set.batchSize, "BatchSize(%d): "+belongs, c.batchSize)
	wrong(c.set.batchSampler, "BatchSampler: "+belongs)
	wrong(c.set.sampler, "Sampler: "+belongs)
	wrong(c.shuffle, "Shuffle(true): "+belongs)
	wrong(c.set.seed, "Seed(%d): "+belongs, c.seed)
	wrong(c.dropLast, "DropLast(true): "+belongs)
	wrong(c.policy != Stop || c.limit != 0, "OnError: "+belongs)
	wrong(len(c.collate) > 0, "Collate: "+belongs)
	wrong(c.ranks != nil, "Ranks: belongs to the service, which is told the rank with every request")
}
