package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A measurement is one epoch of one side.
type measurement struct {
	Side    string
	Epoch   int
	Images  int
	Seconds float64
	CPU     float64   // seconds
	Waits   []float64 // for every batch, in seconds

	// Of penstock alone.
	Blocks int     // of the index
	Bytes  int64   // of these
	Hedged int64   // requests that were sent again because the first was slow
	Hits   int64   // blocks that came from the cache
	Misses int64   // and those that did not
	Share  float64 // of the data that the cache may hold

	Opening int64 // requests before the first epoch, for the index
	traffic       // from the end of the epoch before
}

func (m *measurement) rate() float64 { return float64(m.Images) / m.Seconds }
func (m *measurement) each() float64 { return 1000 * m.CPU / float64(m.Images) } // ms of CPU

func printHeader(o options) {
	fmt.Printf("%d workers, %v to the first byte\n\n%-26s %6s %9s %10s %13s %9s %8s\n", o.workers, o.latency,
		"side", "epoch", "images", "images/s", "CPU ms/image", "requests", "MB")
}

func (m *measurement) print() {
	fmt.Printf("%-26s %6d %9d %10.1f %13.3f %9d %8.1f\n", m.Side, m.Epoch, m.Images, m.rate(), m.each(), m.Requests, float64(m.Sent)/1e6)
}

// measure starts the process of a side and reads what it prints after every epoch.
func measure(ctx context.Context, o options, s *servers, side, scratch string) ([]measurement, error) {
	server, place := s.shared, anywhere
	if strings.HasSuffix(side, apart) {
		server, place = s.apart, notLast
		o.workers = max(1, o.workers-1)
	}
	o.endpoint = server.url
	how := usualControl
	if strings.Contains(side, slowly) {
		how = slowControl
	}
	if _, err := control(o.endpoint, how); err != nil {
		return nil, err
	}
	c := peer(ctx, o, side, o.endpoint, scratch, fmt.Sprint(o.workers), fmt.Sprint(o.epochs), fmt.Sprint(shardCount(o.dir)))
	if strings.HasPrefix(side, "penstock") {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c = exec.CommandContext(ctx, self, "-side", side, "-endpoint", o.endpoint, "-dir", o.dir, "-workers", fmt.Sprint(o.workers), "-epochs", fmt.Sprint(o.epochs))
	}
	var why bytes.Buffer
	c.Dir, c.Stderr = scratch, &why
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := place.start(c); err != nil {
		return nil, err
	}
	var found []measurement
	for d := json.NewDecoder(out); ; {
		m := measurement{}
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			_ = c.Process.Kill() // its error says less
			return nil, cmp.Or(c.Wait(), err)
		}
		m.Side = side
		found = append(found, m)
	}
	if err := c.Wait(); err != nil { // the last line of a Python program says most
		lines := strings.Split(strings.TrimSpace(why.String()), "\n")
		return nil, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return found, nil
}

// peer is a run of peers.py.
func peer(ctx context.Context, o options, args ...string) *exec.Cmd {
	_, file, _, _ := runtime.Caller(0)
	return exec.CommandContext(ctx, o.python, append([]string{filepath.Join(filepath.Dir(file), "peers.py")}, args...)...)
}

// packFor has a peer write the photos in its format. What it prints is shown if it fails.
func packFor(ctx context.Context, o options, format string) error {
	if text, err := peer(ctx, o, "pack", format, o.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("pack for %s: %w\n%s", format, err, text)
	}
	return nil
}

// A row is the medians over all rounds of an epoch of a side.
type row struct {
	side           string
	epoch          int
	rates          []float64 // of every round
	rate, each     float64
	requests, sent float64
}

// rows are sorted by epoch, and keep the order of the sides.
func rows(all []measurement) []row {
	var list []row
	for _, m := range all {
		if slices.ContainsFunc(list, func(r row) bool { return r.side == m.Side && r.epoch == m.Epoch }) {
			continue
		}
		r := row{side: m.Side, epoch: m.Epoch}
		of := func(value func(*measurement) float64) (values []float64) {
			for k := range all {
				if all[k].Side == m.Side && all[k].Epoch == m.Epoch {
					values = append(values, value(&all[k]))
				}
			}
			return values
		}
		r.rates = of((*measurement).rate)
		r.rate, r.each = median(r.rates), median(of((*measurement).each))
		r.requests = median(of(func(m *measurement) float64 { return float64(m.Requests) }))
		r.sent = median(of(func(m *measurement) float64 { return float64(m.Sent) }))
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(a.epoch, b.epoch) })
	return list
}

// median is the middle one, or the mean of the two in the middle.
func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// summarize prints the medians as a table for README.md, with penstock's speed as multiples
// of the others'.
func summarize(all []measurement) {
	list := rows(all)
	fmt.Println("\n| side | epoch | images/s | penstock tar cached is … times as fast | CPU ms/image | requests | MB |\n|---|---|---|---|---|---|---|")
	for _, r := range list {
		ratio := "–"
		if k := slices.IndexFunc(list, func(o row) bool { return o.side == "penstock tar cached" && o.epoch == r.epoch }); k >= 0 {
			ratio = fmt.Sprintf("%.2f", list[k].rate/r.rate)
		}
		fmt.Printf("| %s | %d | %.0f [%.0f..%.0f] | %s | %.3f | %.0f | %.1f |\n", r.side, r.epoch+1, r.rate,
			slices.Min(r.rates), slices.Max(r.rates), ratio, r.each, r.requests, r.sent/1e6)
	}
}
