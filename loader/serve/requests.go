package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

func (s *Server) route() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/", s.unknown)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /metrics", s.allowed(s.counts.write))
	s.mux.HandleFunc("GET /v1/plan", s.allowed(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.plan) }))
	s.mux.HandleFunc("GET /v1/{plan}/{epoch}/{share}", s.allowed(s.serveRest))
	s.mux.HandleFunc("GET /v1/{plan}/{epoch}/{share}/{number}", s.allowed(s.serveBatch))
}

// ServeHTTP answers a request: see the protocol of the package.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.refusesBody(w, r) {
		return
	}
	s.expect(w)
	s.mux.ServeHTTP(w, r)
}

// refusesBody refuses a request with a body, and reports whether it did.
func (s *Server) refusesBody(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength == 0 {
		return false
	}
	// Nobody waits for what the client sends. Without an error on recorders, this
	// ends a connection that sends nothing.
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	w.Header().Set("Connection", "close")
	s.refuse(w, http.StatusBadRequest, errors.New("want a request without a body"))
	return true
}

// unknown answers requests that have no other handler.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, errors.New("want GET"))
		return
	}
	s.refuse(w, http.StatusNotFound, errors.New("no such path"))
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		s.refuse(w, http.StatusServiceUnavailable, errClosed)
		return
	}
	fmt.Fprintln(w, "ok")
}

// allowed checks the token. Without one, every request is allowed.
func (s *Server) allowed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.token {
			given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			sum := sha256.Sum256([]byte(given)) // of equal length, so that the time tells nothing
			if subtle.ConstantTimeCompare(sum[:], s.cfg.secret[:]) != 1 || !ok {
				w.Header().Set("WWW-Authenticate", "Bearer")
				s.refuse(w, http.StatusUnauthorized, errors.New("the token is missing or wrong"))
				return
			}
		}
		allow(r.Context())
		h(w, r)
	}
}

// expect gives the client the time of Stall for what is written next.
func (s *Server) expect(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.stall)) // a recorder has no deadline
}

