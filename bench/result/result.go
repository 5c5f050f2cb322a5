// Package result defines the records of benchmarks: one record per configuration, side and
// round, each a JSON object on one line of a file. A record holds the machine, the versions, the
// date and the raw times, so that tables and charts can be drawn again without a new run.
//
// Any program can write such lines, in Python with print(json.dumps(record)). This is an object
// with all names, here on several lines:
//
//	{
//	  "study": "loading", "side": "PyTorch, PIL", "date": "2026-11-21T09:30:00Z", "round": 0, "epoch": 1,
//	  "config": {"batch": 128, "workers": 4, "prefetch": 2, "in_flight": 8, "consumer_seconds": 2,
//	    "data": "photos", "model": "resnet18", "device": "cuda", "help": "off", "span": "epoch",
//	    "simulated": "device of 500 images/s"},
//	  "machine": {"cpu": "AMD EPYC 9V74", "family": "AuthenticAMD 25, model 17, stepping 1", "instructions": "AVX-512 VNNI",
//	    "caches": "L1d 32K, L1i 32K, L2 1024K, L3 32768K", "processors": 2, "memory_bytes": 25769803776, "os": "linux", "kernel": "6.18.5", "arch": "amd64", "gpu": "NVIDIA H200"},
//	  "versions": {"python": "3.11.7", "torch": "2.15.0", "torchvision": "0.29.2", "pillow": "12.3.0"},
//	  "measured": {"samples": 768, "seconds": 1.5, "samples_per_second": 512, "first_batch_seconds": 0.48,
//	    "waits_seconds": [0.48, 0.01, 0.01, 0.24, 0.01, 0.01], "waiting_seconds": 0.76,
//	    "transfer_seconds": 0.02, "compute_seconds": 0.6, "loading_end_seconds": 1.4, "end_to_end_seconds": 1.5,
//	    "per_item_seconds": 0.0008,
//	    "allocations": 1200, "allocated_bytes": 96000, "cpu_seconds": 2.9, "data_bytes": 50200000,
//	    "usage": [{"seconds": 0, "cpu_percent": 12.5, "rss_bytes": 900000000}],
//	    "stages": [{"name": "decode", "self_seconds": 1.2, "total_seconds": 1.4, "calls": 768}]}
//	}
//
// Leave out what was not measured or does not apply. Always required are study, side and date;
// batch, workers and data of config; cpu and processors of machine; and samples and seconds of
// measured. [Study] lists what each study requires in addition. A name that is not listed here
// is an error, because it is probably misspelt.
//
// Sides are compared if cpu, instructions and processors of machine are equal, and all of config other than
// help, prefetch and in_flight. In Go the machine is that of [ThisMachine]: on Linux the model
// name of /proc/cpuinfo, and the number of processors that the process may use.
package result

import (
	"fmt"
	"time"
)

// A Study names what was measured.
type Study string

const (
	Loading   Study = "loading"   // the wait for every batch; needs waits_seconds
	EndToEnd  Study = "endtoend"  // loading and inference together; needs config's model, and end_to_end_seconds
	Profile   Study = "profile"   // where loading spends its time; needs stages, and config's span
	Volumes   Study = "volumes"   // medical volumes, with CPU and memory over time
	Inference Study = "inference" // the model alone; needs config's model, and per_item_seconds

	Throughput Study = "throughput" // no study, but the same work by several libraries, in samples per second
)

// Studies lists all of them: Throughput, and then the five studies in the order of their numbers.
func Studies() []Study { return []Study{Throughput, Loading, EndToEnd, Profile, Volumes, Inference} }

// A Record is one measurement of one configuration.
type Record struct {
	Study    Study             `json:"study"`
	Side     string            `json:"side"` // the library, or the way to use it: "penstock", "PyTorch, PIL", …
	Date     time.Time         `json:"date"` // of the run, as in RFC 3339: 2026-11-21T09:30:00Z
	Round    int               `json:"round"`
	Epoch    int               `json:"epoch,omitempty"` // of the loader; epoch 0 includes the start of workers
	Config   Config            `json:"config"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions,omitempty"` // go, penstock (its commit), python, torch, …
	Measured Measured          `json:"measured"`
}

// A Config is the configuration that was measured. Configs are comparable, and can be map keys.
type Config struct {
	Batch           int     `json:"batch"`   // samples
	Workers         int     `json:"workers"` // 0: the consumer loads
	Prefetch        int     `json:"prefetch,omitempty"`
	InFlight        int     `json:"in_flight,omitempty"`
	ConsumerSeconds float64 `json:"consumer_seconds,omitempty"` // the consumer's time per batch
	Data            string  `json:"data"`                       // "photos", "preprocessed", "cifar", "volumes", …
	Model           string  `json:"model,omitempty"`
	Device          string  `json:"device,omitempty"` // "cpu", "cuda", …
	Help            string  `json:"help,omitempty"`   // "on", "off", or empty if the side has no such option
	Span            string  `json:"span,omitempty"`   // "first batch" or "epoch", or empty if the study always measures an epoch

	// Simulated says which part of the measurement is simulated, such as "device of 500
	// images/s" or "files throttled to 20 ms". It is printed with every figure.
	Simulated string `json:"simulated,omitempty"`
}

