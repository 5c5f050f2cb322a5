package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// A route is the order in which replicas are asked.
type route struct {
	mu       sync.Mutex
	replicas []*replica // the one to ask first comes first
}

// A replica is a process of the service, or a load balancer in front of several.
type replica struct {
	url  string
	name string // the URL without a password
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

// order is the replicas in the order in which to ask them now.
func (r *route) order() []*replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.replicas)
}

// failed puts a replica behind the others. They are asked first until they fail, too.
func (r *route) failed(of *replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.replicas, of)
	r.replicas = append(slices.Delete(r.replicas, i, i+1), of)
}
