package live

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Terminal shows the view in a terminal, and draws it again after every interval, until
// stop is called. If w is not a terminal, it writes a line for every loader instead. stop
// waits for the last drawing. Nothing else should write to the terminal meanwhile.
func (v *View) Terminal(w io.Writer, interval time.Duration) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	s := screen{w: w, terminal: isTerminal(w)}
	go func() {
		defer close(over)
		ticker := time.NewTicker(max(interval, 10*time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.draw(v.reports())
			case <-done:
				s.draw(v.reports())
				return
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(done) })
		<-over
	}
}

// isTerminal reports whether w understands escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// A screen is where reports are drawn.
type screen struct {
	w        io.Writer
	terminal bool
	lines    int // of the last drawing
}

// draw writes the reports, in a terminal over the last ones. Errors are ignored, because
// nothing else depends on the view.
func (s *screen) draw(reports []report) {
	var b strings.Builder
	if !s.terminal {
		for _, r := range reports {
			b.WriteString(short(r) + "\n")
		}
		io.WriteString(s.w, b.String())
		return
	}
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	b.WriteString("\r\x1b[J\x1b[?7l") // clear what follows, and cut long lines
	text := ""
	for _, r := range reports {
		text += full(r)
	}
	b.WriteString(text + "\x1b[?7h")
	s.lines = strings.Count(text, "\n")
	io.WriteString(s.w, b.String())
}

// short is a report in one line.
func short(r report) string {
	text := fmt.Sprintf("%s: %s samples/s, %d samples in %s, the loop waits %s, %d of %d slabs ready",
		plain(r.Name), number(r.Recent.Samples), r.Samples, count(r.Batches, "batch", "batches"), percent(r.Recent.Wait), r.Ready, r.Slabs)
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %d dropped", r.Dropped)
	}
	return text + "; " + clean(r.Verdict)
}

// terminalRows is the number of goroutines, and of slow samples, that a terminal shows.
const terminalRows, terminalSlowest = 8, 3

// full is a report in some lines.
func full(r report) string {
	var b strings.Builder
	state := "for"
	if r.Closed {
		state = "closed after"
	}
	fmt.Fprintf(&b, "\x1b[1m%s\x1b[0m  %s %s  %s\n", plain(r.Name), state, seconds(r.Seconds), spark(r.History))
	fmt.Fprintf(&b, "%s samples/s  %d samples in %s, %d dropped\n", number(r.Recent.Samples), r.Samples, count(r.Batches, "batch", "batches"), r.Dropped)
	fmt.Fprintf(&b, "loop waits %s  workers busy %s  %d of %d slabs ready\n", percent(r.Recent.Wait), percent(r.Recent.Busy), r.Ready, r.Slabs)
	for i, s := range r.Stages {
		if i > 0 {
			b.WriteString("  ")
		}
		fmt.Fprintf(&b, "%s %s", plain(s.Name), percent(s.Share))
	}
	if len(r.Stages) > 0 {
		b.WriteString("\n")
	}
	c := shown(r.Working)
	for _, a := range c.Rows[:min(len(c.Rows), terminalRows)] {
		fmt.Fprintf(&b, "  %s\n", a)
	}
	if more := len(r.Working) - terminalRows; more > 0 {
		fmt.Fprintf(&b, "  and %d more; all: %s\n", more, c.Summary)
	}
	for _, s := range r.Slowest[:min(len(r.Slowest), terminalSlowest)] {
		fmt.Fprintf(&b, "  slow: %s %s %s\n", plain(title(s.Index, s.Name)), seconds(s.Took), plain(s.Stage))
	}
	b.WriteString(wrapped(clean(r.Verdict)))
	if r.Tuning != "" {
		b.WriteString(wrapped("Auto: " + clean(r.Tuning)))
	}
	return b.String()
}

// columns is the width to which sentences are wrapped.
const columns = 79

// wrapped breaks a sentence into lines.
func wrapped(sentence string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(sentence) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > columns:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}

// String is what a goroutine does, in one line.
func (a activity) String() string {
	who := "loop"
	if a.Worker >= 0 {
		who = fmt.Sprintf("worker %d", a.Worker)
	}
	text := fmt.Sprintf("%-10s", who)
	if a.Doing == "" {
		return text
	}
	text += fmt.Sprintf(" %8s  ", seconds(a.For))
	if a.Index < 0 {
		return text + a.Doing
	}
	if a.Stage != "" {
		text += plain(a.Stage) + "  "
	}
	return text + plain(title(a.Index, a.Sample))
}

// spark is the samples per second of the last moments, the highest one as a full block.
func spark(history []moment) string {
	history = history[max(0, len(history)-30):]
	top := peak(history)
	var b strings.Builder
	for _, m := range history {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[int(7*m.Samples/max(top, 1e-9)+0.5)])
	}
	return b.String()
}
