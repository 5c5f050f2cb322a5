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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader/internal/assemble"
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

// A response is the body of status 200. Reads end if it is silent for too long.
type response struct {
	from    *replica
	length  int64 // of the body, or -1
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
	r.body, r.length = resp.Body, resp.ContentLength
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

// rowsOf is the number of samples of a batch, or -1.
func rowsOf(h *wire.Header) int {
	for _, t := range h.Tensors {
		if t.Name == wire.Indices {
			return t.Bytes / 8
		}
	}
	return -1
}

// check compares a header with the plan and the request.
func (c *client) check(h *wire.Header, b assemble.Filled) error {
	rows := rowsOf(h)
	if rows < 0 || rows > max(c.plan.Rows, c.cfg.limit) {
		return fmt.Errorf("header: %d samples", rows)
	}
	if err := c.checkTexts(h.Texts, b, rows); err != nil {
		return err
	}
	want, err := c.tensors(rows)
	if err != nil {
		return err
	}
	if len(h.Tensors) != len(want) {
		return fmt.Errorf("header: %d tensors, want %d", len(h.Tensors), len(want))
	}
	untold := 0 // bytes that the plan does not tell
	for _, t := range h.Tensors {
		w, ok := want[t.Name]
		delete(want, t.Name) // each comes once
		if !ok || !w.fits(t) {
			return fmt.Errorf("header: tensor %q is %s %v of %d bytes, which does not fit the plan", t.Name, t.Dtype, t.Shape, t.Bytes)
		}
		if w.element > 0 || rows > c.plan.Rows {
			untold += min(t.Bytes, c.cfg.limit+1)
		}
		if untold > c.cfg.limit {
			return final{fmt.Errorf("the ragged fields of the batch, or its samples beyond %d, have more than the %d bytes that Limit allows", c.plan.Rows, c.cfg.limit)}
		}
	}
	return nil
}

// checkTexts compares what a header says of the batch with the request.
func (c *client) checkTexts(texts map[string]string, b assemble.Filled, rows int) error {
	for k, v := range map[string]int{"epoch": b.Epoch(), "draw": b.Draw(), "number": b.Number(), "rank": c.cfg.rank, "world": c.cfg.world, "samples": rows} {
		if texts[k] != strconv.Itoa(v) {
			return fmt.Errorf("header: %s is %q, want %d", k, texts[k], v)
		}
	}
	if texts["plan"] != c.plan.Plan {
		return otherPlan(texts["plan"], c.plan.Plan)
	}
	return nil
}

// A wanted is a tensor that a batch must have.
type wanted struct {
	wire.Tensor
	element int // bytes of an element of a ragged field's values, of which there may be any number; otherwise 0
}

// fits reports whether t is what is wanted.
func (w wanted) fits(t wire.Tensor) bool {
	bytes, shape := w.Bytes, w.Shape
	if w.element > 0 {
		if t.Bytes%w.element != 0 {
			return false
		}
		bytes, shape = t.Bytes, append([]int{t.Bytes / w.element}, w.Shape[1:]...)
	}
	return t.Dtype == w.Dtype && t.Bytes == bytes && slices.Equal(t.Shape, shape)
}

// tensors are those of a batch with so many samples, by their names.
func (c *client) tensors(rows int) (map[string]wanted, error) {
	numbers := func(n int) wanted {
		return wanted{Tensor: wire.Tensor{Dtype: "I64", Shape: []int{n}, Bytes: 8 * n}}
	}
	want := map[string]wanted{wire.Indices: numbers(rows)}
	for _, f := range c.spec {
		dtype, err := wire.SafetensorsDtype(f.Dtype)
		if err != nil {
			return nil, err
		}
		if rows > math.MaxInt/2/f.Bytes() {
			return nil, fmt.Errorf("header: %d samples of %v", rows, f)
		}
		w := wanted{Tensor: wire.Tensor{Dtype: dtype, Shape: append([]int{rows}, f.Shape...), Bytes: rows * f.Bytes()}}
		if f.Ragged {
			want[f.Name+wire.Offsets] = numbers(rows + 1)
			w.element = f.Bytes()
		}
		want[f.Name] = w
	}
	return want, nil
}
