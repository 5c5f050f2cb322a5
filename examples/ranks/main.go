// Ranks loads an epoch in several processes, as in distributed training, each with its
// share. Every process takes its rank from the environment, as torchrun, Slurm, Open MPI
// and Kubernetes set it. A run that was killed goes on with another number of processes.
//
//	go run ./examples/ranks
//
// starts four processes of its own, kills them in the middle of the epoch, goes on with
// three, and checks that every sample was loaded exactly once. It takes a second, and removes
// the temporary folder that it writes to. The same with a launcher
// (docs/launchers.md shows all of them):
//
//	mpirun -n 4 ranks -out first                  # and kill it
//	mpirun -n 3 ranks -out second -after first
//	ranks -check -out second -after first
package main

import (
	"flag"
	"time"

	"github.com/penstock-go/penstock/internal/usage"
)

// samples is the size of the dataset, batch is the batch size of every rank.
const (
	samples = 2200
	batch   = 16
)

func main() {
	var out, after string
	usage.NewFolder(&out, "out", "", "`folder` in which every rank records what it has loaded; without it the program starts the ranks itself")
	usage.Folder(&after, "after", "`folder` of a run that was killed: go on where it ended")
	check := flag.Bool("check", false, "check that -after and -out together hold every sample once")
	step := flag.Duration("step", 5*time.Millisecond, "time that a training step takes")
	usage.Parse("Ranks loads an epoch in several processes, each with its share.")
	var err error
	switch {
	case out == "" && (*check || after != ""):
		err = usage.Errorf("-after and -check: want -out, too")
	case out == "":
		err = launch(*step)
	case *check:
		err = checkOnce(out, after)
	default:
		err = work(out, after, *step)
	}
	if err != nil {
		usage.Fatal(err)
	}
}
