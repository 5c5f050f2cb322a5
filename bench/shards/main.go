// Shards compares how fast photos in shards are loaded from a web server that answers late:
// by penstock, and by WebDataset with PyTorch's DataLoader.
//
//	go run ./bench/shards [-latency 30ms] [-workers 2] [-epochs 2] [-python PYTHON] PHOTOS
//
// PHOTOS has a folder per class. All sides load the same photos: decoded, resized to 256,
// cropped to 224, and normalised, in shuffled batches of 32. They take turns, each in new
// processes. PYTHON is a Python with the peers; without it, penstock is measured alone:
//
//	pip install webdataset==1.0.2 mosaicml-streaming==0.13.0 torch torchvision
//
// MosaicML's streaming cannot read from a web server, so only its writer is used.
//
// A local side has the shards in a folder. The cached ones keep blocks on the disk, as
// WebDataset's cache_dir does. CPU is user and system time of the side's
// processes, without the server's. The first epoch includes the start of PyTorch's workers,
// not that of the process.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards"
)

// options are what the flags say.
type options struct {
	latency time.Duration
	workers int
	epochs  int
	copies  int
	rounds  int
	python  string
	side    string // in a process of one side
	web     string // URL of the server
	dir     string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.DurationVar(&o.latency, "latency", 30*time.Millisecond, "median time until the server answers; lognormal")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "workers of every side")
	flag.IntVar(&o.epochs, "epochs", 2, "epochs of a process")
	flag.IntVar(&o.copies, "copies", 3, "how often every photo is in the shards")
	flag.IntVar(&o.rounds, "rounds", 3, "how often every side is measured")
	flag.StringVar(&o.python, "python", "", "a Python with the peers")
	flag.StringVar(&o.side, "side", "", "measure this side of penstock and print JSON; for the program itself")
	flag.StringVar(&o.web, "web", "", "URL of the shards, for -side")
	flag.StringVar(&o.dir, "dir", "", "folder of the shards, for -side")
	flag.Parse()
	ctx := context.Background()
	if o.side != "" {
		if err := loadSide(ctx, o); err != nil {
			log.Fatal(err)
		}
		return
	}
	if flag.NArg() != 1 {
		log.Fatal("want a folder of photos, with a folder per class")
	}
	if err := compare(ctx, o, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

// A measurement is one epoch of one side.
type measurement struct {
	Side    string
	Epoch   int
	Images  int
	Seconds float64
	CPU     float64 // seconds
}

// compare packs the photos, serves them, and starts all sides.
func compare(ctx context.Context, o options, photos string) error {
	dir, err := os.MkdirTemp("", "penstock-bench-shards-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = filepath.Join(dir, "web")
	if err := pack(ctx, o, photos); err != nil {
		return err
	}
	if o.python != "" {
		if err := python(ctx, o, nil, "pack", o.dir); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	o.web = "http://" + listener.Addr().String()
	var requests, sent atomic.Int64
	files := http.FileServer(http.Dir(o.dir))
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		time.Sleep(time.Duration(float64(o.latency) * math.Exp(0.3*rand.NormFloat64())))
		files.ServeHTTP(counted{w, &sent}, r)
	}))
	var all []measurement
	fmt.Printf("%-24s %6s %10s %12s %9s %9s\n", "side", "epoch", "images/s", "CPU ms/image", "requests", "MB sent")
	for range o.rounds {
		for _, side := range sides(o) {
			scratch, err := os.MkdirTemp(dir, "scratch")
			if err != nil {
				return err
			}
			requests.Store(0)
			sent.Store(0)
			found, err := measure(ctx, o, side, scratch)
			if err != nil {
				return fmt.Errorf("%s: %w", side, err)
			}
			for k, m := range found {
				traffic := ""
				if k == len(found)-1 { // of all epochs
					traffic = fmt.Sprintf("%9d %9.1f", requests.Load(), float64(sent.Load())/1e6)
				}
				fmt.Printf("%-24s %6d %10.1f %12.2f %s\n", m.Side, m.Epoch, float64(m.Images)/m.Seconds, 1000*m.CPU/float64(m.Images), traffic)
			}
			all = append(all, found...)
		}
	}
	summarize(all)
	return nil
}

// counted counts the bytes of responses.
type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func sides(o options) []string {
	list := []string{"penstock local", "penstock tar", "penstock tar cached"}
	if o.python != "" {
		list = append(list, "penstock mds cached", "webdataset")
	}
	return list
}

// measure starts the process of a side and reads what it prints.
func measure(ctx context.Context, o options, side, scratch string) ([]measurement, error) {
	var out bytes.Buffer
	switch side {
	case "webdataset":
		if err := python(ctx, o, &out, side, o.web, scratch, fmt.Sprint(o.workers), fmt.Sprint(o.epochs), fmt.Sprint(shardCount(o.dir))); err != nil {
			return nil, err
		}
	default:
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c := exec.CommandContext(ctx, self, "-side", side, "-web", o.web, "-dir", o.dir, "-workers", fmt.Sprint(o.workers), "-epochs", fmt.Sprint(o.epochs))
		c.Dir, c.Stdout, c.Stderr = scratch, &out, os.Stderr
		if err := c.Run(); err != nil {
			return nil, err
		}
	}
	var found []measurement
	for d := json.NewDecoder(&out); d.More(); {
		var m measurement
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		m.Side = side
		found = append(found, m)
	}
	return found, nil
}

// python runs bench/shards/peers.py.
func python(ctx context.Context, o options, out *bytes.Buffer, args ...string) error {
	_, file, _, _ := runtime.Caller(0)
	c := exec.CommandContext(ctx, o.python, append([]string{filepath.Join(filepath.Dir(file), "peers.py")}, args...)...)
	c.Stderr = os.Stderr
	if out != nil {
		c.Stdout = out
	}
	return c.Run()
}

// pack writes the photos as tar shards, in a random order, and an index of them.
func pack(ctx context.Context, o options, photos string) error {
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	folder, err := dataset.ImageFolder(os.DirFS(photos))
	if err != nil {
		return err
	}
	order := make([]int, o.copies*folder.Len())
	for k := range order {
		order[k] = k % folder.Len()
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	ds, err := dataset.Subset(folder, order)
	if err != nil {
		return err
	}
	columns := []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}
	if err := shards.WriteTar(ctx, filepath.Join(o.dir, "train-%04d.tar"), ds, columns, shards.ShardSize(16<<20)); err != nil {
		return err
	}
	return writeIndex(ctx, o.dir)
}

func shardCount(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "train-*.tar")) // the pattern is right
	return len(names)
}
