package result_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/penstock-go/penstock/bench/result"
)

// A benchmark appends what it measured; others read it.
func Example() {
	ctx := context.Background()
	machine, err := result.ThisMachine(ctx)
	if err != nil {
		log.Print(err) // what could be found is there all the same
	}
	dir, err := os.MkdirTemp("", "result")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "loading.jsonl")

	err = result.AppendFile(path, result.Record{
		Study:    result.Loading,
		Side:     "penstock",
		Date:     time.Now(),
		Config:   result.Config{Batch: 128, Workers: 4, Data: "photos", Help: result.HelpOn},
		Machine:  machine,
		Versions: result.Versions(ctx),
		Measured: result.Measured{Samples: 256, Seconds: 0.5, FirstBatch: 0.1, Waits: []float64{0.1, 0.02}},
	})
	if err != nil {
		log.Fatal(err)
	}

	records, err := result.ReadFile(path)
	if err != nil {
		log.Print(err) // names the lines that are no records; all others are there
	}
	for _, r := range records {
		fmt.Println(r.Study, r.Config.Data, r.Measured.SamplesPerSecond, "samples/s")
	}
	// Output: loading photos 512 samples/s
}

// Every study names what it needs.
func ExampleRecord_Check() {
	r := result.Record{
		Study:    result.Profile,
		Side:     "penstock",
		Date:     time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC),
		Config:   result.Config{Batch: 64, Workers: 8, Data: "cifar", Span: result.FirstBatch},
		Machine:  result.Machine{CPU: "AMD EPYC", Processors: 2},
		Measured: result.Measured{Samples: 64, Seconds: 0.01},
	}
	fmt.Println(r.Check())
	r.Measured.Stages = []result.Stage{{Name: "decode", Self: 0.004, Total: 0.005, Calls: 64}}
	fmt.Println(r.Check())
	r.Measured.Usage = []result.Usage{{Seconds: 0, CPUPercent: -1}}
	fmt.Println(r.Check())
	// Output:
	// measured.stages: have [], want one or more
	// <nil>
	// measured.usage[0].cpu_percent: have -1, want 0 or more
}

func ExampleStudies() {
	fmt.Println(result.Studies())
	fmt.Println(result.EndToEnd, result.Volumes, result.Inference)
	// Output:
	// [throughput loading endtoend profile volumes inference]
	// endtoend volumes inference
}
