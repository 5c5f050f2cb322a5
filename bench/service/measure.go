package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"google.golang.org/grpc"

	"github.com/shirou/gopsutil/v4/cpu"
)

// figures are what is measured of an epoch.
type figures struct {
	rate           float64 // GB/s, from the first batch to the last
	server, client float64 // seconds of processor time per GB, of the whole epoch
	first          float64 // seconds until the first batch
}

// cpu is the processor time of both sides, in seconds per GB.
func (f figures) cpu() float64 { return f.server + f.client }

// measure compares the sides and prints the table.
func measure(ctx context.Context, o options, w io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if o.keys, err = os.MkdirTemp("", "penstock-service-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.keys)) }()
	if err := certify(o.keys); err != nil {
		return err
	}
	names := []string{rawTCP, penstock, rawTLS, https, grpcOwn, grpcName}
	missing := ""
	if o.python == "" {
		missing = "-python names none with TensorFlow; bench/service/install makes one"
	} else {
		names = append(names, tfdata)
	}
	var all []*processes
	defer func() {
		for _, p := range all {
			p.stop()
		}
	}()
	versions := ""
	for _, name := range names {
		p, err := o.startSide(ctx, self, name)
		switch {
		case err == nil:
			all = append(all, p)
		case name == tfdata && ctx.Err() == nil:
			missing = err.Error()
			continue
		default:
			return fmt.Errorf("%s: %w", name, err)
		}
		if name == tfdata || name == https {
			versions += ", " + p.version
		}
	}
	rounds := map[string][]figures{}
	for r := range 1 + o.rounds {
		for k := range all {
			p := all[(r+k)%len(all)]
			f, err := o.epoch(ctx, p)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if r > 0 {
				rounds[p.name] = append(rounds[p.name], f)
			}
		}
	}
	fmt.Fprintf(w, "%s, %s, grpc-go %s%s. Epochs of %d batches of %.2f MB, %d rounds: medians with [least..most].\n\n",
		machine(ctx), runtime.Version(), grpc.Version, versions, o.batches, float64(o.bytes())/1e6, o.rounds)
	printTable(w, names, rounds)
	fmt.Fprintf(w, "\n%s compared with %s in the same round: %s of the rate, %s times the processor time.\n", https, rawTLS,
		spread("%.0f %%", o.rounds, func(k int) float64 { return 100 * rounds[https][k].rate / rounds[rawTLS][k].rate }),
		spread("%.2f", o.rounds, func(k int) float64 { return rounds[https][k].cpu() / rounds[rawTLS][k].cpu() }))
	if missing != "" {
		fmt.Fprintf(w, "\n%s is left out: %s\n", tfdata, missing)
	}
	return nil
}

// epoch has a side send an epoch.
func (o options) epoch(ctx context.Context, p *processes) (f figures, err error) {
	server, client, err := p.cpu(ctx)
	if err != nil {
		return f, err
	}
	if _, err := fmt.Fprintln(p.client.input); err != nil {
		return f, err
	}
	line, err := p.client.line()
	if err != nil {
		return f, err
	}
	var t turn
	if err := json.Unmarshal([]byte(line), &t); err != nil {
		return f, err
	}
	if t.Batches != o.batches || !(t.Last > t.First) {
		return f, fmt.Errorf("%d batches, the first after %v s and the last after %v s: want %d", t.Batches, t.First, t.Last, o.batches)
	}
	f.server, f.client, err = p.cpu(ctx)
	size := float64(o.bytes()) / 1e9
	gb := size * float64(o.batches)
	f.server, f.client = (f.server-server)/gb, (f.client-client)/gb
	f.rate, f.first = size*float64(o.batches-1)/(t.Last-t.First), t.First
	return f, err
}

// machine describes the processors, as far as the system does.
func machine(ctx context.Context) string {
	name := runtime.GOARCH
	if info, err := cpu.InfoWithContext(ctx); err == nil && len(info) > 0 {
		name = info[0].ModelName
	}
	return fmt.Sprintf("%d processors of %s", runtime.NumCPU(), name)
}

// printTable prints the sides that were measured, compared with TCP in the same round.
func printTable(w io.Writer, names []string, rounds map[string][]figures) {
	fmt.Fprintln(w, "| side | GB/s | compared with TCP | CPU-s/GB, server | CPU-s/GB, client | CPU-s/GB, both | first batch, ms |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, name := range names {
		of := rounds[name]
		if len(of) == 0 {
			continue
		}
		column := func(format string, value func(k int) float64) string { return spread(format, len(of), value) }
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", name,
			column("%.2f", func(k int) float64 { return of[k].rate }),
			column("%.0f %%", func(k int) float64 { return 100 * of[k].rate / rounds[rawTCP][k].rate }),
			column("%.2f", func(k int) float64 { return of[k].server }),
			column("%.2f", func(k int) float64 { return of[k].client }),
			column("%.2f", func(k int) float64 { return of[k].cpu() }),
			column("%.1f", func(k int) float64 { return 1000 * of[k].first }))
	}
}

// spread is the median of n values, and the least and the greatest.
func spread(format string, n int, value func(k int) float64) string {
	all := make([]float64, n)
	for k := range all {
		all[k] = value(k)
	}
	slices.Sort(all)
	median := (all[(n-1)/2] + all[n/2]) / 2
	return fmt.Sprintf(format+" ["+format+".."+format+"]", median, all[0], all[n-1])
}
