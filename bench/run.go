package bench

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// A Run measures a cell for penstock, epoch after epoch with one loader. Its zero fields are left out.
type Run struct {
	Cell
	Dataset dataset.Dataset
	Options []loader.Option // in addition to those of the cell
	Net     *model.Net      // that the loop body runs over the field "image"
	GPU     *gpu.Device     // to which a Stage uploads a profile's batches; without one they are copied on the heap
	Look    func(*loader.Batch) error

	loader *loader.Loader
	stage  *gpu.Stage
	target []float32 // to which a profile copies batches without a device
}

// Open makes the loader. Its budget does not thin the batches in flight, as the default of 2 GiB would.
func (r *Run) Open() (err error) {
	options := append([]loader.Option{loader.Workers(r.Config.Workers), loader.BatchSize(r.Config.Batch), loader.Shuffle(r.Shuffle),
		loader.Budget(math.MaxInt)}, r.Options...)
	if r.Config.Help != "" {
		options = append(options, loader.Help(r.Config.Help == result.HelpOn))
	}
	if r.loader, err = loader.New(r.Dataset, options...); err != nil {
		return err
	}
	r.Config.InFlight = r.loader.Stats().Slabs
	if r.Study != result.Profile {
		return nil
	}
	if r.GPU != nil {
		r.stage, err = gpu.NewStage(r.GPU, r.loader)
		return err
	}
	r.target = make([]float32, r.Config.Batch*r.Dataset.Spec()[0].Shape.Elements())
	for i := range r.target {
		r.target[i] = 1 // so that the system provides the memory before the clock starts
	}
	return nil
}

// Close closes the loader, if there is one.
func (r *Run) Close() (err error) {
	if r.stage != nil {
		err = r.stage.Close()
	}
	if r.loader != nil {
		err = errors.Join(err, r.loader.Close())
	}
	return err
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
	before := r.loader.Stats()
	stop := func() []result.Usage { return nil }
	if r.Study == result.Volumes || r.Study == result.Throughput && n == 0 && !r.Cold {
		stop = Watch(ctx, 10*time.Millisecond)
	}
	transfer := 0.0
	if r.stage != nil {
		m, err = Epoch(ctx, span(r.stage.Epoch(ctx, n), r.Config.Span), nil)
	} else {
		m, err = Epoch(ctx, span(r.loader.Epoch(ctx, n), r.Config.Span), func(ctx context.Context, b *loader.Batch) error {
			took, err := r.consume(ctx, b)
			transfer += took
			return err
		})
	}
	m.Usage = stop()
	if err != nil {
		return m, err
	}
	m.Transfer, m.Compute = transfer, max(0, m.Compute-transfer)
	if r.Study == result.Profile {
		m = profiled(m, r.Config.Span, r.loader.Stats().Sub(before))
	}
	if r.Study == result.EndToEnd {
		m.EndToEnd = m.Seconds
	}
	return m, nil
}

// span is all batches of an epoch, or only the first one.
func span[B any](batches iter.Seq2[B, error], span string) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for b, err := range batches {
			if !yield(b, err) || span == result.FirstBatch {
				return
			}
		}
	}
}

// consume uses a batch in the loop body. It returns the seconds of the transfer.
func (r *Run) consume(ctx context.Context, b *loader.Batch) (transfer float64, err error) {
	if r.Look != nil {
		if err := r.Look(b); err != nil {
			return 0, err
		}
	}
	switch {
	case r.target != nil:
		begun := time.Now()
		copy(r.target, loader.Values[float32](b, r.Dataset.Spec()[0].Name))
		return time.Since(begun).Seconds(), nil
	case r.Net != nil:
		return 0, r.Net.Infer(loader.Values[float32](b, "image"))
	case r.Speed > 0:
		sample := 0
		for _, f := range r.Dataset.Spec() {
			sample += f.Bytes()
		}
		return Simulate(ctx, r.Speed, b.Len(), b.Len()*sample)
	case r.Config.ConsumerSeconds > 0:
		return 0, sleep(ctx, seconds(r.Config.ConsumerSeconds))
	}
	return 0, nil
}

// Infer measures the cell's net alone, over random images, on "cpu" or "cuda".
func (c Cell) Infer(ctx context.Context, device string) (m result.Measured, parameters int, err error) {
	net, err := model.New(c.Config.Model, c.Config.Batch, c.Size, device)
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	r := rand.New(rand.NewPCG(1, 5))
	images := make([]float32, c.Config.Batch*3*c.Size*c.Size)
	for i := range images {
		images[i] = float32(r.NormFloat64())
	}
	m, err = Inferred(ctx, c.Config.Batch, c.Samples, func() error { return net.Infer(images) })
	return m, net.Parameters(), err
}

// Simulate waits for as long as a device of that speed takes for a batch, in a loop without overlap, and computes nothing:
// for the transfer at 6 GB/s, as from page-locked memory over PCIe 3.0, for 1 ms, and for the work. It returns the
// seconds of the transfer. Results must say that the device was simulated.
func Simulate(ctx context.Context, samplesPerSecond float64, samples, bytes int) (transfer float64, err error) {
	begun := time.Now()
	if err := sleep(ctx, seconds(float64(bytes)/6e9)); err != nil {
		return 0, err
	}
	transfer = time.Since(begun).Seconds()
	return transfer, sleep(ctx, time.Millisecond+seconds(float64(samples)/samplesPerSecond))
}

// profiled adds the stages: the waits and copies of the loop, and the work of the workers according to the loader's stats
// of this epoch. A profile of [result.FirstBatch] ends with the first batch: it leaves out the time until workers have
// finished their other batches.
func profiled(m result.Measured, span string, s loader.Stats) result.Measured {
	if span == result.FirstBatch {
		m.Seconds = m.Waiting + m.Transfer
	}
	n := int64(len(m.Waits))
	m.Stages = []result.Stage{
		{Name: "loop", Self: max(0, m.Seconds-m.Waiting-m.Transfer), Total: m.Seconds, Calls: 1},
		{Name: "loop: wait", Self: m.Waiting, Total: m.Waiting, Calls: n}, // with a device also for the upload
		{Name: "loop: copy", Self: m.Transfer, Total: m.Transfer, Calls: n},
	}
	var within time.Duration
	var samples int64
	for _, st := range s.Stages {
		within += st.Total
		samples = max(samples, st.Count)
		m.Stages = append(m.Stages, result.Stage{Name: "worker: " + st.Name, Self: st.Total.Seconds(), Total: st.Total.Seconds(), Calls: st.Count})
	}
	m.Stages = append(m.Stages,
		result.Stage{Name: "worker: sample", Self: max(0, s.Busy-within).Seconds(), Total: s.Busy.Seconds(), Calls: samples},
		result.Stage{Name: "worker: wait for memory", Self: s.MemoryWait.Seconds(), Total: s.MemoryWait.Seconds(), Calls: n})
	return m
}
