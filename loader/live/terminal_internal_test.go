package live

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
)

func made() report {
	return report{
		Name: "train", Seconds: 62.3, Verdict: "the loop body is the limit", Samples: 1280, Batches: 10, Dropped: 2, Ready: 3, Slabs: 5,
		Recent:  rates{Samples: 123.4, Wait: 0.25, Busy: 0.5},
		Stages:  []stage{{"read", 0.25, 0.001}, {"decode", 0.75, 0.003}},
		Working: []activity{{Worker: -1, Doing: "running the loop body", Index: -1, For: 0.0125}, {Worker: 0, Doing: "placing a sample", Index: 7, Sample: "cat.jpg", Stage: "decode", For: 0.0031}, {Worker: 1, Index: -1}},
		Slowest: []sample{{7, "cat.jpg", 0, 3, 0.2, "decode"}},
		History: []moment{{2, 0, 0}, {1, 50, 0.5}, {0, 100, 1}},
	}
}

func TestTheTerminalIsDrawnOver(t *testing.T) {
	var text strings.Builder
	s := screen{w: &text, terminal: true, size: func() (int, int) { return 24, 80 }}
	s.draw([]report{made()})
	const want = "\r\x1b[J\x1b[?7l\x1b[1mtrain\x1b[0m  for 1m2.3s  ▁▅█\n" +
		"123 samples/s  1,280 samples in 10 batches, 2 dropped\n" +
		"loop waits 25%  workers busy 50%  3 of 5 batches ready\n" +
		"read 25%  decode 75%\n" +
		"  loop         12.5ms  running the loop body\n" +
		"  worker 0      3.1ms  decode  cat.jpg\n" +
		"  worker 1             between samples\n" +
		"  slow: cat.jpg 200ms decode\n" +
		"the loop body is the limit\n\x1b[?7h"
	if got := text.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	text.Reset()
	s.draw([]report{made()})
	if got := text.String(); got != "\x1b[9A"+want {
		t.Errorf("got  %q\nwant %q", got, "\x1b[9A"+want)
	}
}

func TestFilesGetALinePerLoader(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := screen{w: f, terminal: isTerminal(f)}
	s.draw([]report{made(), made()})
	got, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	const line = "train: 123 samples/s, 1,280 samples in 10 batches, the loop waits 25%, 3 of 5 batches ready, 2 dropped; the loop body is the limit\n"
	if string(got) != line+line {
		t.Errorf("got %q, want %q", got, line+line)
	}
}

func TestOfManyWorkersTheLongestCallsAreShown(t *testing.T) {
	working := []activity{{Worker: -1, Doing: "waiting for a batch", For: 1}}
	for i := range 200 {
		working = append(working, activity{Worker: i, Doing: "placing a sample", Index: i, Stage: "read", For: float64(i), calls: true})
	}
	working = append(working, activity{Worker: 201}, activity{Worker: 202})
	working = append(working, activity{Worker: 200, Doing: "waiting for memory", Index: -1, For: 1000})
	c := shown(working)
	if want := "203 workers: 200 in read, 2 between samples, 1 waiting for memory"; c.Summary != want {
		t.Errorf("got %q, want %q", c.Summary, want)
	}
	if len(c.Rows) != 16 || c.Rows[0].Worker != -1 || c.Rows[1].Worker != 199 || c.Rows[15].Worker != 185 {
		t.Errorf("got %+v", c.Rows)
	}
	if got := texts(full(report{Working: working}, mostWorking, mostSlow, 80)); len(got) > 15 || !slices.Contains(got, "  and 196 more; 203 workers: 200 in read, 2 between samples, 1 waiting for memory") {
		t.Errorf("got %q", got)
	}
}

