package sampler

import (
	"fmt"
	"os"
	"strconv"
)

// FromEnv is the rank of this process and the number of ranks, as told by what
// started it. The first of these whose rank or world size is set decides:
//
//   - torchrun and what imitates it: RANK and WORLD_SIZE
//   - Open MPI: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE
//   - Slurm: SLURM_PROCID and SLURM_NTASKS
//   - a Kubernetes Indexed Job: JOB_COMPLETION_INDEX and JOB_COMPLETIONS. The
//     first is set by Kubernetes; the second is not: set it in the pod's
//     template to the Job's completions.
//
// Open MPI comes before Slurm because mpirun inside a Slurm job leaves Slurm's
// own variables as they were for the whole job. If none is set, this is rank 0
// of 1. A variable that is missing beside its other half, or does not hold a
// rank below the world size, is an error that names it. An empty variable
// counts as not set.
//
// One exception: in a Kubernetes Indexed Job, WORLD_SIZE alone, without RANK,
// may stand for JOB_COMPLETIONS.
func FromEnv() (rank, world int, err error) { return fromEnv(os.Getenv) }

// launchers are in order of precedence.
var launchers = [...]struct{ rank, world string }{
	{"RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
	{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"},
}

func fromEnv(get func(name string) string) (rank, world int, err error) {
	if get("RANK") == "" && get("WORLD_SIZE") != "" && get("JOB_COMPLETION_INDEX") != "" && get("JOB_COMPLETIONS") == "" {
		return readRank(get, "JOB_COMPLETION_INDEX", "WORLD_SIZE")
	}
	for _, l := range launchers {
		if get(l.rank) != "" || get(l.world) != "" {
			return readRank(get, l.rank, l.world)
		}
	}
	return 0, 1, nil
}

func readRank(get func(name string) string, rankName, worldName string) (rank, world int, err error) {
	if rank, err = readNumber(get, rankName, worldName); err != nil {
		return 0, 0, err
	}
	if world, err = readNumber(get, worldName, rankName); err != nil {
		return 0, 0, err
	}
	if world < 1 {
		return 0, 0, fmt.Errorf("sampler: environment: %s=%d: want 1 or more", worldName, world)
	}
	if rank < 0 || rank >= world {
		return 0, 0, fmt.Errorf("sampler: environment: %s=%d with %s=%d: want a rank from 0 to %d", rankName, rank, worldName, world, world-1)
	}
	return rank, world, nil
}

func readNumber(get func(name string) string, name, beside string) (int, error) {
	text := get(name)
	if text == "" {
		return 0, fmt.Errorf("sampler: environment: %s is not set, but %s is", name, beside)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("sampler: environment: %s=%q: want a whole number: %w", name, text, err)
	}
	return n, nil
}
