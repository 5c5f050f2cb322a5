// Load measures servers of POST /classify: how long requests take, by the number of
// clients that each send one image after another. Servers take turns.
//
//	go run ./examples/onnx/serve/load -dir PHOTOS -server penstock=http://127.0.0.1:8080/classify …
//
// PHOTOS has a folder of JPEG files per class, and -server may be given several times. It prints
// a table, and writes nothing. It takes 72 seconds per server, unless flags change that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/examples/internal/usage"
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
	o := options{clients: []int{1, 2, 4, 8, 16, 32}}
	usage.Folder(&o.dir, "dir", "`folder` of photos, with a folder of JPEG files per class")
	flag.Func("server", "`NAME=URL` of a server; may be given several times", o.addServer)
	flag.Func("clients", "`numbers` of clients (default 1,2,4,8,16,32)", o.setClients)
	usage.Int(&o.rounds, "rounds", 3, 1, "`rounds`, whose medians are shown")
	flag.DurationVar(&o.time, "time", 4*time.Second, "how long clients send, in every measurement")
	usage.Int(&o.limit, "limit", 2000, 1, "`requests` of a measurement at most")
	usage.Parse("Load measures how long servers of POST /classify take, by the number of clients.")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, o)
	if ctx.Err() != nil {
		err = errors.New("interrupted before the table was complete")
	}
	if err != nil {
		usage.Fatal(err)
	}
}

// addServer adds a server, given as NAME=URL.
func (o *options) addServer(text string) error {
	name, url, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=URL")
	}
	o.servers = append(o.servers, target{name, url})
	return nil
}

// setClients sets the numbers of clients, which are separated by commas.
func (o *options) setClients(text string) error {
	o.clients = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return errors.New("want numbers from 1 on, separated by commas")
		}
		o.clients = append(o.clients, n)
	}
	return nil
}

func run(ctx context.Context, o options) error {
	if o.dir == "" || len(o.servers) == 0 || o.time <= 0 {
		return usage.Errorf("-dir, -server and -time: want a folder, a server and a time above 0s")
	}
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
		return nil, usage.Errorf("-dir %s: no JPEG files in its folders", dir)
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
