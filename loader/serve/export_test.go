package serve

import (
	"context"
	"net"
	"time"
)

// Serve is [ListenAndServe] with a listener.
func Serve(ctx context.Context, listener net.Listener, s *Server, connections int) error {
	l := listening{connections: connections, end: 30 * time.Second}
	return l.serve(ctx, "localhost", listener, nil, s)
}

// Host is host.
func Host(a net.Addr) string { return host(a) }
