//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAClientThatSendsSlowlyTakesNoPlace(t *testing.T) {
	h := newTestServer(t, 1, brightness).handler()
	photo := gray(t, 100)
	var group sync.WaitGroup
	var bodies []*io.PipeWriter
	for range 8 {
		body, sender := io.Pipe() // a body that does not end
		group.Go(func() {
			if status, a := post(h, body); status != http.StatusBadRequest {
				t.Errorf("a body that breaks: got %d, %+v", status, a)
			}
		})
		sender.Write(photo[:100]) // it is being read
		bodies = append(bodies, sender)
	}
	if status, a := post(h, bytes.NewReader(photo)); status != http.StatusOK {
		t.Errorf("got %d, %+v", status, a)
	}
	for _, sender := range bodies {
		sender.CloseWithError(errors.New("connection lost"))
	}
	group.Wait()
}

func TestImagesUnderWayTakeBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(t, 2, brightness) // two images of 1 MiB
		h := s.handler()
		var group sync.WaitGroup
		var senders []*io.PipeWriter
		for range 2 {
			body, sender := io.Pipe()
			group.Go(func() { post(h, body) })
			sender.Write(make([]byte, 1<<20))
			senders = append(senders, sender)
		}
		synctest.Wait()
		photo := gray(t, 100)
		if status, a := post(h, bytes.NewReader(photo)); status != http.StatusServiceUnavailable || !strings.Contains(a.Error, "memory") {
			t.Errorf("got %d, %+v", status, a)
		}
		for _, sender := range senders {
			sender.Close()
		}
		group.Wait()
		if status, a := post(h, bytes.NewReader(photo)); status != http.StatusOK {
			t.Errorf("after the others: %d, %+v", status, a)
		}
		if got := s.free.Load(); got != 2<<20 {
			t.Errorf("%d bytes are free, want %d", got, 2<<20)
		}
	})
}

func TestAClientThatSendsTooSlowlyIsToldTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(t, 1, brightness)
		s.sending = 20 * time.Second
		near, far := net.Pipe()
		listener := &one{conn: far, closed: make(chan struct{})}
		h := &http.Server{Handler: s.handler()}
		go h.Serve(listener)
		defer h.Close()
		begun := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			io.WriteString(near, "POST /classify HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n")
			for range 10 { // a byte every 3 seconds
				near.Write([]byte{0xff})
				time.Sleep(3 * time.Second)
			}
		})
		response, err := http.ReadResponse(bufio.NewReader(near), nil)
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		json.NewDecoder(response.Body).Decode(&a)
		if took := time.Since(begun); took != s.sending || response.StatusCode != http.StatusRequestTimeout || !strings.Contains(a.Error, "20s") {
			t.Errorf("after %v: %d, %+v, want %d after %v", took, response.StatusCode, a, http.StatusRequestTimeout, s.sending)
		}
		near.Close()
		group.Wait()
	})
}

// one is a listener with one connection.
type one struct {
	conn   net.Conn
	closed chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *one) Close() error   { close(l.closed); return nil }
func (l *one) Addr() net.Addr { return &net.TCPAddr{} }
