package sampler

// ShardBatches gives one of world ranks its share of whole batches: batches
// rank, rank+world, rank+2·world and so on. [PadToEven] repeats batches from the head,
// [DropToEven] leaves out the last ones, [KeepExact] does neither. Its Batches are
// [BatchPart]s. The errors are those of [Shard].
func ShardBatches(s BatchSampler, rank, world int, mode Mode) (BatchSampler, error) {
	if err := checkShare("ShardBatches", rank, world, mode); err != nil {
		return nil, err
	}
	return batchShard{s, share{rank, world, mode}}, nil
}

type batchShard struct {
	of BatchSampler
	share
}

func (s batchShard) Epoch(epoch int) Batches {
	global := s.of.Epoch(epoch)
	return &sharedBatches{global, s.share, global.Len()}
}

type sharedBatches struct {
	global Batches
	share
	n int // batches of all ranks
}

func (b *sharedBatches) Len() int       { return b.share.of(b.n) }
func (b *sharedBatches) Draw(k int) int { return k*b.world + b.rank }

func (b *sharedBatches) At(k int, dst []int) []int {
	mustPlace(k, b.Len())
	return b.global.At(b.Draw(k)%b.n, dst)
}
