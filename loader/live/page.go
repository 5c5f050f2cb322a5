package live

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"name": plain, "clean": clean, "title": title, "number": number, "percent": percent, "seconds": seconds, "bytes": figures.Bytes,
	"count": count, "noun": noun, "thousands": thousands, "pause": func() string { return pause }, "rest": rest, "peak": peak, "minutes": minutes, "rateLine": rateLine, "waitLine": waitLine, "shown": shown,
}).Parse(pageText))

// ServeHTTP serves the page, or with ?format=json its numbers. With ?refresh=10 the page
// reloads itself every 10 seconds instead of 2, and with ?refresh=0 it does not.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "loader/live: want GET", http.StatusMethodNotAllowed)
		return
	}
	refresh := 2
	if text := r.FormValue("refresh"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 3600 {
			http.Error(w, "loader/live: refresh: want seconds, 0 to 3600", http.StatusBadRequest)
			return
		}
		refresh = n
	}
	var body bytes.Buffer
	var err error
	kind := "text/html; charset=utf-8"
	switch r.FormValue("format") {
	case "":
		err = page.Execute(&body, map[string]any{"Reports": v.reports(), "Refresh": refresh})
	case "json":
		kind = "application/json"
		e := json.NewEncoder(&body)
		e.SetIndent("", "\t")
		err = e.Encode(map[string]any{"loaders": v.reports()})
	default:
		http.Error(w, "loader/live: format: want json or none", http.StatusBadRequest)
		return
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

// The size of the lines' boxes.
const width, height = 300, 56

func rateLine(history []moment) string {
	top := peak(history)
	return line(history, func(m moment) float64 { return m.Samples / max(top, 1e-9) })
}

func waitLine(history []moment) string {
	return line(history, func(m moment) float64 { return m.Wait })
}

// line is the points of a line over time, of values from 0 to 1.
func line(history []moment, value func(moment) float64) string {
	if len(history) == 0 {
		return ""
	}
	oldest := max(history[0].Ago, 1)
	var b strings.Builder
	for _, m := range history {
		x := width * (1 - m.Ago/oldest)
		y := 2 + (height-4)*(1-min(max(value(m), 0), 1))
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64) + " ")
	}
	return b.String()
}

// rest is the share of the workers' time that is in no stage.
func rest(stages []stage) float64 {
	left := 1.0
	for _, s := range stages {
		left -= s.Share
	}
	if left < 0.005 {
		return 0
	}
	return left
}

func peak(history []moment) (top float64) {
	for _, m := range history {
		top = max(top, m.Samples)
	}
	return top
}

// minutes is the time that a history covers.
func minutes(history []moment) string {
	if len(history) == 0 {
		return seconds(0)
	}
	return seconds(math.Ceil(history[0].Ago))
}
