package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

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
