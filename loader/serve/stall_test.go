package serve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

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
		c.SetDeadline(time.Now().Add(5 * time.Minute))
		requests := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n", 100)
		for err == nil {
			_, err = io.WriteString(c, requests)
		}
		if os.IsTimeout(err) {
			t.Errorf("%s: the client is still connected after 5 minutes", path)
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
