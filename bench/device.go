package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// A Device simulates one of given speed: its work is waited for, and nothing is
// computed. It stands for devices that are not at hand, or are too slow for a
// grid; results must say that it was simulated.
type Device struct {
	SamplesPerSecond float64
	PerBatch         time.Duration // what every batch takes besides, of any size
	BytesPerSecond   float64       // to the device; 0 is at once
}

// SimulatedDevice is one of that speed that batches reach at 6 GB/s, as page-locked
// memory does over PCIe 3.0, and of which each costs 1 ms besides. Speed 0 is none.
func SimulatedDevice(samplesPerSecond float64) Device {
	return Device{SamplesPerSecond: samplesPerSecond, PerBatch: time.Millisecond, BytesPerSecond: 6e9}
}

// String is as "device of 500 samples/s".
func (d Device) String() string { return fmt.Sprintf("device of %.0f samples/s", d.SamplesPerSecond) }

// Run takes a batch to the device and then through its work, as a loop does that
// overlaps neither with the other, and tells what each of the two took.
func (d Device) Run(ctx context.Context, b *loader.Batch, bytes int) (transfer, compute time.Duration, err error) {
	begun := time.Now()
	if d.BytesPerSecond > 0 {
		if err := sleep(ctx, seconds(float64(bytes)/d.BytesPerSecond)); err != nil {
			return 0, 0, err
		}
	}
	there := time.Now()
	if err := sleep(ctx, d.PerBatch+seconds(float64(b.Len())/d.SamplesPerSecond)); err != nil {
		return 0, 0, err
	}
	return there.Sub(begun), time.Since(there), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
