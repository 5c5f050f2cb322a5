package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// bucket is the first part of every object's URL, so that the server's root is the endpoint
// of a service like S3, with the bucket in the path. Reading from such a service is HTTP with
// some header fields that this server need not understand.
const bucket = "bench"

// A server serves files late, and counts. It speaks as much of S3 as reading takes: ranges,
// ETags, HEAD and conditions.
type server struct {
	dir      string
	latency  time.Duration // median until the response begins; lognormal
	slow     atomic.Bool   // whether one request in a hundred takes 20 times as long
	requests atomic.Int64
	sent     atomic.Int64 // bytes of files
}

// control is where the program reads what the server has counted since the last time, and
// slowControl and usualControl where it says how late the server answers from then on.
const (
	counts       = "/counts"
	slowControl  = "/slow"
	usualControl = "/usual"
)

// serve is the server's process. It prints its URL, and ends with its input.
func serve(o options) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go http.Serve(listener, &server{dir: o.dir, latency: o.latency})
	fmt.Println("http://" + listener.Addr().String())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// take returns what was counted and begins anew.
func (s *server) take() traffic { return traffic{s.requests.Swap(0), s.sent.Swap(0)} }

// traffic is what a server has counted.
type traffic struct{ Requests, Sent int64 }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case slowControl, usualControl:
		s.slow.Store(r.URL.Path == slowControl)
		fallthrough
	case counts:
		_ = json.NewEncoder(w).Encode(s.take()) // the side notices if it gets nothing
		return
	}
	s.requests.Add(1)
	wait := float64(s.latency) * math.Exp(0.3*rand.NormFloat64())
	if s.slow.Load() && rand.IntN(100) == 0 {
		wait *= 20
	}
	time.Sleep(time.Duration(wait))
	name, ok := strings.CutPrefix(path.Clean(r.URL.Path), "/"+bucket+"/")
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(name)))
	if !ok || err != nil {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code><Message>no such object</Message></Error>")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(&counted{w, &s.sent}, r, "", info.ModTime(), f)
}

// counted counts the bytes of responses. It lets the operating system send files, as a
// server without it does, because server and client share the processors.
type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, r)
	c.sent.Add(n)
	return n, err
}
