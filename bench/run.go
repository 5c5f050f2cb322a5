package bench

import (
	"context"
	"iter"
	"time"

	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A Run measures one configuration of a study, epoch after epoch with one loader.
type Run struct {
	Study   result.Study
	Config  result.Config // Run applies its Batch, Workers, Help and ConsumerSeconds
	Dataset dataset.Dataset
	Options []loader.Option // in addition to those of Config

	// Device or Feed uses the batches of [result.EndToEnd]. Feed is the method Run of a
	// net's feed. With neither, the loop only waits for the batches.
	Device Device
	Feed   func(iter.Seq2[*loader.Batch, error]) iter.Seq2[*loader.Batch, error]

	// Look, if not nil, is called for every batch. Its time counts as the consumer's.
	Look func(*loader.Batch) error

	loader *loader.Loader
	target []float32 // to which a profile copies batches
}

// Open makes the loader. Without Open the first epoch makes it, and its time includes that.
func (r *Run) Open() error {
	options := append([]loader.Option{loader.Workers(r.Config.Workers), loader.BatchSize(r.Config.Batch)}, r.Options...)
	if r.Config.Help != "" {
		options = append(options, loader.Help(r.Config.Help == result.HelpOn))
	}
	if r.Study == result.Profile && r.target == nil {
		r.target = make([]float32, r.Config.Batch*r.Dataset.Spec()[0].Shape.Elements())
		for i := range r.target {
			r.target[i] = 1 // so that the system provides the memory before the clock starts
		}
	}
	var err error
	r.loader, err = loader.New(r.Dataset, options...)
	return err
}

// Close closes the loader, if there is one.
func (r *Run) Close() error {
	if r.loader == nil {
		return nil
	}
	return r.loader.Close()
}

// Once measures the first epoch of a loader that is made before the clock starts.
func (r Run) Once(ctx context.Context) (result.Measured, error) {
	if err := r.Open(); err != nil {
		return result.Measured{}, err
	}
	defer r.Close()
	return r.Epoch(ctx, 0)
}

// Epoch measures an epoch, or only its first batch if Config.Span is [result.FirstBatch].
func (r *Run) Epoch(ctx context.Context, n int) (m result.Measured, err error) {
	var before loader.Stats
	if r.loader != nil {
		before = r.loader.Stats()
	}
	stop := func() []result.Usage { return nil }
	if r.Study == result.Volumes {
		stop = Watch(ctx, 100*time.Millisecond)
	}
	transfer := time.Duration(0)
	if r.Feed != nil {
		m, err = r.fed(ctx, n)
	} else {
		m, err = Epoch(ctx, r.batches(ctx, n), func(ctx context.Context, b *loader.Batch) error {
			took, err := r.consume(ctx, b)
			transfer += took
			return err
		})
	}
	m.Usage = stop()
	if err != nil {
		return m, err
	}
	switch r.Study {
	case result.Profile:
		m = Profiled(m, r.Config.Span, r.loader.Stats().Sub(before))
	case result.EndToEnd:
		m.EndToEnd, m.Transfer = m.Seconds, transfer.Seconds()
		m.Compute -= m.Transfer
	}
	return m, nil
}

// consume uses a batch in the loop body. It returns the time of the transfer.
func (r *Run) consume(ctx context.Context, b *loader.Batch) (transfer time.Duration, err error) {
	if r.Look != nil {
		if err := r.Look(b); err != nil {
			return 0, err
		}
	}
	switch {
	case r.target != nil:
		copy(r.target, loader.Values[float32](b, r.Dataset.Spec()[0].Name))
	case r.Device.SamplesPerSecond > 0:
		sample := 0
		for _, f := range r.Dataset.Spec() {
			sample += f.Bytes()
		}
		transfer, _, err = r.Device.Run(ctx, b, b.Len()*sample)
	case r.Config.ConsumerSeconds > 0:
		err = sleep(ctx, seconds(r.Config.ConsumerSeconds))
	}
	return transfer, err
}

// batches returns the batches of an epoch, or only the first one.
func (r *Run) batches(ctx context.Context, n int) iter.Seq2[*loader.Batch, error] {
	return func(yield func(*loader.Batch, error) bool) {
		if r.loader == nil {
			if err := r.Open(); err != nil {
				yield(nil, err)
				return
			}
		}
		for b, err := range r.loader.Epoch(ctx, n) {
			if !yield(b, err) || r.Config.Span == result.FirstBatch {
				return
			}
		}
	}
}

// fed is [Epoch] with batches that go through Feed. Feed computes before the loop body, so
// the time from a batch's arrival until Feed requests the next one is Compute.
func (r *Run) fed(ctx context.Context, n int) (result.Measured, error) {
	var m result.Measured
	err := counted(ctx, &m, func() error {
		begun := time.Now()
		timed := func(yield func(*loader.Batch, error) bool) {
			free := begun
			for b, err := range r.batches(ctx, n) {
				arrived := time.Now()
				m.Waits = append(m.Waits, arrived.Sub(free).Seconds())
				m.LoadingEnd = arrived.Sub(begun).Seconds()
				on := yield(b, err)
				free = time.Now()
				m.Compute += free.Sub(arrived).Seconds()
				if !on {
					return
				}
			}
		}
		for b, err := range r.Feed(timed) {
			if err != nil {
				return err
			}
			if r.Look != nil {
				if err := r.Look(b); err != nil {
					return err
				}
			}
			m.Samples += int64(b.Len())
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	summed(&m)
	return m, err
}

// Inferred measures the inference of at least so many samples, in batches of equal size. It
// calls infer for every batch, and once before the clock starts.
func Inferred(ctx context.Context, batch, samples int, infer func() error) (m result.Measured, err error) {
	if err := infer(); err != nil {
		return m, err
	}
	err = counted(ctx, &m, func() error {
		begun := time.Now()
		for m.Samples < int64(samples) {
			if err := infer(); err != nil {
				return err
			}
			m.Samples += int64(batch)
		}
		m.Seconds = time.Since(begun).Seconds()
		return nil
	})
	m.PerItem = m.Seconds / float64(m.Samples)
	return m, err
}
