package shards

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// Foresee tells the store which blocks will be read, and in which order, if it is an
// [objects.Foreseer]: see package prefetch. It leaves out ranges of more than 64 MiB, which are
// read in parts, and blocks that are in memory, if there is room for all of them. Otherwise
// these may have gone when their turn comes, and a Reader would wait for them.
func (d *Dataset) Foresee(f dataset.Future) (stop func()) {
	s, ok := d.store.(objects.Foreseer)
	if !ok {
		return nil
	}
	stays := d.index.size() <= d.memory.limit
	return s.Foresee(f, objects.Blocks{
		Len: len(d.index.blocks),
		Of: func(sample int) int {
			if dataset.CheckIndex(sample, d.Len()) != nil {
				return -1
			}
			b, _ := d.index.find(sample)
			return b
		},
		At: func(b int, dst []objects.Block) []objects.Block {
			if stays && d.memory.has(b) {
				return dst
			}
			var memory [4]shardfmt.Range
			for _, r := range d.index.blocks[b].Ranges(memory[:0]) {
				if r.Len <= atOnce {
					dst = append(dst, objects.Block{Object: d.object(b), Off: r.Off, Len: r.Len})
				}
			}
			return dst
		},
		Once: true,
	})
}
