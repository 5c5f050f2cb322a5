package objects

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// An Option changes how a [Client] reads. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	retries int
	silence time.Duration
	hedge   float64
	listing int64
}

func defaults() config {
	return config{retries: 8, silence: 10 * time.Second, hedge: 0.05, listing: 4 << 30}
}

// Retries sets after how many further requests without success a read fails. The
// default is 8. A read that fails has then waited 11 s on average and 23 s at most, in
// addition to the time of the requests.
func Retries(n int) Option { return Option{func(c *config) { c.retries = n }} }

// Silence sets after which time without a byte a request counts as broken. A slow
// response is not broken. The default is 10 s.
func Silence(d time.Duration) Option { return Option{func(c *config) { c.silence = d }} }

// Hedge sets how many second requests may be sent for slow ones, as a share of all
// requests. The default is 0.05. Hedge(0) sends none.
func Hedge(share float64) Option { return Option{func(c *config) { c.hedge = share }} }

// MaxListingBytes sets how many bytes a listing may have: those of names and versions, and 64 for
// each object. A longer one is an error. The default is 4 GiB, or 30 million objects.
func MaxListingBytes(bytes int64) Option { return Option{func(c *config) { c.listing = bytes }} }

func (c *config) check() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("objects: "+format, args...))
		}
	}
	wrong(c.retries < 0, "Retries(%d): want 0 or more", c.retries)
	wrong(c.silence <= 0, "Silence(%v): want more than 0", c.silence)
	wrong(!(c.hedge >= 0 && c.hedge <= 1) || math.IsNaN(c.hedge), "Hedge(%v): want 0 to 1", c.hedge)
	wrong(c.listing < 1, "MaxListingBytes(%d): want 1 or more", c.listing)
	return errors.Join(errs...)
}

// Stats counts what a [Client] has done.
type Stats struct {
	Requests  int64 // sent, of all kinds
	Bytes     int64 // read into the memory of callers
	Retries   int64 // requests sent because an earlier one was broken
	Hedges    int64 // requests sent because the first byte of another one took long
	HedgesWon int64 // of these, how many were faster
}

type counters struct{ requests, bytes, retries, hedges, hedgesWon atomic.Int64 }

// Stats returns the counts since the client was made.
func (c *Client) Stats() Stats {
	n := &c.count
	return Stats{n.requests.Load(), n.bytes.Load(), n.retries.Load(), n.hedges.Load(), n.hedgesWon.Load()}
}
