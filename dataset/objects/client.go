package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/pace"
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

// unexpected is the error of a body that ends early.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
