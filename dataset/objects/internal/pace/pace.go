// Package pace sends a second request where the first one is so slow that it is worth it.
package pace

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	steps      = 8                     // of a histogram, per doubling of the time
	shortest   = 10 * time.Microsecond // the upper limit of its first step
	buckets    = 24 * steps            // up to 168 s
	memory     = 1024                  // times after which all counts are halved
	enough     = 32                    // times before the first hedge
	recent     = 64                    // times whose median is compared with that of all
	rising     = 1.5                   // its ratio above which nothing is hedged
	leastDelay = time.Millisecond      // before a hedge; it would save less than it costs
	mostSaved  = 10                    // hedges that the budget saves up
)

// A Pace knows how long first bytes take, and whether a second request may be sent.
//
// The histogram's steps are 9 % wide, so its 95th percentile is up to 9 % too high.
type Pace struct {
	Share float64 // of further requests; 0 for none

	mu      sync.Mutex
	credit  float64 // in requests
	counts  [buckets]float64
	sum     float64       // of counts
	latest  [recent]int   // steps
	n       uint64        // observations
	delay   time.Duration // after which to hedge; 0 for never
	ordered [recent]int   // memory for rises
}

// begin counts a request. It returns after which time to send a second one, or 0 for
// never.
func (p *Pace) begin() time.Duration {
	if p.Share == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.credit = min(p.credit+p.Share, mostSaved)
	return p.delay
}

// spend takes a request from the budget, if the budget has one.
func (p *Pace) spend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.credit < 1 || p.delay == 0 {
		return false
	}
	p.credit--
	return true
}

// observe notes how long a first byte took.
func (p *Pace) observe(d time.Duration) {
	if p.Share == 0 {
		return
	}
	k := int(math.Ceil(steps * math.Log2(float64(max(d, shortest))/float64(shortest))))
	k = min(k, buckets-1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[k]++
	p.latest[p.n%recent] = k
	p.n++
	if p.sum++; p.sum >= memory {
		for k := range p.counts {
			p.counts[k] /= 2
		}
		p.sum /= 2
	}
	if p.n < enough || p.n%8 != 0 {
		return
	}
	p.delay = 0
	if !p.rises() {
		p.delay = max(limit(p.quantile(0.95)), leastDelay)
	}
}

// rises reports whether the median of the latest times is above that of all. Then the
// service is short of something, and more requests would make it slower.
func (p *Pace) rises() bool {
	latest := p.ordered[:copy(p.ordered[:], p.latest[:min(p.n, recent)])]
	slices.Sort(latest)
	return float64(latest[len(latest)/2]-p.quantile(0.5)) > steps*math.Log2(rising)
}

// quantile is the step below or in which that part of all times is.
func (p *Pace) quantile(part float64) int {
	want := part * p.sum
	for k, n := range p.counts {
		if want -= n; want <= 0 {
			return k
		}
	}
	return buckets - 1
}

// limit is the upper limit of step k.
func limit(k int) time.Duration {
	return time.Duration(float64(shortest) * math.Exp2(float64(k)/steps))
}

// turn waits for the delay and until the budget allows a second request. It reports
// false if ctx is done first.
func (p *Pace) turn(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for delay /= 2; ; {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
		if p.spend() {
			return true
		}
		timer.Reset(delay) // by then the slowest of all still wait, and are worth a hedge the most
		delay *= 2
	}
}
