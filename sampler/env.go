package sampler

import (
	"fmt"
	"os"
	"strconv"
)

// FromEnv reads the rank of this process and the world size from the environment variables of
// the launcher that started it. The first of these whose rank or world size is set decides;
// if none is, the rank is 0 and the world size 1.
//
//   - torchrun and launchers that set the same variables: RANK and WORLD_SIZE
//   - Open MPI: OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE
//   - MPICH and Intel MPI: PMI_RANK and PMI_SIZE
//   - Slurm: SLURM_PROCID and SLURM_NTASKS
//   - a Kubernetes Indexed Job: JOB_COMPLETION_INDEX, which Kubernetes sets, and
//     JOB_COMPLETIONS or WORLD_SIZE, which the pod template must set.
//
// It is an error, which names the variable, if only one of rank and world size is set, if one
// is not a whole number or the rank not below the world size, or if RANK and WORLD_SIZE, left
// over in a shell, contradict what mpirun or srun says.
func FromEnv() (rank, world int, err error) { return fromEnv(os.Getenv) }

// LocalRankFromEnv reads the local rank: the rank of this process among the
// processes on its machine. Programs use it to choose a device. The variable is
// LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID or SLURM_LOCALID,
// depending on the launcher that decides for [FromEnv].
//
// The local rank is 0 in a Kubernetes Indexed Job, because every pod has its own
// devices. It is also 0 if the world size is 1 and the variable is not set.
//
// The errors are those of FromEnv. It is also an error if the variable is not set
// and the world size is above 1, or if the local rank is not below the world size.
// If the launcher sets the number of ranks on this machine, the local rank must be
// below that too.
func LocalRankFromEnv() (int, error) { return localFromEnv(os.Getenv) }

// A launcher sets variables for the processes that it starts.
type launcher struct {
	rank, world   string
	local, locals string // rank and number of ranks on this machine; empty if it sets none
}

var (
	torchrun   = launcher{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
	openMPI    = launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"}
	mpich      = launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"}
	slurm      = launcher{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""}
	kubernetes = launcher{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "", ""}
)

// deciding is the launcher whose variables count.
func deciding(get func(name string) string) (l launcher, found bool) {
	if get(torchrun.rank) == "" && get(torchrun.world) != "" && get(kubernetes.rank) != "" && get(kubernetes.world) == "" {
		l = kubernetes
		l.world = torchrun.world
		return l, true
	}
	for _, l := range []launcher{torchrun, openMPI, mpich, slurm, kubernetes} {
		if get(l.rank) != "" || get(l.world) != "" {
			return l, true
		}
	}
	return launcher{}, false
}

func fromEnv(get func(name string) string) (rank, world int, err error) {
	l, found := deciding(get)
	if !found {
		return 0, 1, nil
	}
	rank, world, err = l.read(get)
	if err != nil {
		return 0, 0, err
	}
	if l == torchrun && get("TORCHELASTIC_RUN_ID") == "" { // torchrun numbers its processes itself
		for _, other := range []launcher{openMPI, mpich, slurm} {
			if other == slurm && get("SLURM_STEP_ID") == "" { // not started by srun
				continue
			}
			if err := l.contradicted(get, rank, world, other); err != nil {
				return 0, 0, err
			}
		}
	}
	return rank, world, nil
}

// read returns the rank and world size that l has set.
func (l launcher) read(get func(name string) string) (rank, world int, err error) {
	if rank, err = readNumber(get, l.rank, l.world); err != nil {
		return 0, 0, err
	}
	if world, err = readNumber(get, l.world, l.rank); err != nil {
		return 0, 0, err
	}
	if world < 1 {
		return 0, 0, fmt.Errorf("sampler: environment: %s=%d: want 1 or more", l.world, world)
	}
	if rank < 0 || rank >= world {
		return 0, 0, fmt.Errorf("sampler: environment: %s=%d with %s=%d: want a rank from 0 to %d", l.rank, rank, l.world, world, world-1)
	}
	return rank, world, nil
}

// contradicted reports an error if the variables of another launcher contradict the
// rank and world size that l has set.
func (l launcher) contradicted(get func(name string) string, rank, world int, other launcher) error {
	if get(other.rank) == "" || get(other.world) == "" {
		return nil
	}
	itsRank, itsWorld, err := other.read(get)
	if err != nil {
		return err
	}
	if itsWorld > world || itsWorld == world && itsRank != rank {
		return fmt.Errorf("sampler: environment: %s=%d of %s=%d contradicts %s=%d of %s=%d: unset one pair",
			l.rank, rank, l.world, world, other.rank, itsRank, other.world, itsWorld)
	}
	return nil
}

func localFromEnv(get func(name string) string) (int, error) {
	_, world, err := fromEnv(get)
	if err != nil {
		return 0, err
	}
	l, found := deciding(get)
	if !found {
		l = torchrun // LOCAL_RANK alone may contradict that there is one rank
	}
	if l.local == "" || get(l.local) == "" && world == 1 {
		return 0, nil
	}
	local, err := readNumber(get, l.local, l.rank)
	if err != nil {
		return 0, err
	}
	limit, of := world, l.world
	if get(l.locals) != "" {
		locals, err := readNumber(get, l.locals, l.local)
		if err != nil {
			return 0, err
		}
		if locals < 1 || locals > world {
			return 0, fmt.Errorf("sampler: environment: %s=%d with a world size of %d: want one from 1 to %d", l.locals, locals, world, world)
		}
		limit, of = locals, l.locals
	}
	if local < 0 || local >= limit {
		return 0, fmt.Errorf("sampler: environment: %s=%d with %s of %d: want a rank from 0 to %d", l.local, local, of, limit, limit-1)
	}
	return local, nil
}

func readNumber(get func(name string) string, name, other string) (int, error) {
	text := get(name)
	if text == "" {
		return 0, fmt.Errorf("sampler: environment: %s is not set, but %s is", name, other)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("sampler: environment: %s=%q: want a whole number: %w", name, text, err)
	}
	return n, nil
}
