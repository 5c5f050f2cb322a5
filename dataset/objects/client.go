package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/internal/pace"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/figures"
)

const (
	firstPause = 100 * time.Millisecond // before the second request, at most
	mostPause  = 10 * time.Second       // before any further one
	mostAsked  = 2 * time.Minute        // that a service may ask to wait

	// progress is how many bytes a request must bring so that the failures before it
	// no longer count.
	progress = 256 << 10
)

// A Client is a [Store] over a [Remote].
//
// A read goes on at the byte that a broken request had reached: one that fails, ends early, or is
// silent for the time of [Silence]. Before further requests the client waits, longer each time, or as
// long as the service asks. After [Retries] failures in a row it gives up.
//
// If the first byte of a response takes longer than it took for 95 % of the latest
// ones, the client sends the same request again and reads the response that comes
// first, within the share that [Hedge] allows, and not while the service slows down as a whole.
type Client struct {
	remote Remote
	config
	count    counters
	pace     pace.Pace
	versions sync.Map // by the names of objects whose versions were not known
}

// NewClient makes a client. It sends no request.
func NewClient(r Remote, options ...Option) (*Client, error) {
	c := &Client{remote: r, config: defaults()}
	for _, option := range options {
		if option.set != nil {
			option.set(&c.config)
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.pace.Share = c.hedge
	return c, nil
}

// Identity is that of the remote.
func (c *Client) Identity() string { return c.remote.Identity() }

// String is the identity, or the type of a remote that has none.
func (c *Client) String() string { return cmp.Or(c.Identity(), fmt.Sprintf("%T", c.remote)) }

// ReadAt reads len(p) bytes of o, from byte off on.
func (c *Client) ReadAt(ctx context.Context, o Object, p []byte, off int64) error {
	if err := checkRange(o, len(p), off); err != nil {
		return named("read", o.Name, final(err))
	}
	return named("read", o.Name, c.retry(ctx, func() (int, error) {
		if len(p) == 0 {
			return 0, nil
		}
		n, err := c.read(ctx, c.known(o), p, off)
		p, off = p[n:], off+int64(n)
		return n, err
	}))
}

// checkRange refuses bytes that an object does not have.
func checkRange(o Object, n int, off int64) error {
	if off < 0 || o.Size >= 0 && (off > o.Size || int64(n) > o.Size-off) {
		return fmt.Errorf("%d bytes from byte %d of an object of %d bytes", n, off, o.Size)
	}
	return nil
}

// Stat finds the size and the version of an object. It requests the first byte,
// because a presigned URL is for GET and not for HEAD.
func (c *Client) Stat(ctx context.Context, name string) (found Object, err error) {
	o := c.known(Object{Name: name, Size: -1})
	err = c.retry(ctx, func() (int, error) {
		w := c.watch(ctx)
		defer w.end()
		c.count.requests.Add(1)
		body, got, err := c.remote.Get(w.ctx, o, 0, 1)
		if err != nil {
			return 0, w.cause(err)
		}
		found = Object{name, got.Size, got.Version}
		if got.Size < 0 {
			err = Permanent(errors.New("the response does not tell the object's size"))
		}
		return 0, errors.Join(err, c.remember(o, got), body.Close())
	})
	return found, named("stat", name, err)
}

// List yields the objects of the remote. After a broken request it goes on with the
// object after the last one.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		after := ""
		left := c.listing
		err := c.retry(ctx, func() (int, error) {
			w := c.watch(ctx)
			defer w.end()
			c.count.requests.Add(1)
			listed := 0
			for o, err := range c.remote.List(w.ctx, prefix, after) {
				if err != nil {
					return listed, w.cause(err)
				}
				if left -= listedBytes(o); left < 0 {
					return listed, Permanent(fmt.Errorf("a listing of more bytes than MaxListingBytes(%d) allows", c.listing))
				}
				if o == (Object{}) {
					w.heard()
					continue
				}
				after, listed = o.Name, progress
				w.pause()
				if !yield(o, nil) {
					yield = nil
					return listed, nil
				}
				w.heard()
			}
			return listed, nil
		})
		if err != nil {
			yield(Object{}, named("list", prefix, err))
		}
	}
}

// listedBytes is how many bytes an object of a listing counts for [MaxListingBytes].
func listedBytes(o Object) int64 {
	if o == (Object{}) {
		return 1
	}
	return int64(len(o.Name)) + int64(len(o.Version)) + 64
}

// known is o with the version that earlier reads have found.
func (c *Client) known(o Object) Object {
	if o.Version == "" {
		if v, ok := c.versions.Load(o.Name); ok {
			o.Version = v.(string)
		}
	}
	return o
}

