package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A ListenOption configures [ListenAndServe]. The zero ListenOption sets nothing.
type ListenOption struct{ set func(*listening) }

// TLS serves HTTPS with the certificate and the key in these files.
func TLS(certificate, key string) ListenOption {
	return ListenOption{func(l *listening) { l.certificate, l.key = certificate, key }}
}

// ClientCA accepts only clients that have a certificate of a certificate authority in this
// file, in the format PEM. It needs [TLS], and replaces a [Token]. Probes need a certificate
// too.
func ClientCA(file string) ListenOption {
	return ListenOption{func(l *listening) { l.clientCA, l.identified = file, true }}
}

// Insecure allows listening beyond the loopback interface without TLS or without a token:
// for networks where everybody may read the data.
func Insecure() ListenOption { return ListenOption{func(l *listening) { l.insecure = true }} }

// Connections sets how many connections there may be at once. The default is 256. For another one,
// an idle connection is closed: of those that have shown no [Token], the oldest one of an address that
// has a quarter of all, or else the one that was idle for longest, if that is a second or more. While
// there is none, others wait to be accepted.
func Connections(n int) ListenOption { return ListenOption{func(l *listening) { l.connections = n }} }

// Grace sets how the service ends when ctx is done. For the time drain it still answers
// requests but is not ready (see [Server.Drain]). Then it takes no new ones, and waits at
// most the time end for those that run. The defaults are 0 and 30 s.
func Grace(drain, end time.Duration) ListenOption {
	return ListenOption{func(l *listening) { l.drain, l.end = drain, end }}
}

// Listening sets a function that is called once the service listens, with its address. It
// tells the port that the system chose for port 0.
func Listening(f func(net.Addr)) ListenOption {
	return ListenOption{func(l *listening) { l.listening = f }}
}

type listening struct {
	certificate, key string
	clientCA         string
	identified       bool // whether clients need a certificate
	insecure         bool
	connections      int
	drain, end       time.Duration
	listening        func(net.Addr)
}

// ListenAndServe serves s at a TCP address until ctx is done. Then it ends gracefully and
// returns nil. It closes s in any case, also after an error. If the address is not one of
// the loopback interface, it refuses to serve without [TLS] and a [Token] or [ClientCA], unless
// [Insecure] allows it. On the loopback interface without any of these, it answers only requests
// for localhost, for an address of that interface, or for the host of address, with status 403
// to others: a page in the browser of the same machine must not read the data under the name of
// another site (DNS rebinding).
//
// A connection that sends no whole request in 10 s is closed. So is one that in its first 5 s has
// brought no request for more than /healthz and /readyz, with the token.
func ListenAndServe(ctx context.Context, address string, s *Server, options ...ListenOption) error {
	l := listening{connections: 256, end: 30 * time.Second}
	for _, o := range options {
		if o.set != nil {
			o.set(&l)
		}
	}
	err := l.check(address, s)
	var secure *tls.Config
	if err == nil {
		secure, err = l.security()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("serve: %w", err), s.Close())
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Join(fmt.Errorf("serve: %w", err), s.Close())
	}
	if l.listening != nil {
		l.listening(listener.Addr())
	}
	if err := l.serve(ctx, address, listener, secure, s); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// check reports what is wrong with the options for that address.
func (l *listening) check(address string, s *Server) error {
	switch {
	case l.connections < 1:
		return fmt.Errorf("Connections(%d): want 1 or more", l.connections)
	case l.drain < 0 || l.end < 0:
		return fmt.Errorf("Grace(%v, %v): want 0 or more", l.drain, l.end)
	case (l.certificate == "") != (l.key == ""):
		return errors.New("TLS: want both a certificate and a key")
	case l.identified && l.certificate == "":
		return errors.New("ClientCA: want TLS too")
	case l.insecure || l.certificate != "" && (s.cfg.token || l.identified):
		return nil
	}
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return err
	}
	if !to.IP.IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines: want TLS and a Token or ClientCA, or Insecure", address)
	}
	return nil
}

// security reads the files of TLS and ClientCA. It is nil without TLS.
func (l *listening) security() (*tls.Config, error) {
	if l.certificate == "" {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(l.certificate, l.key)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}}
	if l.identified {
		secure.ClientAuth = tls.RequireAndVerifyClientCert
		secure.ClientCAs, err = authorities(l.clientCA)
	}
	return secure, err
}

// authorities reads certificates of certificate authorities.
func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ClientCA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ClientCA: %s has no certificate in PEM", file)
	}
	return pool, nil
}

func (l *listening) serve(ctx context.Context, address string, listener net.Listener, secure *tls.Config, s *Server) error {
	var handler http.Handler = s
	if l.open(s) {
		handler = s.named(address)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		Protocols:         new(http.Protocols), // HTTP/2 would copy every batch
		TLSConfig:         secure,
		ConnContext:       known,
		ConnState:         turned,
		ErrorLog:          slog.NewLogLogger(s.cfg.log.Handler(), slog.LevelWarn),
	}
	server.Protocols.SetHTTP1(true)
	limited := newConnections(listener, l.connections)
	ended := make(chan error, 1)
	var group sync.WaitGroup
	group.Go(func() {
		if secure != nil {
			ended <- server.ServeTLS(limited, "", "")
		} else {
			ended <- server.Serve(limited)
		}
	})
	var err error
	select {
	case err = <-ended:
		err = errors.Join(err, server.Close())
	case <-ctx.Done():
		err = l.shutdown(server, s)
	}
	group.Wait()
	return errors.Join(err, s.Close())
}

