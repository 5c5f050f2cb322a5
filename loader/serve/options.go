package serve

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
	"github.com/penstock-go/penstock/sampler"
)

// An Option configures a [Server]. The zero Option sets nothing.
type Option struct{ set func(*config) }

// Loader gives the loaders of the Server these options, such as BatchSize, Shuffle, Seed,
// Collate and Workers. Sampler and BatchSampler are those of all ranks together.
//
// A limit of [loader.Skip] counts from where a loader began, which is not the same on all
// replicas: use [loader.NoLimit].
func Loader(options ...loader.Option) Option {
	return Option{func(c *config) { c.loader = append(c.loader, options...) }}
}

// Mode sets what happens to the last samples if their number does not divide evenly
// among ranks. The default is [sampler.PadToEven].
func Mode(m sampler.Mode) Option { return Option{func(c *config) { c.mode = m }} }

// Identity adds a text to what the plan's hash covers, such as the version of the data.
// Give one if files may change and keep their names.
func Identity(text string) Option { return Option{func(c *config) { c.identity = text }} }

// Token sets a bearer token. Then all requests need the header "Authorization: Bearer" with
// it, except those for /healthz and /readyz. The Server keeps only its hash. It is an error
// if secret is empty or if a header cannot carry it, as with a line break at its end.
func Token(secret string) Option {
	return Option{func(c *config) {
		c.token, c.tokenErr, c.secret = true, wire.CheckToken(secret), sha256.Sum256([]byte(secret))
	}}
}

// Batches sets how many batches may be in memory, over all clients. Every loop over an
// epoch that a client reads takes [InFlight] of them. While there is no memory for
// another loop, requests that need one get status 503. The default is 48.
func Batches(n int) Option { return Option{func(c *config) { c.batches = n }} }

// InFlight sets the number of batches in memory for a rank that is read. Three of them are
// kept after they were made, so that they can be sent again, or out of order. The default
// is 6. At least 5 are needed.
func InFlight(n int) Option { return Option{func(c *config) { c.inFlight = n }} }

// Requests sets how many requests for batches the Server answers at once. Others get
// status 503. The default is 64.
func Requests(n int) Option { return Option{func(c *config) { c.requests = n }} }

// Idle sets the time after which the memory of a rank that nobody reads is freed. The
// default is a minute.
func Idle(d time.Duration) Option { return Option{func(c *config) { c.idle = d }} }

// Stall sets how long a client may take for 4 MiB of a batch, and for the rest of it or another
// answer. Then it is disconnected, so that slow readers do not hold memory. The default is 30 s.
func Stall(d time.Duration) Option { return Option{func(c *config) { c.stall = d }} }

// Logger sets where it is logged why batches cannot be made, each reason once a minute at most,
// and by [ListenAndServe] also errors of connections. By default nothing is logged.
func Logger(l *slog.Logger) Option { return Option{func(c *config) { c.log = l }} }

type config struct {
	loader   []loader.Option
	mode     sampler.Mode
	identity string
	token    bool
	tokenErr error             // what is wrong with the token
	secret   [sha256.Size]byte // the hash of the token

	batches, inFlight, requests int
	idle, stall                 time.Duration
	log                         *slog.Logger // not nil
}

// kept is how many batches of a lane are kept after they were made.
const kept = 3

func newConfig(options []Option) config {
	c := config{batches: 48, inFlight: 6, requests: 64, idle: time.Minute, stall: 30 * time.Second}
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
			errs = append(errs, fmt.Errorf("serve: "+format, args...))
		}
	}
	wrong(c.tokenErr != nil, "Token: %w", c.tokenErr)
	wrong(c.inFlight < kept+2, "InFlight(%d): want %d or more", c.inFlight, kept+2)
	wrong(c.batches < c.inFlight, "Batches(%d): want InFlight(%d) or more", c.batches, c.inFlight)
	wrong(c.requests < 1, "Requests(%d): want 1 or more", c.requests)
	wrong(c.idle <= 0, "Idle(%v): want more than 0", c.idle)
	wrong(c.stall <= 0, "Stall(%v): want more than 0", c.stall)
	wrong(c.mode < sampler.PadToEven || c.mode > sampler.KeepExact, "Mode(%v): want PadToEven, DropToEven or KeepExact", c.mode)
	return errors.Join(errs...)
}
