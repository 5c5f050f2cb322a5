package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

// A client sends the requests of one loader.
type client struct {
	cfg    config
	http   *http.Client
	own    *http.Transport // of http, unless HTTPClient gave another
	plan   wire.Plan
	spec   dataset.Spec
	fields map[string]int // the index of each in the spec
	route  route
	turns  chan struct{} // a token for each batch that is being read
}

// atOnce is how many batches are read at once. A service keeps about as many, so that
// requests may come in any order.
const atOnce = 4

func newClient(replicas []string, cfg config) (*client, error) {
	c := &client{cfg: cfg, http: cfg.http, turns: make(chan struct{}, atOnce)}
	err := cfg.validate()
	if len(replicas) == 0 {
		err = errors.Join(err, errors.New("remote: Open: no replicas"))
	}
	for _, r := range replicas {
		u, parseErr := url.Parse(strings.TrimSuffix(r, "/"))
		switch {
		case parseErr != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
			err = errors.Join(err, fmt.Errorf("remote: Open: %q is not the URL of a replica: want http://host:port", r[strings.LastIndex(r, "@")+1:])) // without a password
		case cfg.token != "" && !cfg.insecure && u.Scheme != "https" && !loopback(u.Hostname()):
			err = errors.Join(err, fmt.Errorf("remote: Open: %s: a Token needs https, or Insecure", u.Redacted()))
		case cfg.secured && u.Scheme != "https":
			err = errors.Join(err, fmt.Errorf("remote: Open: %s: TLS needs https", u.Redacted()))
		default:
			c.route.replicas = append(c.route.replicas, &replica{url: u.String(), name: u.Redacted()})
		}
	}
	if err != nil {
		return nil, err
	}
	c.route.sort(fmt.Sprintf("%d-%d", cfg.rank, cfg.world))
	if c.http != nil && cfg.token != "" && !cfg.insecure {
		guarded := *c.http
		guarded.CheckRedirect = staysSecure(c.http.CheckRedirect)
		c.http = &guarded
	}
	if c.http == nil {
		c.own = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSClientConfig:     cfg.tls,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 2 * atOnce,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
			Protocols:           new(http.Protocols), // HTTP/2 would copy every batch
		}
		c.own.Protocols.SetHTTP1(true)
		c.http = &http.Client{Transport: c.own, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return c, nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// staysSecure refuses redirects from HTTPS to HTTP, because a redirect to another port of the same
// host takes the token along. Otherwise it is next, or if that is nil, the default.
func staysSecure(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(to *http.Request, via []*http.Request) error {
		switch {
		case to.URL.Scheme != "https" && !loopback(to.URL.Hostname()):
			return final{fmt.Errorf("redirected to %s: a Token needs https, or Insecure", to.URL.Redacted())}
		case next != nil:
			return next(to, via)
		case len(via) >= 10:
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
}

// close closes connections that are not in use.
func (c *client) close() error {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// fetchJSON requests a path and decodes the answer, of which check reports what is wrong with it.
func fetchJSON[T any](ctx context.Context, c *client, path string, patience time.Duration, check func(*T) error) (*T, error) {
	const most = 1 << 20
	var value *T
	err := c.fetch(ctx, path, patience, func(r *response) error {
		value = new(T) // an earlier replica's answer may have set some of it
		if err := json.NewDecoder(io.LimitReader(r, most)).Decode(value); err != nil {
			return err
		}
		return check(value)
	})
	return value, err
}

// A final error comes from every replica.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// An unfit error is that of a replica that does not serve what is wanted. Others may, and it may
// after it was started again.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

func otherPlan(has, want string) error {
	return unfit{fmt.Errorf("it serves plan %.64s, want %s", has, want)}
}

// forever is the patience where Retries sets how often replicas are asked again.
const forever = time.Duration(math.MaxInt64)

// fetch requests a path until a replica has answered and use has read the answer. If all
// replicas have failed, they are not asked again after the time patience, or if that is
// forever, after Retries.
func (c *client) fetch(ctx context.Context, path string, patience time.Duration, use func(*response) error) error {
	var errs []error
	begun := time.Now()
	for round := 0; ; round++ {
		errs = errs[:0]
		others := 0 // unfit replicas
		asked := c.route.order()
		for _, r := range asked {
			err := c.attempt(ctx, r, path, use)
			if err == nil {
				if round > 0 {
					c.cfg.log.Info("the service answers again", "request", path, "after", time.Since(begun))
				}
				return nil
			}
			if _, ok := errors.AsType[final](err); ok || ctx.Err() != nil {
				return fmt.Errorf("%s: %w", r.name, figures.InOneLine(err))
			}
			if _, ok := errors.AsType[unfit](err); ok {
				others++
			}
			errs = append(errs, fmt.Errorf("%s: %w", r.name, figures.InOneLine(err)))
		}
		if others == len(asked) || patience == forever && round == c.cfg.retries {
			return errors.Join(errs...)
		}
		left := patience - time.Since(begun)
		if left <= 0 {
			return errors.Join(append(errs, fmt.Errorf("no replica answered for %v", patience))...)
		}
		if round == 0 {
			c.cfg.log.Warn("no replica answers, they are asked again", "request", path, "err", errors.Join(errs...))
		}
		if err := pause(ctx, round, left); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}

// attempt asks a replica. It comes after the others from then on if it has failed, unless the
// request was cancelled or every replica would fail in this way.
func (c *client) attempt(ctx context.Context, from *replica, path string, use func(*response) error) error {
	r := &response{from: from, silence: c.cfg.silence}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.timer = time.AfterFunc(r.silence, func() { r.cancel(fmt.Errorf("no byte for %v", r.silence)) })
	defer r.close()
	err := c.send(r, path)
	if err == nil {
		err = use(r)
	}
	if err == nil {
		return nil
	}
	err = r.cause(err)
	if _, ok := errors.AsType[final](err); !ok && ctx.Err() == nil {
		c.route.failed(from)
	}
	return err
}

// mostPause is the longest time before all replicas are asked again.
const mostPause = 10 * time.Second

// pause waits before all replicas are asked again, for the time left at the longest.
func pause(ctx context.Context, round int, left time.Duration) error {
	most := min(100*time.Millisecond<<min(round, 10), mostPause)
	timer := time.NewTimer(min(rand.N(most), left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A response is the answer of a replica, of which the body of status 200 is read. It ends if it is silent for too long.
type response struct {
	from    *replica
	body    io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

func (r *response) Read(p []byte) (int, error) {
	r.timer.Reset(r.silence)
	return r.body.Read(p)
}

// close ends the response. The connection can be used again if the body was read to its
// end.
func (r *response) close() {
	if r.body != nil {
		r.body.Close() // what was needed has been read
	}
	r.timer.Stop()
	r.cancel(nil)
}

// cause is err, or why the response was ended.
func (r *response) cause(err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// send sends a request and waits for the response.
func (c *client) send(r *response, path string) error {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.from.url+path, nil)
	if err != nil {
		return err
	}
	if c.cfg.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	r.body = resp.Body
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return refusal(resp, c.plan.Plan)
}

// refusal is the error of another status than 200, if plan was wanted.
func refusal(resp *http.Response, plan string) error {
	const most = 64 << 10
	var text wire.Error
	err := fmt.Errorf("status %s", resp.Status)
	if json.NewDecoder(io.LimitReader(resp.Body, most)).Decode(&text) == nil && text.Error != "" {
		err = fmt.Errorf("status %s: %s", resp.Status, text.Error)
	}
	switch resp.StatusCode {
	case http.StatusConflict:
		return otherPlan(text.Plan, plan)
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError:
		return final{err}
	}
	return err
}

// A route is the order in which replicas are asked.
type route struct {
	mu       sync.Mutex
	replicas []*replica // the one to ask first comes first
}

// A replica is a process of the service, or a load balancer in front of several.
type replica struct {
	url  string
	name string // the URL without a password
}

// sort sorts the replicas by rendezvous hashing: every rank prefers another one, and if a
// replica is added or removed, only ranks that prefer it change. Source: Thaler,
// Ravishankar, "Using name-based mappings to increase hit rates", 1998.
func (r *route) sort(key string) {
	weight := func(of *replica) uint64 {
		sum := sha256.Sum256([]byte(key + " " + of.url))
		return binary.BigEndian.Uint64(sum[:])
	}
	slices.SortStableFunc(r.replicas, func(a, b *replica) int { return cmp.Compare(weight(b), weight(a)) })
}

// order is the replicas in the order in which to ask them now.
func (r *route) order() []*replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.replicas)
}

// failed puts a replica behind the others. They are asked first until they fail, too.
func (r *route) failed(of *replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.replicas, of)
	r.replicas = append(slices.Delete(r.replicas, i, i+1), of)
}
