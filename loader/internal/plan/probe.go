package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/penstock-go/penstock/sampler"
)

// probes is the largest number of places of an order, or of batches, in a probe.
const probes = 64

// probeBatches makes a probe of the batches, or the order, of all ranks.
func probeBatches(epoch int, batches sampler.Batches) string {
	switch b := batches.(type) {
	case interface{ Global() sampler.Order }:
		return probeOrder(epoch, b.Global())
	case interface{ Global() sampler.Batches }:
		return probeBatches(epoch, b.Global())
	case sampler.BatchPart:
		return ""
	}
	return probe(epoch, "batches", batches.Len(), batches.At)
}

func probeOrder(epoch int, o sampler.Order) string {
	if part, ok := o.(sampler.Part); ok {
		o = part.Global()
	}
	return probe(epoch, "samples", o.Len(), func(k int, dst []int) []int { return append(dst, o.At(k)) })
}

// probe hashes the samples at some of n places, which are spread evenly and include both ends.
func probe(epoch int, what string, n int, at func(k int, dst []int) []int) string {
	sum := sha256.New()
	var found []int
	var bytes []byte
	count := min(n, probes)
	for i := range count {
		k := n - 1
		if i < count-1 {
			k = i * ((n - 1) / (count - 1))
		}
		found = at(k, found[:0])
		bytes = binary.LittleEndian.AppendUint64(bytes[:0], uint64(len(found)))
		for _, index := range found {
			bytes = binary.LittleEndian.AppendUint64(bytes, uint64(index))
		}
		sum.Write(bytes)
	}
	return fmt.Sprintf("probe(epoch %d, %d %s %x)", epoch, n, what, sum.Sum(nil)[:8])
}
