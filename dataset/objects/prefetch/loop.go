package prefetch

import (
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A loop has the epochs of the same batches, such as those of datasets that are concatenated:
// they share its memory, and look ahead together. The Prefetcher's mutex guards it.
type loop struct {
	key    any // equal for the futures of these epochs
	future dataset.Future
	number int      // of the first epoch
	epochs []*epoch // that have not ended
	bytes  int64    // that they hold
	done   int      // batches whose blocks were forgotten

	looking int // epochs that look ahead
	least   int // batch that one of them looks at
	there   int // how many look at that batch
}

// join adds an epoch to its loop. The caller holds the mutex.
func (p *Prefetcher) join(e *epoch, key any) {
	k := slices.IndexFunc(p.loops, func(l *loop) bool { return l.key == key })
	if k < 0 {
		k = len(p.loops)
		p.loops = append(p.loops, &loop{key: key, future: e.future, number: e.number})
	}
	e.loop = p.loops[k]
	e.loop.epochs = append(e.loop.epochs, e)
	e.loop.looking++
	if e.loop.least > 0 {
		e.loop.least, e.loop.there = 0, 0
	}
	e.loop.there++
}

// leave takes an epoch out that has ended. The caller holds the mutex.
func (p *Prefetcher) leave(e *epoch) {
	isIt := func(other *epoch) bool { return other == e }
	p.epochs = slices.DeleteFunc(p.epochs, isIt)
	e.loop.epochs = slices.DeleteFunc(e.loop.epochs, isIt)
	if len(e.loop.epochs) == 0 {
		p.loops = slices.DeleteFunc(p.loops, func(l *loop) bool { return l == e.loop })
	}
}

// moved notes that an epoch has left a batch, for a later one or because it has ended to look
// ahead. The caller holds the mutex.
func (l *loop) moved(from int) {
	if from != l.least {
		return
	}
	if l.there--; l.there == 0 {
		l.find()
	}
}

// ended notes that an epoch has looked at all batches, or was stopped. The caller holds the
// mutex.
func (l *loop) ended(e *epoch) {
	if e.looking {
		e.looking = false
		l.looking--
		l.moved(e.at)
	}
}

// find looks for the least batch.
func (l *loop) find() {
	l.least, l.there = math.MaxInt, 0
	for _, e := range l.epochs {
		switch {
		case !e.looking:
		case e.at < l.least:
			l.least, l.there = e.at, 1
		case e.at == l.least:
			l.there++
		}
	}
}

// forget drops the blocks that were not read although their batches are complete, also those
// of epochs that look ahead no more. The caller holds the mutex.
func (l *loop) forget(done int) {
	if done <= l.done {
		return
	}
	l.done = done
	for _, e := range l.epochs {
		e.forget(done)
	}
}

// earliest is the block that is needed first of those that wait for a request, or nil. The caller
// holds the mutex.
func (l *loop) earliest() (found *block) {
	least := 0
	for _, e := range l.epochs {
		if e.stopped {
			continue
		}
		if b, c := e.first(); b != nil && (found == nil || c.first < least) {
			found, least = b, c.first
		}
	}
	return found
}
