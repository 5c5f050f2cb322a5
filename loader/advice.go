package loader

import (
	"fmt"
	"runtime"
	"time"
)

// advise logs, once, that more workers than processors do not help if samples
// compute rather than wait. The dataset's stages tell which they do.
func (l *Loader) advise() {
	processors := runtime.GOMAXPROCS(0)
	if l.cfg.logger == nil || l.tuning != nil || l.cfg.workers <= processors {
		return
	}
	s := l.Stats()
	var rest, computing time.Duration
	for _, stage := range s.Stages {
		if computes(stage.Name) {
			computing += stage.Total
		} else {
			rest += stage.Total
		}
	}
	const evidence = time.Second
	if computing < evidence || computing < 3*rest {
		return
	}
	if _, unoccupied := s.unoccupied(processors); unoccupied {
		return
	}
	l.advised.Do(func() {
		l.cfg.logger.Warn("loader: more workers than processors, and the work is computing, not waiting",
			"workers", l.cfg.workers, "processors", processors,
			"computing", fmt.Sprintf("%.0f%%", 100*float64(computing)/float64(rest+computing)),
			"suggestion", fmt.Sprintf("Workers(%d)", processors))
	})
}
