// Shards compares how fast photos in shards are loaded from a web server that answers late:
// by penstock, WebDataset, litdata, MosaicML's streaming, and datasets. README.md says how.
//
//	go run ./bench/shards [-latency 30ms] [-workers 2] [-epochs 2] [-python PYTHON] PHOTOS
//	go run ./bench/shards -goals PHOTOS
//
// PHOTOS has a folder per class. PYTHON is a Python with the peers; without it, penstock is
// measured alone. With -goals, it is compared with itself: with local files, with one request
// in a hundred 20 times as slow, with a cache of half the data, and as two ranks.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	only    string
	goals   bool

	side     string // in a process of one side
	serve    bool   // in a process of a server
	endpoint string // URL of the server
	dir      string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.DurationVar(&o.latency, "latency", 30*time.Millisecond, "median time until the server answers; lognormal")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "workers of every side")
	flag.IntVar(&o.epochs, "epochs", 2, "epochs of a process")
	flag.IntVar(&o.copies, "copies", 0, "how often every photo is in the shards; 0 means 4, and 24 with -goals")
	flag.IntVar(&o.rounds, "rounds", 3, "how often every side is measured")
	flag.StringVar(&o.python, "python", "", "a Python with the peers")
	flag.StringVar(&o.only, "sides", "", "measure these sides alone, with commas between them")
	flag.BoolVar(&o.goals, "goals", false, "compare penstock with itself")
	flag.StringVar(&o.side, "side", "", "measure this side of penstock and print JSON; for the program itself")
	flag.BoolVar(&o.serve, "serve", false, "serve the shards until the input ends; for the program itself")
	flag.StringVar(&o.endpoint, "endpoint", "", "URL of the server, for -side")
	flag.StringVar(&o.dir, "dir", "", "folder of the shards, for -side and -serve")
	flag.Parse()
	ctx := context.Background()
	switch {
	case o.side != "":
		if err := loadSide(ctx, o); err != nil {
			log.Fatal(err)
		}
		return
	case o.serve:
		if err := serve(o); err != nil {
			log.Fatal(err)
		}
		return
	}
	if flag.NArg() != 1 {
		log.Fatal("want a folder of photos, with a folder per class")
	}
	if o.copies == 0 {
		o.copies = 4
		if o.goals {
			o.copies = 24 // so that a block is less than a half per cent of the data
		}
	}
	if err := run(ctx, o, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

// run packs the photos, serves them, and measures all sides in turns.
func run(ctx context.Context, o options, photos string) error {
	dir, err := os.MkdirTemp("", "penstock-bench-shards-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = filepath.Join(dir, "web")
	if err := pack(ctx, o, photos); err != nil {
		return err
	}
	servers, err := startServers(ctx, o)
	if err != nil {
		return err
	}
	defer servers.stop()
	o.endpoint = servers.shared.url
	if err := writeIndex(ctx, o); err != nil {
		return err
	}
	var all []measurement
	failed := map[string]int{}
	printHeader(o)
	for range o.rounds {
		for _, side := range sides(o) {
			scratch, err := os.MkdirTemp(dir, "scratch")
			if err != nil {
				return err
			}
			found, err := measure(ctx, o, servers, side, scratch)
			if err != nil && strings.HasPrefix(side, "penstock") {
				return fmt.Errorf("%s: %w", side, err)
			}
			if err != nil { // the other rounds still count
				failed[fmt.Sprintf("%s failed: %v", side, err)]++
				found = nil
			}
			for _, m := range found {
				m.print()
			}
			all = append(all, found...)
			if err := os.RemoveAll(scratch); err != nil {
				return err
			}
		}
	}
	if o.goals {
		return judge(o, all)
	}
	summarize(all)
	fmt.Println()
	for text, times := range failed {
		fmt.Printf("%d of %d times %s\n", times, o.rounds, text)
	}
	return nil
}

const (
	// slowly marks the side to which the server answers late at times.
	slowly = "1 % slow"

	// apart marks a side that has its processors alone: the server has another one.
	apart = " apart"

	local    = "penstock local"
	tar      = "penstock tar"
	tarSlow  = tar + " " + slowly + apart
	tarHalf  = tar + " half cached" + apart
	tarRank0 = tar + " rank 0 of 2" + apart
	tarRank1 = tar + " rank 1 of 2" + apart
)

var peers = []string{"webdataset", "litdata", "streaming", "datasets tar", "datasets parquet"}

func sides(o options) []string {
	list := []string{local, tar, tar + " cached"}
	if o.goals {
		list = []string{local + apart, tar + apart, tarSlow, tarHalf, tarRank0, tarRank1, local, tar}
	}
	if o.python != "" {
		if o.goals {
			list = append(list, tar+" cached")
		} else {
			list = append(list, "penstock mds cached", "penstock parquet cached")
		}
		list = append(list, peers...)
	}
	if o.only != "" {
		list = strings.Split(o.only, ",")
	}
	return list
}

// pack writes the photos as tar shards, in a random order, and has the peers write them
// in their formats.
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
	if err := shards.WriteTar(ctx, filepath.Join(o.dir, "train-%04d.tar"), ds, columns, shards.MaxShardBytes(8<<20)); err != nil {
		return err
	}
	for side, format := range map[string]string{"mds": "streaming", "streaming": "streaming", "litdata": "litdata", "parquet": "datasets"} {
		if !strings.Contains(strings.Join(sides(o), ","), side) || format == "streaming" && isFolder(o.dir, "mds") {
			continue
		}
		if err := packFor(ctx, o, format); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.IsDir()
}

func shardCount(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "train-*.tar")) // the pattern is right
	return len(names)
}
