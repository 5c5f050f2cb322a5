package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// A route is the order in which replicas are asked.
type route struct {
	mu       sync.Mutex
	replicas []*replica // the preferred one first
}

// A replica is a process of the service, or a load balancer in front of several.
type replica struct {
	url  string
	name string // the URL without a password

	// The route's mutex guards these.
	failures int       // in a row
	avoid    time.Time // until then others are asked first
}

// sort sorts the replicas by rendezvous hashing: every rank prefers another one, and if a
// replica is added or removed, only ranks that prefer it change. Source: Thaler,
// Ravishankar, "Using name-based mappings to increase hit rates", 1998.
func (r *route) sort(key string) {
	weight := func(of *replica) uint64 {
		sum := sha256.Sum256([]byte(key + " " + of.url))
		return binary.BigEndian.Uint64(sum[:])
	}
	slices.SortStableFunc(r.replicas, func(a, b *replica) int { return cmp.Compare(weight(b), weight(a)) })
}

// order is the replicas in the order in which to ask them now: those that have failed lately
// come last.
func (r *route) order(now time.Time) []*replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	order := slices.Clone(r.replicas)
	slices.SortStableFunc(order, func(a, b *replica) int {
		switch aBad, bBad := a.avoid.After(now), b.avoid.After(now); {
		case aBad && bBad:
			return a.avoid.Compare(b.avoid)
		case aBad:
			return 1
		case bBad:
			return -1
		}
		return 0
	})
	return order
}

const (
	firstAvoided = time.Second      // at most, after the first failure
	mostAvoided  = 30 * time.Second // after many
)

// failed avoids a replica for a random time, which grows with its failures in a row.
func (r *route) failed(of *replica, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := min(firstAvoided<<min(of.failures, 10), mostAvoided)
	of.failures++
	of.avoid = now.Add(most/2 + rand.N(most/2))
}

func (r *route) worked(of *replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of.failures, of.avoid = 0, time.Time{}
}
