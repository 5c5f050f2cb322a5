package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/internal/authority"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestTheServiceRefusesToBeReachedByAnybody(t *testing.T) {
	for _, c := range []struct {
		address string
		token   string
		options []serve.ListenOption
		refused bool
	}{
		{"localhost:0", "", nil, false},
		{"127.0.0.1:0", "", nil, false},
		{"[::1]:0", "", nil, false},
		{":0", "", nil, true},
		{"0.0.0.0:0", "secret", nil, true},
		{"[::]:0", "", nil, true},
		{":0", "", []serve.ListenOption{certificate(t)}, true},
		{":0", "", []serve.ListenOption{certificate(t), serve.ClientCA(authority.New(t).File())}, false},
		{":0", "secret", []serve.ListenOption{certificate(t)}, false},
		{":0", "", []serve.ListenOption{serve.Insecure()}, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		options := append(c.options, serve.Listening(func(net.Addr) { cancel() }))
		var secured []serve.Option
		if c.token != "" {
			secured = append(secured, serve.Token(c.token))
		}
		err := serve.ListenAndServe(ctx, c.address, newServer(t, samples(9), secured...), options...)
		cancel()
		if refused := err != nil && strings.Contains(err.Error(), "other machines"); refused != c.refused && !(c.address == "[::1]:0" && err != nil) {
			t.Errorf("%s, token %q, %d options: %v", c.address, c.token, len(c.options), err)
		}
	}
}

// certificate makes a certificate for localhost.
func certificate(t *testing.T) serve.ListenOption {
	t.Helper()
	return serve.TLS(authority.New(t).Issue(t, "service"))
}

// listens waits until a service listens, and returns its address.
func listens(t *testing.T, address <-chan net.Addr, ended <-chan error) string {
	t.Helper()
	select {
	case a := <-address:
		return a.String()
	case err := <-ended:
		t.Fatalf("the service ended before it listened: %v", err)
		return ""
	}
}

