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
	"os"
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