// remember compares o with what a response tells, and keeps a version that was not
// known.
func (c *Client) remember(o, got Object) error {
	version := o.Version
	if version == "" && got.Version != "" {
		v, _ := c.versions.LoadOrStore(o.Name, got.Version)
		version = v.(string)
	}
	if version != got.Version {
		return fmt.Errorf("%w: %.100s, was %.100s", ErrReplaced, figures.OneLine(got.Version), figures.OneLine(version))
	}
	if o.Size >= 0 && got.Size >= 0 && o.Size != got.Size {
		return fmt.Errorf("%w: %d bytes, were %d", ErrReplaced, got.Size, o.Size)
	}
	return nil
}

// read sends one request, or two if the first is slow. It returns how many bytes of p have come.
func (c *Client) read(ctx context.Context, o Object, p []byte, off int64) (int, error) {
	s, err := c.begin(ctx, o, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer s.close()
	n, err := s.fill(p)
	c.count.bytes.Add(int64(n))
	return n, err
}

// retry calls attempt until it succeeds, fails for good, or has failed too often.
// attempt returns how many bytes it has brought.
func (c *Client) retry(ctx context.Context, attempt func() (int, error)) error {
	for failed := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := attempt()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case response.Final(err):
			return final(err)
		case n >= progress:
			failed = 0
		}
		if failed++; failed > c.retries {
			return passingError{fmt.Errorf("gave up after %d failures in a row: %w", failed, err)}
		}
		if err := pause(ctx, failed, err); err != nil {
			return err
		}
		c.count.retries.Add(1)
	}
}

// pause waits before the next request. The time is random, so that clients that failed
// together do not come back together.
func pause(ctx context.Context, failed int, err error) error {
	most := mostPause
	if shift := failed - 1; shift < 10 {
		most = min(firstPause<<shift, mostPause)
	}
	wait := rand.N(most + 1)
	if asked := response.Asked(err); asked > mostAsked {
		return passingError{fmt.Errorf("%w: the service asks to wait for %v", err, asked)}
	} else {
		wait += max(asked, 0)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// An Option changes how a [Client] reads. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	retries int
	silence time.Duration
	hedge   float64
	listing int64
}

func defaults() config {
	return config{retries: 8, silence: 10 * time.Second, hedge: 0.05, listing: 4 << 30}
}

// Retries sets after how many further requests without success a read fails. The
// default is 8. A read that fails has then waited 11 s on average and 23 s at most, in
// addition to the time of the requests.
func Retries(n int) Option { return Option{func(c *config) { c.retries = n }} }

// Silence sets after which time without a byte a request counts as broken. A slow
// response is not broken. The default is 10 s.
func Silence(d time.Duration) Option { return Option{func(c *config) { c.silence = d }} }

// Hedge sets how many second requests may be sent for slow ones, as a share of all
// requests. The default is 0.05. Hedge(0) sends none.
func Hedge(share float64) Option { return Option{func(c *config) { c.hedge = share }} }

// MaxListingBytes sets how many bytes a listing may have: those of names and versions, and 64 for
// each object. A longer one is an error. The default is 4 GiB, or 30 million objects.
func MaxListingBytes(bytes int64) Option { return Option{func(c *config) { c.listing = bytes }} }

func (c *config) check() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("objects: "+format, args...))
		}
	}
	wrong(c.retries < 0, "Retries(%d): want 0 or more", c.retries)
	wrong(c.silence <= 0, "Silence(%v): want more than 0", c.silence)
	wrong(!(c.hedge >= 0 && c.hedge <= 1), "Hedge(%v): want 0 to 1", c.hedge)
	wrong(c.listing < 1, "MaxListingBytes(%d): want 1 or more", c.listing)
	return errors.Join(errs...)
}

// Stats counts what a [Client] has done.
type Stats struct {
	Requests  int64 // sent, of all kinds
	Bytes     int64 // read into the memory of callers
	Retries   int64 // requests sent because an earlier one was broken
	Hedges    int64 // requests sent because the first byte of another one took long
	HedgesWon int64 // of these, how many were faster
}

type counters struct{ requests, bytes, retries, hedges, hedgesWon atomic.Int64 }

// Stats returns the counts since the client was made.
func (c *Client) Stats() Stats {
	n := &c.count
	return Stats{n.requests.Load(), n.bytes.Load(), n.retries.Load(), n.hedges.Load(), n.hedgesWon.Load()}
}

