package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// A Device simulates a device of a given speed: it waits for as long as the work would
// take, and computes nothing. Use it if there is no such device, or if a real one is too
// slow for a grid. Results must say that the device was simulated.
type Device struct {
	SamplesPerSecond float64
	PerBatch         time.Duration // added for every batch, of any size
	BytesPerSecond   float64       // of transfers to the device; with 0 they take no time
}

// SimulatedDevice returns a device of that speed, with transfers at 6 GB/s, as from
// page-locked memory over PCIe 3.0, and with 1 ms added for every batch. A [Run] with a
// device of speed 0 has none.
func SimulatedDevice(samplesPerSecond float64) Device {
	return Device{SamplesPerSecond: samplesPerSecond, PerBatch: time.Millisecond, BytesPerSecond: 6e9}
}

// String returns a text such as "device of 500 samples/s".
func (d Device) String() string { return fmt.Sprintf("device of %.0f samples/s", d.SamplesPerSecond) }

// Run waits for the transfer of a batch and then for its work, as a loop without overlap
// does. It returns the time of each.
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
