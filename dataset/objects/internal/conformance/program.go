package conformance

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Program is the path of a server in the folder PENSTOCK_BUCKETS, which the script
// dataset/objects/servers fills. The test skips if it is not there.
func Program(t *testing.T, path string) string {
	t.Helper()
	dir := os.Getenv("PENSTOCK_BUCKETS")
	if dir == "" {
		t.Skipf("PENSTOCK_BUCKETS names no folder with %s: see dataset/objects/servers", path)
	}
	full := filepath.Join(dir, path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("the server is not installed: %v", err)
	}
	return full
}

// Ports are n ports of this machine that nobody listens to.
func Ports(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return ports
}

// Start starts a server for the time of the test, and waits until it answers at url.
func Start(t *testing.T, url, program string, arguments ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("it did not answer within a minute"))
	defer cancel()
	var out output
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := client.Do(r); err == nil {
			answer.Body.Close()
			if answer.StatusCode < 500 {
				return
			}
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", program, &out)
		case <-ctx.Done():
			t.Fatalf("%s: %v: %s", program, context.Cause(ctx), &out)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// output is what a program prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.b.Bytes()[max(0, o.b.Len()-4000):])
}