func TestOnlyClientsOfTheAuthorityAreServed(t *testing.T) {
	ours, others := authority.New(t), authority.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", newServer(t, samples(9)), serve.TLS(ours.Issue(t, "service")),
			serve.ClientCA(ours.File()), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	at := listens(t, address, ended)
	for name, c := range map[string]struct {
		certificates []tls.Certificate
		served       bool
	}{
		"ours":   {[]tls.Certificate{ours.Pair(t, "trainer")}, true},
		"others": {[]tls.Certificate{others.Pair(t, "trainer")}, false},
		"none":   {nil, false},
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ours.Pool(), Certificates: c.certificates}}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + at + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		if served := err == nil && resp.StatusCode == http.StatusOK; served != c.served {
			t.Errorf("%s: served %v, %v", name, served, err)
		}
		transport.CloseIdleConnections()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string][]serve.ListenOption{
		"serve: ClientCA: want TLS too":         {serve.ClientCA(ours.File())},
		"serve: ClientCA: " + empty + " has no": {certificate(t), serve.ClientCA(empty)},
		"serve: ClientCA: open missing: ":       {certificate(t), serve.ClientCA("missing")},
		"serve: ClientCA: open : ":              {certificate(t), serve.ClientCA("")},
		"serve: TLS: open missing.pem: ":        {serve.TLS("missing.pem", "missing.key"), serve.Insecure()},
	} {
		options = append(options, serve.Listening(func(a net.Addr) { t.Errorf("%s: it listens", want) }))
		if err := serve.ListenAndServe(t.Context(), ":0", newServer(t, samples(9)), options...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRequestsEndBeforeTheService(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	entered, proceed := make(chan struct{}, 100), make(chan struct{})
	s := newServer(t, &source{n: 400, fails: func(i int) error {
		if i >= 200 {
			entered <- struct{}{}
			<-proceed
		}
		return nil
	}}, serve.Token("secret"))
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, certificate(t), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	url := "https://" + listens(t, address, ended)
	got := make(chan string, 1)
	go func() {
		r, _ := http.NewRequest("GET", url+"/v1/"+s.Plan()+"/0/0-1/200", nil)
		r.Header.Set("Authorization", "Bearer secret")
		resp, err := client.Do(r)
		if err != nil {
			got <- err.Error()
			return
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		got <- resp.Status
		if err != nil {
			t.Error(err)
		}
	}()
	<-entered
	cancel()
	for request(s, "GET", "/readyz", nil).Code != 503 {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-ended:
		t.Errorf("the service ended before the request: %v", err)
	default:
	}
	close(proceed)
	if status := <-got; status != "200 OK" {
		t.Errorf("the request ended with %s", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestConnectionsBeyondTheLimitWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, samples(9))
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, serve.Connections(1), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	to := listens(t, address, ended)
	first, err := net.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(first, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := first.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	second, err := net.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(second, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	second.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, _ := second.Read(make([]byte, 1)); n > 0 {
		t.Error("a second connection was answered")
	}
	first.Close()
	second.SetReadDeadline(time.Time{})
	if _, err := second.Read(make([]byte, 1)); err != nil {
		t.Errorf("when there is room: %v", err)
	}
	second.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The client sends requests and never reads an answer.
func TestAClientThatDoesNotReadIsDisconnected(t *testing.T) {
	for _, path := range []string{"/metrics", "/v1/plan", "/"} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newServer(t, samples(9), serve.Stall(100*time.Millisecond))
		address, ended := make(chan net.Addr, 1), make(chan error, 1)
		go func() {
			ended <- serve.ListenAndServe(ctx, "localhost:0", s, serve.Listening(func(a net.Addr) { address <- a }))
		}()
		c, err := net.Dial("tcp", listens(t, address, ended))
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		requests := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n", 100)
		for err == nil {
			_, err = io.WriteString(c, requests)
		}
		if os.IsTimeout(err) {
			t.Errorf("%s: the client is still connected after a minute", path)
		}
		c.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestAnswersThatTakeLongerThanStallAreSent(t *testing.T) {
	const stall = 300 * time.Millisecond
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, &source{n: 400, fails: func(i int) error {
				if i >= 200 && i%4 == 0 {
					time.Sleep(2 * stall) // a slow sample
				}
				if i == 208 {
					return errors.New("no good")
				}
				return nil
			}}, serve.Loader(loader.BatchSize(4), loader.Workers(3)), serve.Stall(stall))
			client, end := simulated(s, protocol)
			defer end()
			var group sync.WaitGroup
			for path, want := range map[string]int{"GET 50": 200, "HEAD 51": 200, "GET 52": 500} {
				group.Go(func() {
					method, number, _ := strings.Cut(path, " ")
					r, _ := http.NewRequest(method, "http://service/v1/"+s.Plan()+"/0/0-1/"+number, nil)
					resp, err := client.Do(r)
					if err != nil {
						t.Errorf("%s %s: %v", protocol, path, err)
						return
					}
					defer resp.Body.Close()
					if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want || resp.Proto != protocol {
						t.Errorf("%s: %s, status %d, %v, want %s and %d", path, resp.Proto, resp.StatusCode, err, protocol, want)
					}
				})
			}
			group.Wait()
		})
	}
}

// A planner is a sampler that takes five minutes for the order of an epoch after the first.
type planner struct{ sampler.Sampler }

func (p planner) Epoch(epoch int) sampler.Order {
	if epoch > 0 {
		time.Sleep(5 * time.Minute)
	}
	return p.Sampler.Epoch(epoch)
}

// A pipe is a listener without a network, for simulated time.
type pipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipe() *pipe { return &pipe{make(chan net.Conn), make(chan struct{})} }

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	to, from := net.Pipe()
	select {
	case p.conns <- from:
		return to, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// simulated serves requests in simulated time. It returns a client, and a function that ends both.
func simulated(h http.Handler, protocol string) (client *http.Client, end func()) {
	var protocols http.Protocols
	protocols.SetHTTP1(protocol == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
	listener, server := newPipe(), &http.Server{Handler: h, Protocols: &protocols}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.Dial, Protocols: &protocols}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		server.Close()
		<-ended
	}
}

func TestSamplersThatTakeLongerThanStallAreWaitedFor(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, samples(40), serve.Loader(loader.BatchSize(4), loader.Sampler(planner{sampler.Sequential(40)})))
			client, end := simulated(s, protocol)
			defer end()
			// The first path needs the order once, and the others twice.
			for epoch, path := range map[string]string{"1": "", "2": "/3", "3": "/10"} {
				resp, err := client.Get("http://service/v1/" + s.Plan() + "/" + epoch + "/0-1" + path)
				if err != nil {
					t.Errorf("%s, %q: %v", protocol, path, err)
					continue
				}
				want := http.StatusOK
				if path == "/10" {
					want = http.StatusNotFound
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want || resp.Proto != protocol {
					t.Errorf("%s, %q: %s, status %d, %v, want %d", protocol, path, resp.Proto, resp.StatusCode, err, want)
				}
				resp.Body.Close()
			}
		})
	}
}

// TestABatchThatIsNotReadIsGivenUp: the client takes the header and none of the 32 MB, which
// are more than connections buffer.
func TestABatchThatIsNotReadIsGivenUp(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, &source{n: 8, pixels: 8 << 20}, serve.Loader(loader.BatchSize(4), loader.Workers(1)), serve.Stall(100*time.Millisecond))
			ended := make(chan struct{})
			client, end := simulated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				s.ServeHTTP(w, r)
			}), protocol)
			defer end()
			resp, err := client.Get("http://service/v1/" + s.Plan() + "/0/0-1/0")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			select {
			case <-ended:
			case <-time.After(time.Second):
				t.Errorf("%s: the request still runs after a second", protocol)
			}
		})
	}
}
