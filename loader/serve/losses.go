package serve

import (
	"sync"

	"github.com/penstock-go/penstock/loader"
)

// losses are how many samples of each batch of a loop could not be placed.
type losses struct {
	mu sync.Mutex
	m  map[ordinal]int
}

// An ordinal is the number that a loader gives a batch.
type ordinal struct{ epoch, number int }

// observe counts the samples that a loader cannot place. A batch is complete after that.
func (l *losses) observe() loader.Option {
	return loader.Observe(loader.Trace{SampleFailed: func(e *loader.SampleError) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.m == nil {
			l.m = make(map[ordinal]int)
		}
		l.m[ordinal{e.Epoch, e.Batch}]++
	}})
}

// take is the number of a batch, which is not needed again.
func (l *losses) take(epoch, number int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := ordinal{epoch, number}
	n := l.m[at]
	delete(l.m, at)
	return n
}

// forget forgets batches that a loop has begun and not delivered.
func (l *losses) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.m)
}
