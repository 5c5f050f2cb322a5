package pace_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects/internal/pace"
)

// A service answers after a time that the test sets, and knows what became of its answers.
type service struct {
	p         pace.Pace
	running   atomic.Int64 // requests
	cancelled atomic.Int64
	open      atomic.Int64 // answers that are neither used nor dropped
	dropped   atomic.Int64
}

// An answer has the number that its request was made with.
type answer struct {
	number int
	ctx    context.Context
	closed bool
}

var errBad = errors.New("bad")

// send is a request that is answered after d, or fails then.
func (s *service) send(number int, d time.Duration, err error) func(context.Context) (*answer, error) {
	return func(ctx context.Context) (*answer, error) {
		s.running.Add(1)
		defer s.running.Add(-1)
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			s.cancelled.Add(1)
			return nil, ctx.Err()
		case <-timer.C:
		}
		if err != nil {
			return nil, err
		}
		s.open.Add(1)
		return &answer{number: number, ctx: ctx}, nil
	}
}

// drop closes an answer, which must be done once.
func (s *service) drop(a *answer) {
	if a.closed {
		panic("an answer is closed twice")
	}
	a.closed = true
	s.open.Add(-1)
	s.dropped.Add(1)
}

// usual is how long answers take, and late the longest time until a second request: the
// steps of the histogram are 9 % wide.
const (
	usual = 100 * time.Millisecond
	late  = usual * 110 / 100
)

// newService has answered so many requests in the usual time that slow ones are hedged, n of
// them within the budget.
func newService(t *testing.T, n int) *service {
	t.Helper()
	s := &service{}
	const before = 32
	s.p.Share = (float64(n) + 0.5) / before
	for range before {
		a, end, err := pace.Race(t.Context(), &s.p, s.send(1, usual, nil), s.never(t), s.drop)
		if err != nil {
			t.Fatal(err)
		}
		s.drop(a)
		end()
	}
	s.p.Share = 1e-6
	s.dropped.Store(0)
	return s
}

// never is a second request that must not be sent.
func (s *service) never(t *testing.T) func(context.Context) (*answer, error) {
	return func(context.Context) (*answer, error) {
		t.Error("a second request was sent")
		return nil, errBad
	}
}

// settled fails if something is left.
func (s *service) settled(t *testing.T) {
	t.Helper()
	if r, o := s.running.Load(), s.open.Load(); r != 0 || o != 0 {
		t.Errorf("%d requests run and %d answers are open after the end", r, o)
	}
}

func TestTheFasterAnswerIsUsedAndTheOtherRequestCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		first, second time.Duration
		want          int
		took          [2]time.Duration // least, most
		cancelled     int64
	}{
		"first in time":           {usual, 0, 1, [2]time.Duration{usual, usual}, 0},
		"first in spite of hedge": {2 * usual, time.Hour, 1, [2]time.Duration{2 * usual, 2 * usual}, 1},
		"second":                  {time.Hour, usual, 2, [2]time.Duration{2 * usual, usual + late}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			begun := time.Now()
			var hedged time.Duration
			second := func(ctx context.Context) (*answer, error) {
				hedged = time.Since(begun)
				return s.send(2, c.second, nil)(ctx)
			}
			a, end, err := pace.Race(t.Context(), &s.p, s.send(1, c.first, nil), second, s.drop)
			took := time.Since(begun)
			if err != nil {
				t.Fatal(err)
			}
			if a.number != c.want || took < c.took[0] || took > c.took[1] {
				t.Errorf("%s: answer %d after %v, want %d after %v", name, a.number, took, c.want, c.took)
			}
			synctest.Wait()
			if a.closed || a.ctx.Err() != nil {
				t.Errorf("%s: the answer's context is done before its end: %v", name, a.ctx.Err())
			}
			if s.running.Load() != 0 || s.cancelled.Load() != c.cancelled {
				t.Errorf("%s: %d requests run, %d were cancelled, want %d", name, s.running.Load(), s.cancelled.Load(), c.cancelled)
			}
			s.drop(a)
			end()
			if s.settled(t); hedged != 0 && (hedged <= usual || hedged > late) {
				t.Errorf("%s: the second request was sent after %v, want %v to %v", name, hedged, usual, late)
			}
			if sent := hedged != 0; sent != (c.first > usual) {
				t.Errorf("%s: the second request was sent: %v", name, sent)
			}
		})
	}
}

// Answers that come although their request was cancelled are dropped, whichever it was.
func TestTheAnswerOfTheLoserIsDropped(t *testing.T) {
	for want, d := range map[int][2]time.Duration{1: {2 * usual, 3 * usual}, 2: {9 * usual, usual}} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			deaf := func(number int) func(context.Context) (*answer, error) {
				send := s.send(number, d[number-1], nil)
				return func(context.Context) (*answer, error) { return send(t.Context()) }
			}
			a, end, err := pace.Race(t.Context(), &s.p, deaf(1), deaf(2), s.drop)
			if err != nil || a.number != want || a.closed {
				t.Fatalf("got %+v, %v, want answer %d", a, err, want)
			}
			s.drop(a)
			end() // waits for the loser
			if s.settled(t); s.dropped.Load() != 2 {
				t.Errorf("answer %d: %d answers were closed, want both", want, s.dropped.Load())
			}
		})
	}
}

func TestErrorsOfTheSecondRequestDoNotEndTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, 1)
		a, end, err := pace.Race(t.Context(), &s.p, s.send(1, 5*usual, nil), s.send(2, usual, errBad), s.drop)
		if err != nil || a.number != 1 {
			t.Fatalf("got %v, %v", a, err)
		}
		s.drop(a)
		end()
		s.settled(t)
	})
}

