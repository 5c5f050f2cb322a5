package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
)

// slicesOf selects all slices with their threads.
const slicesOf = `from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) `

// questions are in SQL. The last answer is not to a query: it is the tracks that are shown.
var questions = []string{
	`select name, value from stats where value > 0 and severity in ('error', 'data_loss')`,
	`select name from process where name glob 'penstock *'`,
	`select name from thread where name = 'loop' or name glob 'worker *' order by tid`,
	`select count(*) from slice where dur < 1 and name not glob 'epoch *'`,
	`select thread.name, count(*), sum(dur) ` + slicesOf + `where slice.name glob '*.jpg' group by 1 order by 1`,
	`select thread.name, slice.name, count(*), sum(dur) ` + slicesOf + `where slice.name in ('read', 'decode') group by 1, 2 order by 1, 2`,
	`select thread.name, slice.name, count(*) ` + slicesOf + `where slice.name in ('draw', 'finish', 'wait') group by 1, 2 order by 1, 2`,
	`select slice.name, extract_arg(arg_set_id, 'args.epoch'), extract_arg(arg_set_id, 'args.samples') ` + slicesOf + `where thread.name = 'loop' and slice.name glob 'body*' order by ts`,
	`select distinct case when parent.name glob '*.jpg' then 'sample' else rtrim(parent.name, '0123456789') end, case when s.name glob '*.jpg' then 'sample' else s.name end from slice s join slice parent on s.parent_id = parent.id order by 1, 2`,
	`select name, extract_arg(arg_set_id, 'args.error') from slice where extract_arg(arg_set_id, 'args.error') is not null order by ts`,
	`select slice.name, slice.dur ` + slicesOf + `where slice.name glob 'epoch *' order by ts`,
	`select name, sum(samples) from (select rtrim(name, '0123456789') as name, extract_arg(arg_set_id, 'args.samples') as samples from slice where name glob 'batch *' or name glob 'help batch *') group by 1 order by 1`,
	`select counter_track.name, min(value), max(value) > 0 from counter join counter_track on counter.track_id = counter_track.id group by 1 order by 1`,
}

// A tally is what a loader did, in the words of the answers.
type tally struct {
	mu       sync.Mutex
	samples  map[string][2]int64 // by worker: number and nanoseconds
	stages   map[string][2]int64 // by worker and stage
	batches  map[string]int64    // by thread and what was done for them
	helped   map[string]int64    // number of samples, by who has begun the batch
	bodies   []string
	failures []string
	epochs   []string
}

func (l *tally) hooks() loader.Trace {
	worker := func(id int) string { return fmt.Sprintf("worker %d", id) }
	*l = tally{samples: map[string][2]int64{}, stages: map[string][2]int64{}, batches: map[string]int64{}, helped: map[string]int64{}}
	count := func(what string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.batches[what]++
	}
	return loader.Trace{
		BatchBegun: func(b loader.BatchInfo) { count(worker(b.Worker) + " | draw") },
		BatchReady: func(b loader.BatchInfo, _ time.Duration) { count(worker(b.Finisher) + " | finish") },
		BatchDelivered: func(b loader.BatchInfo, _ time.Duration) {
			count("loop | wait")
			l.bodies = append(l.bodies, fmt.Sprintf("body of batch %d | %d | %d", b.Batch, b.Epoch, b.Samples))
			if b.Batch == 0 {
				l.epochs = append(l.epochs, fmt.Sprintf("epoch %d | 0", b.Epoch))
			}
		},
		SampleDone: func(s loader.SampleInfo) {
			l.mu.Lock()
			defer l.mu.Unlock()
			who := worker(s.Worker)
			l.samples[who] = plus(l.samples[who], s.Took)
			for _, stage := range s.Stages {
				l.stages[who+" | "+stage.Name] = plus(l.stages[who+" | "+stage.Name], stage.Took)
			}
			group := "batch "
			if s.Worker != s.Batch.Worker {
				group = "help batch "
			}
			l.helped[group]++
			if s.Err != nil {
				l.failures = append(l.failures, s.Name()+" | "+s.Err.Error())
			}
		},
	}
}

