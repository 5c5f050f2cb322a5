package main

import (
	"encoding/json"
	"os"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/cache"
)

// A recorder measures the epochs of a side, and prints a line of JSON for each. An epoch
// lasts until its last batch has come.
type recorder struct {
	o       options
	side    *opened
	opening traffic // before the first epoch

	m      measurement
	began  time.Time
	waited time.Time // when the loop began to wait
	cpu    float64   // until the epoch began, and so on
	cache  cache.Stats
	hedges int64
}

func (r *recorder) begin(epoch int) {
	r.m = measurement{Epoch: epoch, Blocks: len(r.side.ds.Ends()), Bytes: r.side.bytes}
	r.cache, r.hedges = r.side.cacheStats(), r.side.hedges()
	r.began, r.cpu = time.Now(), cpuSeconds()
	r.waited = r.began
}

func (r *recorder) batch(images int) {
	r.m.Waits = append(r.m.Waits, time.Since(r.waited).Seconds())
	r.m.Images += images
	r.waited = time.Now()
}

func (r *recorder) end() (err error) {
	m := &r.m
	m.Seconds, m.CPU = time.Since(r.began).Seconds(), cpuSeconds()-r.cpu
	m.Hedged = r.side.hedges() - r.hedges
	if r.side.cache != nil {
		after := r.side.cacheStats()
		m.Hits, m.Misses = after.Hits-r.cache.Hits, after.Misses-r.cache.Misses
		m.Share = min(1, float64(after.Limit)/float64(r.side.bytes))
	}
	if m.traffic, err = control(r.o.endpoint, counts); err != nil {
		return err
	}
	m.Opening = r.opening.Requests
	m.Requests, m.Sent = m.Requests+r.opening.Requests, m.Sent+r.opening.Sent
	r.opening = traffic{}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// cpuSeconds is the user and system time of the process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
