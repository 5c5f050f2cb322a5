package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
)

// TestHostileRequests sends wrong paths, numbers and headers, reads slowly, and leaves
// connections half open. Trainers that read meanwhile see nothing of it, memory stays
// bounded, and no answer is of another plan.
func TestHostileRequests(t *testing.T) {
	requests := 1000
	if n, err := strconv.Atoi(os.Getenv("PENSTOCK_HOSTILE")); err == nil {
		requests = n
	}
	s := newServer(t, samples(403), serve.Loader(plan...), serve.Batches(18), serve.Requests(16), serve.Stall(100*time.Millisecond))
	other := newServer(t, samples(403), serve.Loader(plan...), serve.Loader(loader.Seed(99)))
	ctx, cancel := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, serve.Connections(64), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	to := (<-address).String()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	var group sync.WaitGroup
	const attackers = 16
	for a := range attackers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(a)))
			for range requests / attackers {
				attack(t, to, s.Plan(), other.Plan(), r)
			}
		})
	}
	group.Go(func() {
		l, err := loader.New(samples(403), plan...)
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Error(err)
				return
			}
			w := get(s, fmt.Sprintf("0/0-1/%d", b.Number()))
			for w.Code == http.StatusServiceUnavailable { // a trainer tries again
				time.Sleep(10 * time.Millisecond)
				w = get(s, fmt.Sprintf("0/0-1/%d", b.Number()))
			}
			same(t, w, b)
		}
	})
	group.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes are in use after %d hostile requests", grown, requests)
	}
	// Goroutines that are left are found by TestMain.
}

// attack sends one hostile request.
func attack(t *testing.T, to, plan, other string, r *rand.Rand) {
	c, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	number := func() string {
		return []string{"0", "1", "-1", "99999999999999999999", "0x10", "1e9", "", "..", "%00", "٣", "2147483647", "2147483648", fmt.Sprint(r.IntN(1000))}[r.IntN(13)]
	}
	of := []string{plan, plan, plan, plan, other, "plan", "", strings.Repeat("a", r.IntN(5000))}[r.IntN(8)]
	path := fmt.Sprintf("/v1/%s/%s/%s-%s/%s", of, number(), number(), number(), number())
	if r.IntN(3) == 0 {
		path = fmt.Sprintf("/v1/%s/%d/%d-%d/%d", of, r.IntN(3), r.IntN(4), 1+r.IntN(4), r.IntN(110))
	}
	if r.IntN(3) == 0 {
		path += "?draw=" + number()
	}
	header := ""
	switch r.IntN(8) {
	case 0:
		header = "Content-Length: " + number() + "\r\n"
	case 1:
		header = "Transfer-Encoding: chunked\r\n"
	case 2:
		header = "X: " + strings.Repeat("x", r.IntN(40000)) + "\r\n"
	case 3:
		header = "Range: bytes=" + number() + "-" + number() + "\r\n"
	case 4:
		header = "Authorization: Bearer " + number() + "\r\n"
	case 5:
		header = "If-None-Match: \"" + number() + "\"\r\n"
	}
	method := []string{"GET", "GET", "GET", "HEAD", "POST", "X", "PRI"}[r.IntN(7)]
	text := method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + header + "\r\n"
	switch r.IntN(6) {
	case 0: // half a request, then nothing
		io.WriteString(c, text[:r.IntN(len(text))])
		return
	case 1: // nobody reads
		io.WriteString(c, text)
		return
	case 2: // a slow reader
		io.WriteString(c, text)
		c.SetDeadline(time.Now().Add(50 * time.Millisecond))
		buffer := make([]byte, 100)
		for range 3 {
			if _, err := c.Read(buffer); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
		return
	}
	if _, err := io.WriteString(c, text); err != nil {
		return // refused before it was whole
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return // the connection was closed
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || method == "HEAD" || strings.Contains(path, "/v1/plan") {
		return
	}
	if of != plan {
		t.Errorf("%s was answered with status 200", path)
	} else if strings.Count(path, "/") == 5 {
		if _, texts := tensors(t, body); texts["plan"] != plan {
			t.Errorf("%s: metadata %v", path, texts)
		}
	}
}
