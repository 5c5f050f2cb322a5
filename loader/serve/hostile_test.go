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
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/internal/wire"
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
	const (
		attackers   = 16
		connections = 64
		batches     = 18
		ahead       = 4 // of the trainer
		size        = 4 * (256<<10 + 8*4 + 16)
	)
	ds := &source{n: 403, pixels: 256 << 10}
	s := newServer(t, ds, serve.Loader(plan...), serve.Batches(batches), serve.Requests(16), serve.Stall(100*time.Millisecond))
	other := newServer(t, ds, serve.Loader(plan...), serve.Loader(loader.Seed(99)))
	ctx, cancel := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- serve.ListenAndServe(ctx, "localhost:0", s, serve.Connections(connections), serve.Listening(func(a net.Addr) { address <- a }))
	}()
	to := (<-address).String()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	before := heapBytes()
	var peak atomic.Int64
	look := func() {
		now := heapBytes()
		for most := peak.Load(); now > most && !peak.CompareAndSwap(most, now); most = peak.Load() {
		}
	}

	var group sync.WaitGroup
	for a := range attackers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(a)))
			for range requests / attackers {
				attack(t, to, s.Plan(), other.Plan(), r, look)
			}
		})
	}
	group.Go(func() {
		l, err := loader.New(ds, append(slices.Clip(plan), loader.InFlight(ahead))...)
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
	// The batches in memory, those of the trainer and its copy of one, and the buffers and
	// headers of the connections at both ends. The collector allows as much garbage again.
	const used = (batches+ahead+4)*size + (connections+attackers)*(64<<10)
	t.Logf("%d requests: the heap had %.1f MiB, and then %.1f MiB at most, of which the limits allow %.1f MiB in use", requests, mib(before), mib(peak.Load()), mib(used))
	if got, want := peak.Load(), 2*(before+used); got > want {
		t.Errorf("the heap had %.1f MiB at most during %d hostile requests, want %.1f", mib(got), requests, mib(want))
	}
	runtime.GC()
	if grown := heapBytes() - before; grown > 4<<20 {
		t.Errorf("%d bytes are in use after %d hostile requests", grown, requests)
	}
	// Goroutines that are left are found by TestMain.
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// heapBytes is the memory of all objects on the heap, with garbage.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// attack sends one hostile request, and calls look before it leaves.
func attack(t *testing.T, to, plan, other string, r *rand.Rand, look func()) {
	c, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	defer look()
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
	text := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n"
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
	if resp.StatusCode != http.StatusOK || method == "HEAD" || strings.Contains(path, "/v1/plan") {
		return
	}
	if of != plan {
		t.Errorf("%s was answered with status 200", path)
	} else if strings.Count(path, "/") == 5 {
		h, err := wire.ReadHeader(resp.Body)
		if err != nil {
			return // the connection was closed
		}
		if n, err := io.Copy(io.Discard, resp.Body); h.Texts["plan"] != plan || err == nil && n != int64(h.Bytes()) {
			t.Errorf("%s: metadata %v, %d bytes of %d", path, h.Texts, n, h.Bytes())
		}
	}
}