// takesTime lets the client wait until expect is called. HTTP/2 ends a request at the deadline
// even if nothing is being written.
func (s *Server) takesTime(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// A share is a rank of a world.
type share struct{ rank, world int }

// An address says which batch of a share it is: its number, counted from a place of the
// epoch's global order. The place is 0 wherever the batch can be counted from there.
type address struct{ epoch, draw, number int }

// before reports whether a loop that comes to both comes to a first.
func (a address) before(b address) bool {
	return a.epoch < b.epoch || a.epoch == b.epoch && a.number < b.number
}

// parseShare parses "rank-world".
func parseShare(text string) (s share, ok bool) {
	rank, world, _ := strings.Cut(text, "-")
	var ok2 bool
	s.rank, ok = parseNumber(rank, mostNumber)
	s.world, ok2 = parseNumber(world, mostNumber)
	return s, ok && ok2 && s.rank < s.world
}

// mostNumber is the greatest epoch, batch and world size. The epoch after it is an int, too.
const mostNumber = math.MaxInt32 - 1

// parseNumber parses a number up to most as this package writes it, so that a batch has one
// path.
func parseNumber(text string, most int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= most && strconv.Itoa(n) == text
}

// place parses the path up to the share, and the draw.
func (s *Server) place(w http.ResponseWriter, r *http.Request) (of share, a address, rest plan.Rest, ok bool) {
	if r.PathValue("plan") != s.plan.Plan {
		answer(w, s.refused(http.StatusConflict), wire.Error{Error: "this service serves another plan: see /v1/plan", Plan: s.plan.Plan})
		return
	}
	of, shared := parseShare(r.PathValue("share"))
	epoch, counted := parseNumber(r.PathValue("epoch"), mostNumber)
	a.epoch = epoch
	drawn := true
	if text := r.URL.RawQuery; text != "" {
		text, drawn = strings.CutPrefix(text, "draw=")
		if drawn {
			a.draw, drawn = parseNumber(text, math.MaxInt)
		}
	}
	if !shared || !counted || !drawn {
		s.refuse(w, http.StatusBadRequest, errors.New("want /v1/{plan}/{epoch}/{rank}-{world}[/{number}][?draw=D] with decimal numbers and a rank below world"))
		return
	}
	s.takesTime(w) // a sampler may plan for long
	rest, err := s.rests.of(r.Context(), of, a.epoch, a.draw)
	s.expect(w)
	if err != nil {
		s.refuse(w, unplanned(r.Context(), err), err)
		return
	}
	return of, a, rest, true
}

// unplanned is the status if an epoch cannot be planned.
func unplanned(ctx context.Context, err error) int {
	_, panicked := errors.AsType[*dataset.PanicError](err)
	switch {
	case ctx.Err() != nil:
		return statusOf(ctx, err)
	case panicked: // the sampler
		return http.StatusInternalServerError
	}
	return http.StatusNotFound
}

func (s *Server) serveRest(w http.ResponseWriter, r *http.Request) {
	_, a, rest, ok := s.place(w, r)
	if !ok {
		return
	}
	s.counts.answered(http.StatusOK)
	answer(w, http.StatusOK, wire.Rest{Epoch: a.epoch, Draw: a.draw, Batches: rest.Batches, Step: rest.Step, End: rest.End})
}

func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request) {
	of, a, rest, ok := s.place(w, r)
	if !ok {
		return
	}
	number, ok := parseNumber(r.PathValue("number"), mostNumber)
	switch {
	case !ok:
		s.refuse(w, http.StatusBadRequest, errors.New("want a batch number in decimal"))
		return
	case number >= rest.Batches:
		s.refuse(w, http.StatusNotFound, fmt.Errorf("rank %d of %d has %d batches from draw %d of epoch %d on", of.rank, of.world, rest.Batches, a.draw, a.epoch))
		return
	}
	a.number = number
	tag := fmt.Sprintf(`"%s-%d-%d-%d-%d-%d"`, s.plan.Plan, a.epoch, of.rank, of.world, a.draw, a.number)
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "max-age=31536000, immutable")
	if has := r.Header.Get("If-None-Match"); has == tag || has == "*" {
		s.counts.answered(http.StatusNotModified)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if a.draw%rest.Step == 0 {
		a.number += a.draw / rest.Step
		a.draw = 0
	}
	s.send(w, r, of, a)
}

// send makes a batch and sends it.
func (s *Server) send(w http.ResponseWriter, r *http.Request, of share, a address) {
	status, err := http.StatusOK, error(nil)
	defer func() {
		if err != nil {
			w.Header().Del("ETag")
			w.Header().Set("Cache-Control", "no-store")
			s.refuse(w, status, err)
		}
	}()
	select {
	case s.requests <- struct{}{}:
		defer func() { <-s.requests }()
	default:
		status, err = http.StatusServiceUnavailable, errBusy
		return
	}
	begun := time.Now()
	s.counts.inFlight.Add(1)
	defer s.counts.inFlight.Add(-1)
	s.takesTime(w)
	m, done, err := s.lanes.get(r.Context(), of, a)
	if err != nil {
		status = statusOf(r.Context(), err)
		return
	}
	defer done()
	if err = m.err; err != nil {
		status = http.StatusInternalServerError
		if m.passing() {
			status = http.StatusServiceUnavailable
		}
		return
	}
	b := s.body(m)
	if err = b.err; err != nil {
		status = http.StatusInternalServerError
		return
	}
	s.counts.waited(time.Since(begun))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(b.bytes))
	s.counts.answered(http.StatusOK)
	s.expect(w)
	if r.Method != http.MethodHead {
		s.write(w, m, b)
	}
}

// statusOf is the status if there is no batch.
func statusOf(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		return 499 // the client has gone; only metrics see it
	}
	return http.StatusServiceUnavailable
}

// stride is the number of bytes of a batch that a client has the time of Stall for.
const stride = 4 << 20

