package sampler

import (
	"fmt"
	"testing"
)

func TestFromEnv(t *testing.T) {
	type env map[string]string
	for _, c := range []struct {
		env  env
		want string // rank of world, or the error
	}{
		{env{}, "0 of 1"},
		{env{"RANK": "2", "WORLD_SIZE": "4"}, "2 of 4"},
		{env{"SLURM_PROCID": "7", "SLURM_NTASKS": "8"}, "7 of 8"},
		{env{"PMI_RANK": "2", "PMI_SIZE": "3"}, "2 of 3"},
		{env{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, "0 of 1"},
		{env{"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "3"}, "1 of 3"},
		{env{"JOB_COMPLETION_INDEX": "1", "WORLD_SIZE": "3"}, "1 of 3"},
		// Precedence: a launcher inside a job of another one.
		{env{"RANK": "2", "WORLD_SIZE": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "2 of 4"},
		{env{"RANK": "2", "WORLD_SIZE": "4", "JOB_COMPLETION_INDEX": "0", "JOB_COMPLETIONS": "1"}, "2 of 4"},
		{env{"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "6", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "5 of 6"},
		{env{"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "JOB_COMPLETION_INDEX": "0"}, "1 of 2"},
		{env{"PMI_RANK": "5", "PMI_SIZE": "6", "SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}, "5 of 6"},
		{env{"RANK": "", "WORLD_SIZE": "", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, "1 of 2"},
		// A launcher that another one has started counts more processes, or in
		// another way.
		{env{"RANK": "5", "WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, "5 of 8"},
		{env{"RANK": "1", "WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, "1 of 2"},
		{env{"RANK": "1", "WORLD_SIZE": "2", "PMI_RANK": "0", "PMI_SIZE": "2", "TORCHELASTIC_RUN_ID": "x"}, "1 of 2"},
		{env{"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, "1 of 2"}, // in a batch script
		// Left over in the shell from which mpirun or srun was started.
		{
			env{"RANK": "0", "WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"},
			"sampler: environment: RANK=0 of WORLD_SIZE=1 contradicts OMPI_COMM_WORLD_RANK=2 of OMPI_COMM_WORLD_SIZE=4: unset one pair",
		},
		{
			env{"RANK": "0", "WORLD_SIZE": "4", "PMI_RANK": "2", "PMI_SIZE": "4"},
			"sampler: environment: RANK=0 of WORLD_SIZE=4 contradicts PMI_RANK=2 of PMI_SIZE=4: unset one pair",
		},
		{
			env{"RANK": "0", "WORLD_SIZE": "4", "SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_STEP_ID": "0"},
			"sampler: environment: RANK=0 of WORLD_SIZE=4 contradicts SLURM_PROCID=2 of SLURM_NTASKS=4: unset one pair",
		},
		{env{"RANK": "0", "WORLD_SIZE": "4", "PMI_RANK": "x", "PMI_SIZE": "4"}, `sampler: environment: PMI_RANK="x": want a whole number: strconv.Atoi: parsing "x": invalid syntax`},
		// Half set.
		{env{"PMI_SIZE": "2"}, "sampler: environment: PMI_RANK is not set, but PMI_SIZE is"},
		{env{"RANK": "2"}, "sampler: environment: WORLD_SIZE is not set, but RANK is"},
		{env{"WORLD_SIZE": "2"}, "sampler: environment: RANK is not set, but WORLD_SIZE is"},
		{env{"RANK": "2", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, "sampler: environment: WORLD_SIZE is not set, but RANK is"},
		{env{"SLURM_NTASKS": "2"}, "sampler: environment: SLURM_PROCID is not set, but SLURM_NTASKS is"},
		{env{"JOB_COMPLETION_INDEX": "2"}, "sampler: environment: JOB_COMPLETIONS is not set, but JOB_COMPLETION_INDEX is"},
		// Malformed or inconsistent.
		{env{"RANK": "two", "WORLD_SIZE": "4"}, `sampler: environment: RANK="two": want a whole number: strconv.Atoi: parsing "two": invalid syntax`},
		{env{"RANK": "1", "WORLD_SIZE": "4.0"}, `sampler: environment: WORLD_SIZE="4.0": want a whole number: strconv.Atoi: parsing "4.0": invalid syntax`},
		{env{"RANK": "4", "WORLD_SIZE": "4"}, "sampler: environment: RANK=4 with WORLD_SIZE=4: want a rank from 0 to 3"},
		{env{"RANK": "-1", "WORLD_SIZE": "4"}, "sampler: environment: RANK=-1 with WORLD_SIZE=4: want a rank from 0 to 3"},
		{env{"RANK": "0", "WORLD_SIZE": "0"}, "sampler: environment: WORLD_SIZE=0: want 1 or more"},
	} {
		rank, world, err := fromEnv(func(name string) string { return c.env[name] })
		got := fmt.Sprintf("%d of %d", rank, world)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.env, got, c.want)
		}
	}
}

func TestLocalRankFromEnv(t *testing.T) {
	type env map[string]string
	for _, c := range []struct {
		env  env
		want string // the rank, or the error
	}{
		{env{}, "0"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "2", "LOCAL_WORLD_SIZE": "4"}, "2"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "2"}, "2"},
		{env{"RANK": "0", "WORLD_SIZE": "1"}, "0"},
		{env{"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_RANK": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, "3"},
		{env{"PMI_RANK": "6", "PMI_SIZE": "8", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}, "1"},
		{env{"SLURM_PROCID": "6", "SLURM_NTASKS": "8", "SLURM_LOCALID": "3"}, "3"},
		{env{"JOB_COMPLETION_INDEX": "2", "JOB_COMPLETIONS": "3"}, "0"},
		// That of the launcher that decides.
		{env{"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_RANK": "3", "SLURM_LOCALID": "0"}, "3"},
		// Missing, malformed, contradictory.
		{env{"RANK": "6", "WORLD_SIZE": "8"}, "sampler: environment: LOCAL_RANK is not set, but RANK is"},
		{env{"RANK": "6"}, "sampler: environment: WORLD_SIZE is not set, but RANK is"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "a"}, `sampler: environment: LOCAL_RANK="a": want a whole number: strconv.Atoi: parsing "a": invalid syntax`},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "8"}, "sampler: environment: LOCAL_RANK=8 with WORLD_SIZE of 8: want a rank from 0 to 7"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "-1"}, "sampler: environment: LOCAL_RANK=-1 with WORLD_SIZE of 8: want a rank from 0 to 7"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "4", "LOCAL_WORLD_SIZE": "4"}, "sampler: environment: LOCAL_RANK=4 with LOCAL_WORLD_SIZE of 4: want a rank from 0 to 3"},
		{env{"RANK": "6", "WORLD_SIZE": "8", "LOCAL_RANK": "4", "LOCAL_WORLD_SIZE": "9"}, "sampler: environment: LOCAL_WORLD_SIZE=9 with a world size of 8: want one from 1 to 8"},
		{env{"LOCAL_RANK": "0"}, "0"},
		{env{"LOCAL_RANK": "3"}, "sampler: environment: LOCAL_RANK=3 with WORLD_SIZE of 1: want a rank from 0 to 0"},
	} {
		rank, err := localFromEnv(func(name string) string { return c.env[name] })
		got := fmt.Sprint(rank)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.env, got, c.want)
		}
	}
}
