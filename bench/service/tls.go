package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

// The files of a certificate for localhost and of its key, in a folder.
const (
	certificateFile = "certificate.pem"
	keyFile         = "key.pem"
)

// certify writes a certificate that signs itself into a folder, and its key.
func certify(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, certificateFile), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600),
		os.WriteFile(filepath.Join(dir, keyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// A session is the client's half of TLS.
type session struct {
	config *tls.Config
	agreed atomic.Value // the version and the cipher of the newest connection, a string
}

// newSession trusts the certificate in a folder alone.
func newSession(dir string) (*session, error) {
	certificate, err := os.ReadFile(filepath.Join(dir, certificateFile))
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(certificate) {
		return nil, fmt.Errorf("%s has no certificate", dir)
	}
	s := &session{}
	s.config = &tls.Config{RootCAs: trusted, ServerName: "localhost", VerifyConnection: func(c tls.ConnectionState) error {
		s.agreed.Store(tls.VersionName(c.Version) + " with " + tls.CipherSuiteName(c.CipherSuite))
		return nil
	}}
	return s, nil
}

// about is what was agreed on for a connection.
func (s *session) about() string { return s.agreed.Load().(string) }

// serveTLS is serveTCP with TLS.
func serveTLS(ctx context.Context, l load, listening func(net.Addr)) error {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(l.keys, certificateFile), filepath.Join(l.keys, keyFile))
	if err != nil {
		return err
	}
	return serveLoop(ctx, l, listening, func(c net.Conn) net.Conn {
		return tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
	})
}

type tlsClient struct {
	*tcpClient
	*session
}

func openTLS(ctx context.Context, l load, address string) (client, error) {
	s, err := newSession(l.keys)
	if err != nil {
		return nil, err
	}
	conn, err := (&tls.Dialer{Config: s.config}).DialContext(ctx, "tcp", address)
	return tlsClient{&tcpClient{l, conn, slabs(l)}, s}, err
}

// serveHTTPS is servePenstock with TLS.
func serveHTTPS(ctx context.Context, l load, listening func(net.Addr)) error {
	return serveBatches(ctx, l, serve.Listening(listening), serve.TLS(filepath.Join(l.keys, certificateFile), filepath.Join(l.keys, keyFile)))
}

type httpsClient struct {
	*penstockClient
	*session
}

// openHTTPS reads with a client of HTTP/1.1, as that of package remote is.
func openHTTPS(ctx context.Context, l load, address string) (client, error) {
	s, err := newSession(l.keys)
	if err != nil {
		return nil, err
	}
	read, err := remote.Open(ctx, []string{"https://" + address}, remote.HTTPClient(&http.Client{Transport: &http.Transport{
		TLSClientConfig: s.config, DisableCompression: true,
	}}))
	return httpsClient{&penstockClient{Loader: read}, s}, err
}
