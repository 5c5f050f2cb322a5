// Package live shows what loaders do while they run: on a web page, as JSON, and as lines in
// a terminal or a log.
//
//	var view live.View
//	l, err := loader.New(ds, loader.Observe(view.Trace("train")))
//	…
//	http.Handle("/debug/loader", &view)       // the page; with ?format=json the numbers
//	defer view.Lines(os.Stderr, time.Second)()
//
// The view shows how many samples per second the loop gets, how long it waits, what every
// worker does at the moment and since when, the slowest samples by name, and the bottleneck
// in one sentence.
//
// The page needs no JavaScript, loads nothing from elsewhere and only reads. It shows names of
// samples but no texts of errors, because these may contain URLs that grant access. Like the
// pages of net/http/pprof, it is for people who may see the internals of the program. Pages of
// other sites can neither read nor embed it, but it does not check under which name it was asked
// for: where a browser may be led to it by a name that another site controls (DNS rebinding),
// check the request's Host before.
package live

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/trace"
)

// A View shows the loaders that its hooks were given to. The zero value shows none. Its
// methods may be called at any time, by any goroutine.
type View struct {
	mu      sync.Mutex
	watches []*watch // in the order in which their loaders were made
}

// Trace gives the hooks by which the view shows a loader, under that name. Every loader needs
// a Trace of its own. After the loader is closed, its last numbers are shown until another one
// of the same name is made.
//
// The hooks time every sample and its stages.
func (v *View) Trace(name string) loader.Trace {
	w := &watch{name: name, slow: trace.Slowest(slowest)}
	return loader.Trace{
		LoaderMade: func(l *loader.Loader) error {
			if !w.begin(l) {
				return fmt.Errorf("live: Trace(%q): it already belongs to a loader, and every loader needs one of its own", name)
			}
			v.add(w)
			return nil
		},
		LoaderClosed: w.end,
		SampleDone:   w.slow.Trace().SampleDone,
	}
}

// add adds a watch, and removes those of closed loaders with the same name.
func (v *View) add(w *watch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	watches := []*watch{}
	for _, o := range v.watches {
		if o.name != w.name || o.open() {
			watches = append(watches, o)
		}
	}
	v.watches = append(watches, w)
}

// reports are what the loaders do now.
func (v *View) reports() []report {
	v.mu.Lock()
	watches := v.watches // a slice that is never changed
	v.mu.Unlock()
	all := make([]report, 0, len(watches))
	for _, w := range watches {
		all = append(all, w.report())
	}
	return all
}

// Lines writes a line for every loader after every interval, until stop is called, and then
// once more.
func (v *View) Lines(w io.Writer, interval time.Duration) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticker := time.NewTicker(max(interval, 10*time.Millisecond))
		defer ticker.Stop()
		for running := true; running; {
			select {
			case <-ticker.C:
			case <-done:
				running = false
			}
			var lines strings.Builder
			for _, r := range v.reports() {
				fmt.Fprintln(&lines, r)
			}
			io.WriteString(w, lines.String()) // nothing depends on what becomes of it
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-over
	})
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"text": figures.OneLine, "number": number, "percent": percent, "seconds": seconds, "bytes": figures.Bytes,
	"count": figures.Count[int64], "workers": func(n int) string { return figures.Count(n, "worker", "workers") },
}).Parse(pageText))

// ServeHTTP serves the page, which reloads itself every two seconds, or with ?format=json its
// numbers.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "loader/live: want GET", http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	var err error
	kind := "text/html; charset=utf-8"
	if r.URL.Query().Get("format") == "json" { // FormValue would store what the request's body has, however much that is
		kind = "application/json"
		e := json.NewEncoder(&body)
		e.SetIndent("", "\t")
		err = e.Encode(map[string]any{"loaders": v.reports()})
	} else {
		err = page.Execute(&body, v.reports())
	}
	if err != nil {
		http.Error(w, "loader/live: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin") // pages of other sites cannot embed it
	w.Write(body.Bytes())                                // an error means that the client is gone
}
