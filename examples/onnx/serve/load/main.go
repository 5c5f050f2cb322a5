// Load measures servers of POST /classify: how long requests take, by the number of
// clients that each send one image after another. Servers take turns.
//
//	go run ./examples/onnx/serve/load -dir PHOTOS penstock=http://127.0.0.1:8080/classify …
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what the flags say.
type options struct {
	dir     string
	clients []int
	rounds  int
	time    time.Duration // of a measurement
	limit   int           // requests of a measurement
	servers []target
}

// A target is a server.
type target struct{ name, url string }

func main() {
	log.SetFlags(0)
	var o options
	var clients string
	flag.StringVar(&o.dir, "dir", "", "folder of photos, in folders of their own")
	flag.StringVar(&clients, "clients", "1,2,4,8,16,32", "numbers of clients")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds, whose medians are shown")
	flag.DurationVar(&o.time, "time", 4*time.Second, "how long clients send, in every measurement")
	flag.IntVar(&o.limit, "limit", 2000, "requests of a measurement at most")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: load -dir PHOTOS [flags] NAME=URL…\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	for _, text := range strings.Split(clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			log.Fatalf("-clients %s: want numbers of clients", clients)
		}
		o.clients = append(o.clients, n)
	}
	for _, text := range flag.Args() {
		name, url, ok := strings.Cut(text, "=")
		if !ok {
			log.Fatalf("%q: want NAME=URL", text)
		}
		o.servers = append(o.servers, target{name, url})
	}
	if len(o.servers) == 0 || o.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	photos, err := read(o.dir)
	if err != nil {
		return err
	}
	if err := compare(ctx, o.servers, photos); err != nil {
		return err
	}
	cells := map[cell][]figures{}
	for range o.rounds {
		for _, n := range o.clients {
			for _, s := range o.servers {
				f, err := measure(ctx, s, photos, n, o)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", s.name, n, err)
				}
				cells[cell{s, n}] = append(cells[cell{s, n}], f)
			}
		}
	}
	print(o, cells)
	return nil
}

// read reads photos, which must not be changed.
func read(dir string) ([][]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.[jJ][pP]*[gG]"))
	if err != nil {
		return nil, err
	}
	var photos [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		photos = append(photos, data)
	}
	if len(photos) == 0 {
		return nil, fmt.Errorf("-dir %s: no JPEG files in its folders", dir)
	}
	return photos, nil
}

type cell struct {
	target
	clients int
}

// print shows the medians of all rounds as a table.
func print(o options, cells map[cell][]figures) {
	fmt.Print("| clients |")
	for _, s := range o.servers {
		fmt.Printf(" %s p50 | p99 | images/s |", s.name)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", 3*len(o.servers)))
	for _, n := range o.clients {
		fmt.Printf("| %d |", n)
		for _, s := range o.servers {
			all := cells[cell{s, n}]
			fmt.Printf(" %.0f ms | %.0f ms | %.1f |",
				median(all, func(f figures) float64 { return f.p50 }), median(all, func(f figures) float64 { return f.p99 }),
				median(all, func(f figures) float64 { return f.rate }))
		}
		fmt.Println()
	}
}

func median(all []figures, of func(figures) float64) float64 {
	var values []float64
	for _, f := range all {
		values = append(values, of(f))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