// The values of Config.Span and Config.Help.
const (
	FirstBatch = "first batch"
	Epoch      = "epoch"
	HelpOn     = "on"
	HelpOff    = "off"
)

// A Machine describes the machine of a measurement.
type Machine struct {
	CPU          string `json:"cpu"`                    // the model name
	Family       string `json:"family,omitempty"`       // the vendor, and the numbers of family, model and stepping
	Instructions string `json:"instructions,omitempty"` // the newest set that penstock's kernels use: "AVX2", "AVX-512 VNNI", …
	Caches       string `json:"caches,omitempty"`       // of the first processor: "L1d 32K, L1i 32K, L2 1024K, L3 36608K"
	Processors   int    `json:"processors"`             // logical ones that the process could use
	MemoryBytes  int64  `json:"memory_bytes,omitempty"`
	OS           string `json:"os,omitempty"`
	Kernel       string `json:"kernel,omitempty"`
	Arch         string `json:"arch,omitempty"`
	GPU          string `json:"gpu,omitempty"`
}

// String returns one line such as "AMD EPYC (AuthenticAMD 25, model 17, stepping 1) with AVX2, 2 processors, 24 GiB, linux 6.18, NVIDIA H200".
func (m Machine) String() string {
	s := m.CPU
	if m.Family != "" {
		s += " (" + m.Family + ")"
	}
	if m.Instructions != "" {
		s += " with " + m.Instructions
	}
	if m.Processors == 1 {
		s += ", 1 processor"
	} else {
		s += fmt.Sprintf(", %d processors", m.Processors)
	}
	if m.MemoryBytes > 0 {
		s += fmt.Sprintf(", %.0f GiB", float64(m.MemoryBytes)/(1<<30))
	}
	if m.OS != "" {
		s += ", " + m.OS
		if m.Kernel != "" {
			s += " " + m.Kernel
		}
	}
	if m.GPU != "" {
		s += ", " + m.GPU
	}
	return s
}

// Measured holds the measured values. Times are wall-clock seconds, except CPU and Stages, which
// are sums over all threads and processes of the side.
type Measured struct {
	Samples          int64   `json:"samples"`
	Seconds          float64 `json:"seconds"`
	SamplesPerSecond float64 `json:"samples_per_second,omitempty"` // Samples / Seconds

	FirstBatch float64   `json:"first_batch_seconds,omitempty"` // from the epoch's start to its first batch
	Waits      []float64 `json:"waits_seconds,omitempty"`       // for every batch, in order

	Waiting        float64 `json:"waiting_seconds,omitempty"`     // for batches, all of them
	Transfer       float64 `json:"transfer_seconds,omitempty"`    // to the device
	Compute        float64 `json:"compute_seconds,omitempty"`     // in the model
	LoadingEnd     float64 `json:"loading_end_seconds,omitempty"` // from the start until the last batch was loaded
	EndToEnd       float64 `json:"end_to_end_seconds,omitempty"`  // from the start until the last result was computed
	PerItem        float64 `json:"per_item_seconds,omitempty"`    // a batch's time divided by its size
	Allocations    int64   `json:"allocations,omitempty"`         // on Go's heap
	AllocatedBytes int64   `json:"allocated_bytes,omitempty"`
	CPU            float64 `json:"cpu_seconds,omitempty"`
	DataBytes      int64   `json:"data_bytes,omitempty"` // size of all files that the side reads the samples from

	Usage  []Usage `json:"usage,omitempty"`
	Stages []Stage `json:"stages,omitempty"`
}

// MostMemory is the greatest resident memory that was seen, in bytes.
func (m Measured) MostMemory() (most int64) {
	for _, u := range m.Usage {
		most = max(most, u.RSS)
	}
	return most
}

// Usage is the resource use of the side's processes at one time.
type Usage struct {
	Seconds    float64 `json:"seconds"`     // since the start
	CPUPercent float64 `json:"cpu_percent"` // 100 is one processor
	RSS        int64   `json:"rss_bytes"`   // resident memory
}

// A Stage is a line of a profile.
type Stage struct {
	Name  string  `json:"name"`
	Self  float64 `json:"self_seconds"`  // without the stages that it calls
	Total float64 `json:"total_seconds"` // with them
	Calls int64   `json:"calls"`
}