// shutdown ends a server gracefully.
func (l *listening) shutdown(server *http.Server, s *Server) error {
	s.Drain()
	time.Sleep(l.drain) // nothing ends earlier: balancers need this time
	ctx, cancel := context.WithTimeout(context.Background(), l.end)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests still ran after %v: %w", l.end, err)
	}
	return errors.Join(err, server.Close())
}

// open reports whether everybody who reaches the address may read the data: then only the
// loopback interface keeps others out.
func (l *listening) open(s *Server) bool {
	return !l.insecure && !s.cfg.token && l.certificate == ""
}

// named answers requests that name this machine, by the loopback interface or by the host of
// address. A browser sends others for a site whose name leads to this machine, and would let the
// site's pages read the answers.
func (s *Server) named(address string) http.Handler {
	own, _, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refusesBody(w, r) {
			return
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // it has no port
			host = strings.Trim(r.Host, "[]")
		}
		if !net.ParseIP(host).IsLoopback() && !strings.EqualFold(host, "localhost") && !strings.EqualFold(host, own) {
			s.refuse(w, http.StatusForbidden, fmt.Errorf("host %.64q: want localhost; a Token or Insecure allows others", host))
			return
		}
		s.ServeHTTP(w, r)
	})
}

const (
	// proof is how long a connection may take for its first request that is allowed.
	proof = 5 * time.Second
	// rested is how long a connection must be idle to be closed for another one.
	rested = time.Second
)

// connections accepts at most as many connections at once. If there are more, it closes idle ones,
// first those that have shown no token, of an address that has many of them.
type connections struct {
	net.Listener
	most   int
	once   sync.Once
	closed chan struct{}
	freed  chan struct{} // has a token after a connection was closed

	mu   sync.Mutex
	open []*connection // in the order in which they were accepted
}

// A connection knows whether it may be closed for another one.
type connection struct {
	net.Conn
	of     *connections
	from   string // the address, without the port
	expiry *time.Timer

	// The mutex of connections guards these.
	allowed bool // whether it has brought a request that is allowed
	busy    bool // whether a request is being answered
	since   time.Time
}

func newConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, most: most, closed: make(chan struct{}), freed: make(chan struct{}, 1)}
}

func (l *connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, of: l, from: host(conn.RemoteAddr())}
	for {
		old, ok := l.admit(c)
		if old != nil {
			old.Conn.Close() // the server notices it
		}
		if ok {
			return c, nil
		}
		select {
		case <-l.freed:
		case <-time.After(rested):
		case <-l.closed:
			conn.Close()
			return nil, net.ErrClosed
		}
	}
}

// admit reports whether there is room for c, and returns the connection that is closed for it.
func (l *connections) admit(c *connection) (old *connection, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.since = time.Now()
	if len(l.open) >= l.most {
		if old = l.idle(c.since); old == nil {
			return nil, false
		}
		l.remove(old)
	}
	l.open = append(l.open, c)
	c.expiry = time.AfterFunc(proof, c.expire)
	return old, true
}

// idle is the connection to be closed for another one, or nil. The caller holds the mutex.
func (l *connections) idle(now time.Time) *connection {
	strangers := make(map[string]int)
	for _, c := range l.open {
		if !c.allowed {
			strangers[c.from]++
		}
	}
	var longest *connection
	for _, c := range l.open {
		switch {
		case !c.allowed && strangers[c.from] >= max(l.most/4, 1):
			return c
		case c.allowed && c.busy || now.Sub(c.since) < rested:
		case longest == nil || c.since.Before(longest.since):
			longest = c
		}
	}
	return longest
}

// remove forgets a connection. The caller holds the mutex.
func (l *connections) remove(c *connection) {
	c.expiry.Stop()
	l.open = slices.DeleteFunc(l.open, func(other *connection) bool { return other == c })
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

func (l *connections) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// expire closes a connection that has brought no request that is allowed.
func (c *connection) expire() {
	c.of.mu.Lock()
	allowed := c.allowed
	c.of.mu.Unlock()
	if !allowed {
		c.Close()
	}
}

// host is an address without its port; of IPv6 without what a machine may choose.
func host(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// known is an [http.Server]'s ConnContext.
func known(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, own(c))
}

// own is a connection as it was accepted.
func own(c net.Conn) *connection {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*connection)
}

// turned is an [http.Server]'s ConnState.
func turned(conn net.Conn, state http.ConnState) {
	c := own(conn)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.busy = state == http.StateActive
	if c.allowed && !c.busy {
		c.since = time.Now()
	}
}

// allow notes that a request is allowed. Without ListenAndServe there is nothing to note.
func allow(ctx context.Context) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.allowed = true
	c.expiry.Stop()
}
