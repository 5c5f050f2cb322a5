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
		{env{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, "0 of 1"},
		{env{"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "3"}, "1 of 3"},
		{env{"JOB_COMPLETION_INDEX": "1", "WORLD_SIZE": "3"}, "1 of 3"},
		// Precedence: a launcher inside a job of another one.
		{env{"RANK": "2", "WORLD_SIZE": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "2 of 4"},
		{env{"RANK": "2", "WORLD_SIZE": "4", "JOB_COMPLETION_INDEX": "0", "JOB_COMPLETIONS": "1"}, "2 of 4"},
		{env{"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "6", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "5 of 6"},
		{env{"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "JOB_COMPLETION_INDEX": "0"}, "1 of 2"},
		{env{"RANK": "", "WORLD_SIZE": "", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, "1 of 2"},
		// Half set.
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