func TestOneAndSeveralReadAsThose(t *testing.T) {
	working := []activity{
		{Worker: -1, Doing: "running the loop body"}, {Worker: 0, Doing: "placing a sample"}, {Worker: 1, Doing: "placing a sample"},
		{Worker: 2, Doing: "closing its Reader"}, {Worker: 3, Doing: "closing its Reader"}, {Worker: 4, Doing: "drawing a batch"},
	}
	if got, want := shown(working).Summary, "5 workers: 2 placing samples, 2 closing their Readers, 1 drawing a batch"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := shown(working[:2]).Summary, "1 worker: 1 placing a sample"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := shown(working[:1]).Summary; got != "" {
		t.Errorf("without workers: got %q", got)
	}
	for i := range 6 {
		working = append(working, activity{Worker: 5 + i, Stage: string(rune('a' + i))})
	}
	if got, want := shown(working).Summary, "1 drawing a batch, 1 in a, 1 in b, and others"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r := report{Name: "train", Samples: 1, Batches: 1, Dropped: 1, Workers: 1, Working: working[:2]}
	var text strings.Builder
	if err := page.Execute(&text, map[string]any{"Reports": []report{r}, "Refresh": 0}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"busy time of 1 worker<", "<b>1</b><span>sample in 1 batch<", "<b>1</b><span>sample dropped<", "1 worker: 1 placing a sample<"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, &text)
		}
	}
	if got := number(7364.2); got != "7,364" {
		t.Errorf("got %s", got)
	}
	for n, want := range map[any]string{0: "0", int64(999): "999", 1000: "1,000", int64(12_811_670): "12,811,670"} {
		if got := thousands(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestStagesOfThePageAddUp(t *testing.T) {
	for _, c := range []struct {
		stages []stage
		want   string
	}{
		{[]stage{{"read", 0.25, 0.001}, {"decode", 0.5, 0.003}}, `<td>in none<td><meter min="0" max="1" value="0.25"></meter><td class="n">25%<`},
		{[]stage{{"read", 0.25, 0.001}, {"decode", 0.75, 0.003}}, ""},
	} {
		var text strings.Builder
		if err := page.Execute(&text, map[string]any{"Reports": []report{{Stages: c.stages}}, "Refresh": 0}); err != nil {
			t.Fatal(err)
		}
		if c.want == "" && strings.Contains(text.String(), "in none") || !strings.Contains(text.String(), c.want) {
			t.Errorf("got\n%s", &text)
		}
	}
}

func TestSentencesAreWrapped(t *testing.T) {
	const word = "0123456789012345678901234567890123456789" // 40 letters
	for text, want := range map[string][]string{
		"":                          {""},
		"a  b":                      {"a b"},
		word + " " + word[:38]:      {word + " " + word[:38]},
		word + " " + word:           {word, word},
		word + word + word + " and": {word + word + word, "and"},
	} {
		if got := wrapped(text, 200); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got, want := wrapped("in a narrow terminal", 11), []string{"in a narrow", "terminal"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func texts(rows []row) (all []string) {
	for _, r := range rows {
		all = append(all, r.text)
	}
	return all
}

// TestADrawingFitsTheTerminal of any height, because what scrolls out of it cannot be drawn
// over.
func TestADrawingFitsTheTerminal(t *testing.T) {
	r := made()
	r.Tuning = "2 workers, 5 batches in flight: a worker per processor to begin with"
	for _, loaders := range []int{1, 2, 7} {
		reports := slices.Repeat([]report{r}, loaders)
		for height := range 60 {
			var text strings.Builder
			s := screen{w: &text, terminal: true, size: func() (int, int) { return height, 80 }}
			s.draw(reports)
			if n := strings.Count(text.String(), "\n"); n > max(0, height-1) || n < min(height-1, 10*loaders)-(loaders-1) || n != s.lines {
				t.Errorf("%d loaders in %d rows: got %d lines", loaders, height, n)
			}
		}
	}
	for height, want := range map[int][]string{
		4: {"train", "123 samples/s", "the loop body is the limit"},
		8: {"train", "123 samples/s", "loop waits 25%", "read 25%", "  2 workers: 1 in decode, 1 between samples", "the loop body is the limit", "Auto: 2 workers"},
		9: {"train", "123 samples/s", "loop waits 25%", "read 25%", "  loop ", "  and 2 more; 2 workers: 1 in decode", "the loop body is the limit", "Auto: 2 workers"},
	} {
		got := texts(fitting([]report{r}, height-1, 79))
		for i, begin := range want {
			if len(got) != len(want) || !strings.HasPrefix(strings.TrimPrefix(got[i], "\x1b[1m"), begin) {
				t.Fatalf("%d rows: got %q, want %q", height, got, want)
			}
		}
	}
}

func TestTheSizeIsThatOfTheEnvironmentOrUsual(t *testing.T) {
	t.Setenv("LINES", "")
	t.Setenv("COLUMNS", "")
	if rows, columns := terminalSize(new(strings.Builder)); rows != 24 || columns != 80 {
		t.Errorf("got %d rows of %d, want 24 of 80", rows, columns)
	}
	t.Setenv("LINES", "8")
	t.Setenv("COLUMNS", "-3")
	if rows, columns := terminalSize(os.Stderr); rows < 1 || columns < 1 {
		t.Errorf("got %d rows of %d", rows, columns)
	}
	if rows, columns := terminalSize(new(strings.Builder)); rows != 8 || columns != 80 {
		t.Errorf("got %d rows of %d, want 8 of 80", rows, columns)
	}
}

// TestBusyIsOfTheWorkersThatThereWere while Auto took more and more of them.
func TestBusyIsOfTheWorkersThatThereWere(t *testing.T) {
	begun := time.Now()
	at := func(second, workers int, busy time.Duration) point {
		return point{begun.Add(time.Duration(second) * time.Second), loader.Stats{Workers: workers, Work: loader.Work{Busy: busy, MemoryWait: busy / 4}}}
	}
	got := ratesOf([]point{at(0, 2, 0), at(1, 2, 2*time.Second), at(2, 6, 6*time.Second), at(4, 256, 268*time.Second)})
	if got.Busy != 1 || got.MemoryWait != 0.25 {
		t.Errorf("got %v busy and %v waiting for memory, want 1 and 0.25", got.Busy, got.MemoryWait)
	}
}

func TestFailuresAreAtLeastThoseWhoseErrorsAreKept(t *testing.T) {
	errs := []*loader.SampleError{{Index: 3}, {Index: 4}, {Index: 4}}
	for dropped, more := range map[int64]bool{3: false, 4: true} {
		got := failures(errs, dropped)
		if len(got) != 2 || got[0].Index != 4 || got[0].Times != 2 || got[0].More != more || got[1].More != more {
			t.Errorf("%d dropped: got %+v", dropped, got)
		}
		var text strings.Builder
		if err := page.Execute(&text, map[string]any{"Reports": []report{{Failed: got}}, "Refresh": 0}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), "at least 2<") != more {
			t.Errorf("%d dropped: got\n%s", dropped, text.String())
		}
	}
}
