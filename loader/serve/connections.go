package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

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
