package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
)

// trainer is a client with the token.
func trainer(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: bearer{&http.Transport{DialContext: dial, MaxIdleConnsPerHost: 8}}, Timeout: time.Minute}
}

type bearer struct{ *http.Transport }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret")
	return b.Transport.RoundTrip(r)
}

// fetch is the status of a path after /v1/{plan}/, and how long the answer took.
func fetch(t *testing.T, c *http.Client, s *serve.Server, at, path string) (status int, took time.Duration) {
	t.Helper()
	begun := time.Now()
	resp, err := c.Get("http://" + at + "/v1/" + s.Plan() + "/" + path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return 0, 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return resp.StatusCode, time.Since(begun)
}

// ask asks for /healthz and waits for the answer. Then the connection is idle.
func ask(c net.Conn) error {
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// TestATrainerGetsItsBatchesBesideIdleConnections: its own host holds twice as many connections as
// there may be, and opens each one again that is closed.
func TestATrainerGetsItsBatchesBesideIdleConnections(t *testing.T) {
	const most = 16
	serving(t, most, &source{n: 400}, func(t *testing.T, s *serve.Server, dial func(string) net.Conn) {
		others, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for k := range 2 * most {
			group.Go(func() {
				for others.Err() == nil {
					c := dial(fmt.Sprintf("10.0.0.1:%d", k))
					end := context.AfterFunc(others, func() { c.Close() })
					if ask(c) == nil {
						c.Read(make([]byte, 1)) // until it is closed
					}
					end()
					c.Close()
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		client := trainer(dialer(dial, "10.0.0.1:1"))
		// The connection is one of its host's strangers until its first request is read, so others may
		// take its place. A trainer asks again then.
		for try := 0; ; try++ {
			if resp, err := client.Get("http://service/v1/" + s.Plan() + "/0/0-1/0"); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				break
			} else if try == 5 {
				t.Errorf("%d tries: %v", try, err)
				break
			}
		}
		for number := range 100 {
			if status, took := fetch(t, client, s, "service", fmt.Sprintf("0/0-1/%d", number)); status != 200 || took > 0 {
				t.Errorf("batch %d: status %d after %v, want 200 at once", number, status, took)
			}
			time.Sleep(100 * time.Millisecond)
		}
		client.CloseIdleConnections()
		stop()
		group.Wait()
	})
}

// serving runs f beside a service with the token "secret", in simulated time. Connections that dial
// makes come from a host of that name.
func serving(t *testing.T, most int, ds *source, f func(t *testing.T, s *serve.Server, dial func(from string) net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newServer(t, ds, serve.Loader(loader.BatchSize(4), loader.Workers(1)), serve.Token("secret"))
		listener, ended := &pipe{make(chan net.Conn, 100), make(chan struct{})}, make(chan error, 1)
		go func() { ended <- serve.Serve(ctx, listener, s, most) }()
		f(t, s, func(from string) net.Conn {
			to, c := net.Pipe()
			listener.conns <- named{c, from}
			return to
		})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

type named struct {
	net.Conn
	host string
}

func (n named) RemoteAddr() net.Addr { return n }
func (n named) Network() string      { return "tcp" }
func (n named) String() string       { return n.host }

func dialer(dial func(from string) net.Conn, from string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return dial(from), nil }
}

func isOpen(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	c.SetReadDeadline(time.Time{})
	return !errors.Is(err, io.EOF)
}

func TestAConnectionWithoutATokenLastsSomeSeconds(t *testing.T) {
	serving(t, 16, &source{n: 40}, func(t *testing.T, s *serve.Server, dial func(string) net.Conn) {
		silent, busy := dial("a:1"), dial("a:2")
		client := trainer(dialer(dial, "b:1"))
		defer client.CloseIdleConnections()
		if status, _ := fetch(t, client, s, "service", "0/0-1/0"); status != 200 {
			t.Errorf("the trainer: status %d", status)
		}
		begun := time.Now()
		for ask(busy) == nil { // it asks for /healthz again and again
			time.Sleep(500 * time.Millisecond)
		}
		if took := time.Since(begun); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("a connection without a token was closed after %v, want 5s", took)
		}
		if isOpen(silent) {
			t.Error("a silent connection is open after 5 s")
		}
		time.Sleep(time.Minute)
		dials := 0
		client.Transport.(bearer).DialContext = func(context.Context, string, string) (net.Conn, error) {
			dials++
			return dial("b:2"), nil
		}
		if status, _ := fetch(t, client, s, "service", "0/0-1/1"); status != 200 || dials != 0 {
			t.Errorf("the trainer after a minute: status %d, %d new connections, want none", status, dials)
		}
	})
}

func TestTheLongestIdleConnectionGivesWay(t *testing.T) {
	serving(t, 3, &source{n: 40}, func(t *testing.T, s *serve.Server, dial func(string) net.Conn) {
		var clients []*http.Client
		var conns []net.Conn
		for k := range 4 {
			clients = append(clients, trainer(func(context.Context, string, string) (net.Conn, error) {
				c := dial(fmt.Sprintf("host%d:1", k))
				conns = append(conns, c)
				return c, nil
			}))
			defer clients[k].CloseIdleConnections()
		}
		for _, k := range []int{0, 1, 2, 0, 3} {
			time.Sleep(2 * time.Second)
			if status, took := fetch(t, clients[k], s, "service", "0/0-1/0"); status != 200 || took > 0 {
				t.Errorf("trainer %d: status %d after %v, want 200 at once", k, status, took)
			}
		}
		if len(conns) != 4 {
			t.Fatalf("%d connections, want 4", len(conns))
		}
		// Trainer 1 has been idle for longest.
		open := func() (is []bool) {
			for _, c := range conns[:3] {
				_, err := io.WriteString(c, "G") // the transport reads it
				is = append(is, err == nil)
			}
			return is
		}
		if got, want := open(), []bool{true, false, true}; !slices.Equal(got, want) {
			t.Errorf("open are %v, want %v", got, want)
		}
	})
}

// TestConnectionsThatAreBusyAreLeft: another one waits until one of them has been idle.
func TestConnectionsThatAreBusyAreLeft(t *testing.T) {
	slow := &source{n: 40, fails: func(i int) error {
		if i >= 20 {
			time.Sleep(2 * time.Second)
		}
		return nil
	}}
	serving(t, 1, slow, func(t *testing.T, s *serve.Server, dial func(string) net.Conn) {
		one, two := trainer(dialer(dial, "a:1")), trainer(dialer(dial, "b:1"))
		defer one.CloseIdleConnections()
		defer two.CloseIdleConnections()
		got := make(chan int)
		go func() {
			status, _ := fetch(t, one, s, "service", "0/0-1/5") // 8 s
			got <- status
		}()
		synctest.Wait()
		status, took := fetch(t, two, s, "service", "0/0-1/0")
		if first := <-got; first != 200 || status != 200 || took < 9*time.Second || took > 10*time.Second {
			t.Errorf("status %d, and %d after %v, want 200 and 200 after 9s", first, status, took)
		}
	})
}

// TestManyHostsWithoutATokenDelayATrainerByASecond: none of them has many connections.
func TestManyHostsWithoutATokenDelayATrainerByASecond(t *testing.T) {
	const most = 16
	serving(t, most, &source{n: 400}, func(t *testing.T, s *serve.Server, dial func(string) net.Conn) {
		client := trainer(dialer(dial, "trainer:1"))
		defer client.CloseIdleConnections()
		for k := range most {
			if err := ask(dial(fmt.Sprintf("host%d:1", k))); err != nil {
				t.Fatal(err)
			}
		}
		for number := range 100 {
			if status, took := fetch(t, client, s, "service", fmt.Sprintf("0/0-1/%d", number)); status != 200 || took > time.Second {
				t.Fatalf("batch %d: status %d after %v", number, status, took)
			}
			if number%10 == 0 {
				dial(fmt.Sprintf("more%d:1", number))
			}
		}
	})
}

func TestAMachineIsOneHost(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1:80":              "10.0.0.1",
		"[::ffff:10.0.0.1]:81":     "10.0.0.1",
		"[2001:db8:0:1:2:3:4:5]:1": "2001:db8:0:1::/64",
		"[2001:db8:0:1::9]:2":      "2001:db8:0:1::/64",
		"[fe80::1%eth0]:3":         "fe80::/64",
		"pipe":                     "pipe",
	} {
		if got := serve.Host(named{host: address}); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