func TestBothErrorsAreReported(t *testing.T) {
	errFirst := errors.New("unavailable")
	for want, second := range map[string]time.Duration{
		"unavailable; the second request: bad": usual,
		"unavailable":                          time.Hour, // it did not fail: it was cancelled
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			begun := time.Now()
			_, end, err := pace.Race(t.Context(), &s.p, s.send(1, 5*usual, errFirst), s.send(2, second, errBad), s.drop)
			if err == nil || err.Error() != want || !errors.Is(err, errFirst) || errors.Is(err, errBad) || end != nil {
				t.Errorf("got %v, want %s", err, want)
			}
			if took := time.Since(begun); took != 5*usual {
				t.Errorf("took %v", took)
			}
			s.settled(t)
		})
	}
}

func TestACancelledContextEndsBothRequests(t *testing.T) {
	for _, after := range []time.Duration{usual / 2, 3 * usual} { // before the second request, and after
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			begun := time.Now()
			_, end, err := pace.Race(ctx, &s.p, s.send(1, time.Hour, nil), s.send(2, time.Hour, nil), s.drop)
			if took := time.Since(begun); err != context.DeadlineExceeded || took != after || end != nil {
				t.Errorf("got %v after %v, want the context's error after %v", err, took, after)
			}
			s.settled(t)
		})
	}
}

func TestNoSecondRequestIsSentWithoutBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, 2)
		for k := range 4 {
			want, second := 1, s.never(t)
			if k < 2 {
				want, second = 2, s.send(2, usual, nil)
			}
			a, end, err := pace.Race(t.Context(), &s.p, s.send(1, time.Minute, nil), second, s.drop)
			if err != nil {
				t.Fatal(err)
			}
			if a.number != want {
				t.Errorf("request %d: answer %d, want %d", k, a.number, want)
			}
			s.drop(a)
			end()
			s.settled(t)
		}
	})
}

func TestNothingIsHedgedBeforeTheUsualTimeIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, share := range []float64{0, 1} {
			s := &service{}
			s.p.Share = share
			for range 31 {
				a, end, err := pace.Race(t.Context(), &s.p, s.send(1, time.Hour, nil), s.never(t), s.drop)
				if err != nil || a.ctx != t.Context() {
					t.Fatal(err)
				}
				s.drop(a)
				end()
			}
			if _, end, err := pace.Race(t.Context(), &s.p, s.send(1, 0, errBad), s.never(t), s.drop); err != errBad || end != nil {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestAPanicOfTheFirstRequestLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 5 * usual} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			defer s.settled(t)
			defer func() {
				if v := recover(); v != errBad {
					t.Errorf("recovered %v", v)
				}
			}()
			first := func(ctx context.Context) (*answer, error) {
				time.Sleep(after) // longer than the second request
				panic(errBad)
			}
			second := s.send(2, usual, nil)
			if after == 0 {
				second = s.never(t)
			}
			pace.Race(t.Context(), &s.p, first, second, s.drop)
			t.Error("no panic")
		})
	}
}

// A panic of the second request would end the program in the goroutine that sends it.
func TestAPanicOfTheSecondRequestIsOneOfTheCaller(t *testing.T) {
	for _, after := range []time.Duration{0, 10 * usual, time.Hour} { // that the first one takes
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, 1)
			defer s.settled(t)
			defer func() {
				if e, ok := recover().(*dataset.PanicError); !ok || e.Value != errBad || !strings.Contains(string(e.Stack), "race_test.go") {
					t.Errorf("the first request takes %v: recovered %v", after, e)
				}
			}()
			second := func(ctx context.Context) (*answer, error) {
				if after == 10*usual {
					<-ctx.Done() // the first one is in use
				}
				panic(errBad)
			}
			first := s.send(1, after, nil)
			if after == 0 {
				first = func(ctx context.Context) (*answer, error) { // which does not listen
					time.Sleep(10 * usual)
					return s.send(1, 0, nil)(context.WithoutCancel(ctx))
				}
			}
			a, end, err := pace.Race(t.Context(), &s.p, first, second, s.drop)
			if after != 10*usual || err != nil {
				t.Fatalf("%v, %v, want a panic", a, err)
			}
			defer s.drop(a)
			end()
			t.Error("no panic of end")
		})
	}
}

// Requests of random length that fail, are slow and do not listen leave nothing, and every
// answer is closed once.
func TestManyRacesLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, 10)
		s.p.Share = 0.5
		var group sync.WaitGroup
		var won [3]atomic.Int64
		for w := range 16 {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			group.Go(func() {
				for range 500 {
					request := func(number int) func(context.Context) (*answer, error) {
						d, err := time.Duration(r.IntN(int(usual))), error(nil)
						if r.IntN(4) == 0 {
							d *= 8
						}
						if r.IntN(5) == 0 {
							err = errBad
						}
						send, deaf := s.send(number, d, err), r.IntN(4) == 0
						return func(ctx context.Context) (*answer, error) {
							if deaf {
								a, err := send(t.Context())
								if a != nil {
									a.ctx = ctx
								}
								return a, err
							}
							return send(ctx)
						}
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(int(20*usual))))
					a, end, err := pace.Race(ctx, &s.p, request(1), request(2), s.drop)
					if err != nil {
						won[0].Add(1)
						cancel()
						continue
					}
					if a.ctx.Err() != nil && ctx.Err() == nil {
						t.Error("an answer was cancelled")
					}
					won[a.number].Add(1)
					s.drop(a)
					end()
					cancel()
				}
			})
		}
		group.Wait()
		s.settled(t)
		for k := range won {
			if won[k].Load() < 100 {
				t.Errorf("%d races ended with answer %d, want some of all", won[k].Load(), k)
			}
		}
	})
}
