package shards

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
)

// Foresee tells the store which blocks will be read, and in which order, if it is an
// [objects.Foreseer]: see package prefetch. It leaves out blocks that are in memory when
// their turn comes, and those of more than 64 MiB, which are read in parts.
func (d *Dataset) Foresee(f dataset.Future) (stop func()) {
	s, ok := d.store.(objects.Foreseer)
	if !ok {
		return nil
	}
	return s.Foresee(f, objects.Blocks{
		Len: len(d.index.blocks),
		Of: func(sample int) int {
			if dataset.CheckIndex(sample, d.Len()) != nil {
				return -1
			}
			b, _ := d.index.find(sample)
			return b
		},
		At: func(b int) (objects.Block, bool) {
			if h := d.memory.peek(b); h != nil {
				d.memory.release(h) // which keeps it in memory for longer
				return objects.Block{}, false
			}
			block := &d.index.blocks[b]
			return objects.Block{Object: d.object(b), Off: block.Off, Len: block.Len}, block.Len <= atOnce && !d.memory.has(b)
		},
		Once: true,
	})
}
