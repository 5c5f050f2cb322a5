package live

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Terminal shows the view in a terminal, and draws it again after every interval, until
// stop is called. What does not fit the terminal's height is left out: first slow samples,
// then what workers do, and the name and the bottleneck last. Where the system does not tell
// the height, it is $LINES or 24. If w is not a terminal, it writes a line for every loader
// instead. stop waits for the last drawing. Nothing else should write to the terminal
// meanwhile.
func (v *View) Terminal(w io.Writer, interval time.Duration) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	s := screen{w: w, terminal: isTerminal(w), size: func() (int, int) { return terminalSize(w) }}
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
	size     func() (rows, columns int)
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
	rows, columns := s.size()
	lines := fitting(reports, rows-1, columns-1) // the cursor is in the row below
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	b.WriteString("\x1b[?7h")
	s.lines = len(lines)
	io.WriteString(s.w, b.String())
}

// short is a report in one line.
func short(r report) string {
	text := fmt.Sprintf("%s: %s samples/s, %s in %s, the loop waits %s, %d of %d batches ready",
		plain(r.Name), number(r.Recent.Samples), count(r.Samples, "sample", "samples"), count(r.Batches, "batch", "batches"), percent(r.Recent.Wait), r.Ready, r.Slabs)
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %s dropped", thousands(r.Dropped))
	}
	return text + "; " + clean(r.Verdict)
}