func plus(sum [2]int64, took time.Duration) [2]int64 {
	return [2]int64{sum[0] + 1, sum[1] + int64(took)}
}

// lines are the entries of a map, in order.
func lines[V any](m map[string]V, text func(V) string) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+" | "+text(m[key]))
	}
	return all
}

func both(v [2]int64) string { return fmt.Sprintf("%d | %d", v[0], v[1]) }

func one(n int64) string { return fmt.Sprint(n) }

// TestPerfettoShowsWhatTheLoaderDid opens a file, and the same file without its end, in
// Perfetto's own page in Chromium. PENSTOCK_PERFETTO names the folder of the page.
func TestPerfettoShowsWhatTheLoaderDid(t *testing.T) {
	folder, browser := os.Getenv("PENSTOCK_PERFETTO"), chromium()
	if folder == "" || browser == "" {
		t.Skip("SKIPPED: no timeline is opened in Perfetto: PENSTOCK_PERFETTO does not name the folder of its page, or there is no Chromium")
	}
	did, file := made(t)
	cut := bytes.TrimSuffix(file, []byte("\n]\n"))
	if len(cut) == len(file) {
		t.Fatal("the file has no end")
	}
	begun := time.Now()
	for i, answers := range ask(t, browser, folder, file, cut) {
		check(t, []string{"whole", "without its end"}[i], did, answers)
	}
	t.Logf("Perfetto took %v", time.Since(begun).Round(time.Millisecond))
}

// made loads samples that take some time, and returns what was done, and the file.
func made(t *testing.T) (*tally, []byte) {
	t.Helper()
	did := new(tally)
	ds := samples(300, func(i int, dst dataset.Slot) error {
		spin := func(d time.Duration) {
			for begun := time.Now(); time.Since(begun) < d; {
			}
		}
		dst.Stage(dataset.StageRead)
		spin(time.Duration(5+i%20) * time.Microsecond)
		dst.Stage(dataset.StageDecode)
		spin(time.Duration(10+i%70) * time.Microsecond)
		if i%100 == 9 {
			return errors.New(`no "such" <luck>` + "\n")
		}
		return nil
	})
	ds = datatest.Named(ds, func(i int) string { return fmt.Sprintf("дир/\"%d\"\\\x01😀.jpg", i) })
	file := record(t, ds, 2, func(*loader.Batch) bool { time.Sleep(100 * time.Microsecond); return true },
		loader.Workers(3), loader.BatchSize(16), loader.Skip(loader.NoLimit), loader.Observe(did.hooks()))
	return did, file
}

func check(t *testing.T, which string, did *tally, answers [][]string) {
	t.Helper()
	want := [][]string{
		nil,
		{`penstock loader of x int64 ()`},
		{"loop", "worker 0", "worker 1", "worker 2"},
		{"0"},
		lines(did.samples, both),
		lines(did.stages, both),
		lines(did.batches, one),
		did.bodies,
		{"batch  | sample", "help batch  | sample", "sample | decode", "sample | read"},
		did.failures,
		did.epochs,
		lines(did.helped, one),
		{"ready batches | 0 | 1", "slabs in use | 0 | 1"},
		{"loop 1", fmt.Sprintf("penstock loader of x int64 () %d", os.Getpid()), "ready batches", "slabs in use", "worker 0 2", "worker 1 3", "worker 2 4"},
	}
	for i, got := range answers {
		if !slices.Equal(got, want[i]) {
			query := "the tracks that are shown"
			if i < len(questions) {
				query = questions[i]
			}
			t.Errorf("the file %s: %s:\ngot\n%s\nwant\n%s", which, query, strings.Join(got, "\n"), strings.Join(want[i], "\n"))
		}
	}
}
