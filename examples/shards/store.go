package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// A webServer serves a folder on the local machine. It waits before every answer.
type webServer struct {
	http.Server
	listener net.Listener
	requests atomic.Int64
	done     chan error
}

// serve starts a server. The times until it answers are lognormal with that median.
func serve(dir string, latency time.Duration) (*webServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &webServer{listener: listener, done: make(chan error, 1)}
	files := http.FileServer(http.Dir(dir))
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		time.Sleep(time.Duration(float64(latency) * math.Exp(0.3*rand.NormFloat64())))
		files.ServeHTTP(w, r)
	})
	go func() { s.done <- s.Serve(listener) }()
	return s, nil
}

func (s *webServer) URL() string     { return "http://" + s.listener.Addr().String() }
func (s *webServer) Requests() int64 { return s.requests.Load() }

// Close ends the server and waits for it.
func (s *webServer) Close() error {
	err := s.Server.Close()
	<-s.done
	return err
}

// writeList lists the shards of a folder with their sizes, for [objects.Index].
func writeList(path, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s\t%d\n", info.Name(), info.Size())
	}
	if err := os.WriteFile(path+".new", []byte(list.String()), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// A store reads from the server, through a cache on the disk, what the loader will need.
type store struct {
	*prefetch.Prefetcher
	client *objects.Client
	cached *cache.Cache // nil where the system cannot have one
}

func openStore(url, dir string) (*store, error) {
	server, err := objects.HTTP(url, objects.Index("index.txt"))
	if err != nil {
		return nil, err
	}
	s := &store{}
	if s.client, err = objects.NewClient(server); err != nil {
		return nil, err
	}
	var below objects.Store = s.client
	// The server has another port in every run, so the cache is told that it is the same.
	s.cached, err = cache.New(s.client, dir, 64<<20, cache.BlockSize(8<<20), cache.Identity("shapes"))
	switch {
	case err == nil:
		below = s.cached
	case !errors.Is(err, errors.ErrUnsupported):
		return nil, err
	}
	s.Prefetcher, err = prefetch.New(below)
	return s, err
}

// report prints what was read from where.
func (s *store) report(server *webServer) {
	fmt.Printf("%d requests\nahead: %v\n", server.Requests(), s.Prefetcher.Stats())
	if s.cached != nil {
		fmt.Printf("cache: %v\n", s.cached.Stats())
	}
}

// Close ends the use of the cache.
func (s *store) Close() error {
	if s.cached == nil {
		return nil
	}
	return s.cached.Close()
}
