package live

import (
	"os"
	"strings"
	"testing"
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
	s := screen{w: &text, terminal: true}
	s.draw([]report{made()})
	const want = "\r\x1b[J\x1b[?7l\x1b[1mtrain\x1b[0m  for 1m2.3s  ▁▅█\n" +
		"123 samples/s  1280 samples in 10 batches, 2 dropped\n" +
		"loop waits 25%  workers busy 50%  3 of 5 slabs ready\n" +
		"read 25%  decode 75%\n" +
		"  loop         12.5ms  running the loop body\n" +
		"  worker 0      3.1ms  decode  cat.jpg\n" +
		"  worker 1  \n" +
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
	const line = "train: 123 samples/s, 1280 samples in 10 batches, the loop waits 25%, 3 of 5 slabs ready, 2 dropped; the loop body is the limit\n"
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
	if want := "200 read, 2 between calls, 1 waiting for memory"; c.Summary != want {
		t.Errorf("got %q, want %q", c.Summary, want)
	}
	if len(c.Rows) != 16 || c.Rows[0].Worker != -1 || c.Rows[1].Worker != 199 || c.Rows[15].Worker != 185 {
		t.Errorf("got %+v", c.Rows)
	}
	if got := full(report{Working: working}); strings.Count(got, "\n") > 15 || !strings.Contains(got, "and 196 more; all: 200 read") {
		t.Errorf("got %s", got)
	}
}

func TestSentencesAreWrapped(t *testing.T) {
	const word = "0123456789012345678901234567890123456789" // 40 letters
	for text, want := range map[string]string{
		"":                          "\n",
		"a  b":                      "a b\n",
		word + " " + word[:38]:      word + " " + word[:38] + "\n",
		word + " " + word:           word + "\n" + word + "\n",
		word + word + word + " and": word + word + word + "\nand\n",
	} {
		if got := wrapped(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
