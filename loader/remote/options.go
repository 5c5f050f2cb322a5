package remote

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

// An Option configures [Open]. The zero Option sets nothing.
type Option struct{ set func(*config) }

// Rank sets which rank of how many the loader reads for. The default is rank 0 of 1.
func Rank(rank, world int) Option { return Option{func(c *config) { c.rank, c.world = rank, world }} }

// Loader gives the loader options, such as Memory, InFlight, Unordered, Timeout and
// Observe. Those that decide what a batch has, such as BatchSize, Shuffle, Seed, Collate and
// Skip, belong to the service and are errors here. In place of Ranks there is [Rank].
// Workers sets how many batches are requested at once, four at most. The default is 2.
func Loader(options ...loader.Option) Option {
	return Option{func(c *config) { c.loader = append(c.loader, options...) }}
}

// Token sends a bearer token with every request. It is sent over HTTPS only, except to the
// machine itself, or if [Insecure] allows HTTP. It is an error if secret is empty or if a
// header cannot carry it, as with a line break at its end.
func Token(secret string) Option {
	return Option{func(c *config) { c.token, c.tokenErr = secret, wire.CheckToken(secret) }}
}

// Insecure allows sending a [Token] over HTTP to other machines.
func Insecure() Option { return Option{func(c *config) { c.insecure = true }} }

// Plan sets the hash of the plan that replicas must have; others are left out. By default it is
// that of the replica that answers first.
func Plan(hash string) Option { return Option{func(c *config) { c.plan = hash }} }

// HTTPClient sends the requests through client. Its Timeout should be 0: [Silence] finds
// requests that hang. A redirect that would send a [Token] over HTTP is an error. The default is
// a client of HTTP/1.1 that keeps its connections and follows no redirects.
func HTTPClient(client *http.Client) Option {
	return Option{func(c *config) { c.http, c.client = client, true }}
}

// TLS sets how replicas are reached over HTTPS, such as the certificate authority that has
// issued their certificates (RootCAs) and the certificate of the client (Certificates). The
// default is the system's authorities and no certificate. All replicas need https then. It
// cannot be combined with [HTTPClient], whose Transport has its own. secure is copied. Its
// NextProtos do not matter: the client speaks HTTP/1.1.
func TLS(secure *tls.Config) Option {
	return Option{func(c *config) {
		c.tls, c.secured = secure.Clone(), true
		if c.tls != nil {
			c.tls.NextProtos = []string{"http/1.1"} // with others, the Transport would take HTTP/2 for HTTP/1.1
		}
	}}
}

// Retries sets how often all replicas are asked again before a batch fails. The default is 20:
// by then 70 s have passed on average, in addition to the time of the requests.
func Retries(n int) Option { return Option{func(c *config) { c.retries = n }} }

// OpenWithin sets for how long [Open] asks replicas again of which none answers. It does not
// end a request that was sent: see [Silence]. The default is 5 s. A trainer that may start
// before the service needs more. [Retries] does not limit it.
func OpenWithin(d time.Duration) Option { return Option{func(c *config) { c.within = d }} }

// Logger sets where it is logged that no replica answers a request, and that one answers it
// again: once each, however often the request is sent. By default nothing is logged.
func Logger(l *slog.Logger) Option { return Option{func(c *config) { c.log = l }} }

// Silence sets the time without a byte after which a request counts as broken. It must be
// longer than the service needs to make a batch, and than its sampler needs to plan an epoch for
// all ranks, four at once. The default is a minute.
func Silence(d time.Duration) Option { return Option{func(c *config) { c.silence = d }} }

// Limit sets how many bytes a batch may have in samples of fixed size, according to the plan,
// and how many that the plan does not tell: in ragged fields, and if it has more samples than
// any batch of epoch 0. More is an error of [Open], or of the batch. The default is 1 GiB.
func Limit(bytes int) Option { return Option{func(c *config) { c.limit = bytes }} }

type config struct {
	rank, world int
	loader      []loader.Option
	token, plan string
	tokenErr    error // what is wrong with the token
	insecure    bool
	http        *http.Client
	client      bool        // whether HTTPClient was given
	tls         *tls.Config // may be nil
	secured     bool        // whether TLS was given
	retries     int
	silence     time.Duration
	limit       int
	within      time.Duration
	log         *slog.Logger // not nil
}

func newConfig(options []Option) config {
	c := config{world: 1, retries: 20, silence: time.Minute, limit: 1 << 30, within: 5 * time.Second}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c *config) validate() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("remote: "+format, args...))
		}
	}
	wrong(c.world < 1 || c.rank < 0 || c.rank >= c.world, "Rank(%d, %d): want a rank from 0 to world-1", c.rank, c.world)
	wrong(c.tokenErr != nil, "Token: %w", c.tokenErr)
	wrong(c.client && c.http == nil, "HTTPClient(nil): want a client")
	wrong(c.secured && c.tls == nil, "TLS(nil): want a *tls.Config")
	wrong(c.secured && c.client, "TLS: cannot be given together with HTTPClient, whose Transport has a TLSClientConfig")
	wrong(c.retries < 0, "Retries(%d): want 0 or more", c.retries)
	wrong(c.silence <= 0, "Silence(%v): want more than 0", c.silence)
	wrong(c.within < 0, "OpenWithin(%v): want 0 or more", c.within)
	wrong(c.limit < 1, "Limit(%d): want 1 or more", c.limit)
	return errors.Join(errs...)
}