// A watch ends its context after a time without a byte.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

// silentError is the error of a request that was silent for that long.
type silentError time.Duration

func (e silentError) Error() string { return fmt.Sprintf("no byte for %v", time.Duration(e)) }

func (c *Client) watch(ctx context.Context) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{ctx: ctx, cancel: cancel, silence: c.silence}
	w.timer = time.AfterFunc(w.silence, func() { cancel(silentError(w.silence)) })
	return w
}

func (w *watch) heard() { w.timer.Reset(w.silence) }
func (w *watch) pause() { w.timer.Stop() }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause is err, or why the watch has ended the request.
func (w *watch) cause(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// A stream is a response of which at least one byte has arrived.
type stream struct {
	*watch
	body  io.ReadCloser
	first [512]byte // begins with the bytes read so far
	n     int       // number of these bytes
	hedge bool      // whether the request was the second one for these bytes
	after func()    // if not nil, close calls it
}

// begin sends a request and waits for the first byte. If that takes long, it sends a
// second request, and returns the response that begins first.
func (c *Client) begin(ctx context.Context, o Object, off, n int64) (*stream, error) {
	first := func(ctx context.Context) (*stream, error) { return c.open(ctx, o, off, n) }
	second := func(ctx context.Context) (*stream, error) {
		c.count.hedges.Add(1)
		s, err := c.open(ctx, o, off, n)
		if err == nil {
			s.hedge = true
		}
		return s, err
	}
	s, end, err := pace.Race(ctx, &c.pace, first, second, (*stream).close)
	if err != nil {
		return nil, err
	}
	if s.hedge {
		c.count.hedgesWon.Add(1)
	}
	s.after = end
	return s, nil
}

// open sends a request for n bytes and waits for the first of them.
func (c *Client) open(ctx context.Context, o Object, off, n int64) (*stream, error) {
	s := &stream{watch: c.watch(ctx)}
	c.count.requests.Add(1)
	if err := c.receive(s, o, off, n); err != nil {
		err = s.cause(bulk.Unexpected(err))
		s.close()
		return nil, err
	}
	return s, nil
}

func (c *Client) receive(s *stream, o Object, off, n int64) error {
	body, got, err := c.remote.Get(s.ctx, o, off, n)
	if err != nil {
		return err
	}
	s.body = body
	if err := c.remember(o, got); err != nil {
		return err
	}
	for s.n == 0 && err == nil {
		s.n, err = body.Read(s.first[:min(n, int64(len(s.first)))])
	}
	if s.n > 0 {
		return nil // an error comes again with the next read
	}
	return err
}

// fill reads len(p) bytes. If the body ends early, it returns how many have come.
func (s *stream) fill(p []byte) (int, error) {
	n := copy(p, s.first[:s.n])
	for n < len(p) {
		s.heard()
		k, err := s.body.Read(p[n:])
		n += k
		if err != nil && n < len(p) {
			return n, s.cause(bulk.Unexpected(err))
		}
	}
	return n, nil
}

func (s *stream) close() {
	s.end()
	if s.body != nil {
		_ = s.body.Close() // the bytes have been read
	}
	if s.after != nil {
		s.after()
	}
}

var (
	// ErrExpired is the error if a presigned URL or a credential is no longer valid.
	ErrExpired = response.ErrExpired
	// ErrReplaced is the error if the object is not the version that was listed or
	// read before.
	ErrReplaced = response.ErrReplaced
)

// Permanent is err as an error after which a [Client] does not try again.
func Permanent(err error) error { return response.Permanent(err) }

// An objectError names the object. Package io/fs names it in another way: see [cause].
type objectError struct {
	op, name string
	err      error
}

func (e *objectError) Error() string {
	return fmt.Sprintf("objects: %s %s: %v", e.op, figures.OneLine(e.name), e.err)
}
func (e *objectError) Unwrap() error { return e.err }

// named is err of an operation on the object of that name.
func named(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if name == "" {
		name = "all objects"
	}
	return &objectError{op, name, err}
}

// A passingError is an error of a store that says nothing about the object. See
// dataset.MayPass.
type passingError struct{ error }

func (e passingError) Unwrap() error   { return e.error }
func (e passingError) Temporary() bool { return true }

// final is err after which nobody tries again. Only a missing object counts as a damaged sample:
// anything else is an error of access, of the service, of the connection or of the program.
func final(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return passingError{err}
}

// cause is err without the object's name, for an [fs.PathError], which has the name.
func cause(err error) error {
	if e, ok := err.(*objectError); ok {
		return e.err
	}
	return err
}
