// Package live shows what loaders do while they run: on a web page, as JSON, and in a
// terminal.
//
//	var view live.View
//	l, err := loader.New(ds, loader.Observe(view.Trace("train")))
//	…
//	http.Handle("/debug/loader", &view)       // the page; with ?format=json the numbers
//	defer view.Terminal(os.Stderr, time.Second)()
//
// The view shows how many samples per second the loop gets, how long it waits, what every
// worker does at the moment and since when, the slowest samples by name, and the bottleneck
// in one sentence.
//
// The page needs no JavaScript and loads nothing from elsewhere. It only reads. It shows
// names of samples but no texts of errors, because these may contain URLs that grant
// access. Like the pages of net/http/pprof, it is for people who may see the internals of
// the program. No handler is registered unless you do it. Pages of other sites can neither read nor
// embed it, but it does not check under which name it was asked for: where a browser may be led
// to it by a name that another site controls (DNS rebinding), check the request's Host before.
package live

import (
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// slowest is the number of samples in the list of the slowest.
const slowest = 10

// A View shows the loaders that its hooks were given to. The zero value shows none. Its
// methods may be called at any time, by any goroutine.
type View struct {
	mu      sync.Mutex
	watches []*watch // in the order in which their loaders were made
}

// Trace gives the hooks by which the view shows a loader, under that name. After the
// loader is closed, its last numbers are shown until another one of the same name is made.
// Loaders that are open at the same time need a Trace each, even with the same name:
// [loader.New] returns an error otherwise.
//
// The hooks time every sample and its stages.
func (v *View) Trace(name string) loader.Trace {
	w := &watch{name: name, slow: trace.Slowest(slowest)}
	return loader.Trace{
		LoaderMade: func(l *loader.Loader) error {
			if !w.begin(l) {
				return fmt.Errorf("live: Trace(%q): it belongs to a loader that is not closed, and every loader needs one of its own", name)
			}
			v.add(w)
			return nil
		},
		LoaderClosed:   w.end,
		BatchDelivered: w.delivered,
		SampleDone:     w.slow.Trace().SampleDone,
	}
}

// add adds a watch, and removes those of closed loaders with the same name.
func (v *View) add(w *watch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var others []*watch
	for _, o := range v.watches {
		if o != w && (o.name != w.name || o.open()) {
			others = append(others, o)
		}
	}
	v.watches = append(others, w)
}

// reports are what the loaders do now.
func (v *View) reports() []report {
	v.mu.Lock()
	watches := v.watches // a slice that is never changed
	v.mu.Unlock()
	now := time.Now()
	all := make([]report, 0, len(watches))
	for _, w := range watches {
		all = append(all, w.report(now))
	}
	return all
}