// write sends the body from the batch's own memory.
func (s *Server) write(w http.ResponseWriter, m *made, b *body) {
	for _, piece := range append([][]byte{b.header}, b.pieces...) {
		for len(piece) > 0 {
			n := min(len(piece), stride)
			s.expect(w)
			written, err := w.Write(piece[:n])
			s.counts.bytes.Add(int64(written))
			if err != nil {
				return // the client has gone, and the connection with it
			}
			piece = piece[n:]
		}
	}
	s.counts.batches.Add(1)
	s.counts.dropped.Add(int64(m.dropped))
}

// answer sends a value as JSON.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) // nobody is there to read an error of writing
}

// refuse sends an error.
func (s *Server) refuse(w http.ResponseWriter, status int, err error) {
	s.expect(w) // the request may have waited for long
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	text := wire.Error{Error: err.Error()}
	if status >= http.StatusInternalServerError { // it is about data
		text.Error = public(err)
	}
	if e, ok := errors.AsType[*loader.SampleError](err); ok {
		text.Name, text.Index = last(e.Name), &e.Index
	}
	s.tell(status, err)
	answer(w, s.refused(status), text)
}

// refused counts a response.
func (s *Server) refused(status int) int {
	s.counts.answered(status)
	return status
}

// A body is a batch as it is sent: the header, and the data, most of which is the batch's
// own memory.
type body struct {
	header []byte
	pieces [][]byte
	bytes  int // of all of it
	err    error
}

// A column is a tensor with its data.
type column struct {
	wire.Tensor
	align int
	data  []byte
}

// body makes the body of a batch, once.
func (s *Server) body(m *made) *body {
	m.render.Do(func() { m.text = s.render(m) })
	return &m.text
}

func (s *Server) render(m *made) (b body) {
	columns := m.columns(s.spec)
	// Large dtypes come first, so that all data is aligned.
	slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(b.align, a.align) })
	rows := 0
	if m.batch != nil {
		rows = m.batch.Len()
	}
	h := wire.Header{Texts: map[string]string{
		"plan":    s.plan.Plan,
		"epoch":   strconv.Itoa(m.at.epoch),
		"rank":    strconv.Itoa(m.share.rank),
		"world":   strconv.Itoa(m.share.world),
		"draw":    strconv.Itoa(m.at.draw),
		"number":  strconv.Itoa(m.at.number),
		"samples": strconv.Itoa(rows),
		"dropped": strconv.Itoa(m.dropped),
	}}
	for _, c := range columns {
		h.Tensors = append(h.Tensors, c.Tensor)
		b.pieces = append(b.pieces, c.data)
	}
	b.header, b.err = h.Marshal()
	b.bytes = len(b.header) + h.Bytes()
	return b
}

// columns are the tensors of a batch, or of one without samples.
func (m *made) columns(spec dataset.Spec) []column {
	rows, indices := 0, []int(nil)
	if m.batch != nil {
		rows, indices = m.batch.Len(), m.batch.Indices()
	}
	columns := []column{numbers(wire.Indices, indices)}
	for _, f := range spec {
		n, ends, data := rows, []int{0}, []byte(nil)
		if m.batch != nil {
			data = m.batch.Bytes(f.Name)
			if f.Ragged {
				ends = m.batch.Offsets(f.Name)
			}
		}
		if f.Ragged {
			n = ends[rows]
			columns = append(columns, numbers(f.Name+wire.Offsets, ends))
		}
		dtype, _ := wire.SafetensorsDtype(f.Dtype) // Fields has checked it
		shape := append([]int{n}, f.Shape...)
		columns = append(columns, column{wire.Tensor{Name: f.Name, Dtype: dtype, Shape: shape, Bytes: len(data)}, f.Dtype.Size(), data})
	}
	return columns
}

// numbers is a tensor of int64.
func numbers(name string, values []int) column {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return column{wire.Tensor{Name: name, Dtype: "I64", Shape: []int{len(values)}, Bytes: len(data)}, 8, data}
}
