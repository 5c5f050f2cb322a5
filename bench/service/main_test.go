package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain is the program itself where a test has started it as a server or a client.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-role") {
		main()
		return
	}
	m.Run()
}

// small has batches that are no multiple of a message.
var small = load{rows: 3, side: 20, batches: 9, part: 1000}

func TestEverySideIsInTheTable(t *testing.T) {
	table := measured(t, "")
	for _, name := range []string{rawTCP, penstock, rawTLS, https, grpcOwn, grpcName} {
		if !strings.Contains(table, "\n| "+name+" |") {
			t.Errorf("%s is not in the table:\n%s", name, table)
		}
	}
	for _, want := range []string{"| 100 % [100 %..100 %] |", ", TLS 1.3 with TLS_", "\npenstock, HTTPS compared with TLS in the same round: "} {
		if !strings.Contains(table, want) {
			t.Errorf("got no %q:\n%s", want, table)
		}
	}
}

func TestTFDataServiceIsInTheTable(t *testing.T) {
	python := os.Getenv("PENSTOCK_TENSORFLOW")
	if python == "" {
		t.Skip("PENSTOCK_TENSORFLOW names no Python with TensorFlow")
	}
	if table := measured(t, python); !strings.Contains(table, "\n| "+tfdata+" |") {
		t.Errorf("got\n%s", table)
	}
}

func TestAPythonWithoutTensorFlowIsNamed(t *testing.T) {
	if got, want := measured(t, "/nowhere/python"), tfdata+" is left out: "; !strings.Contains(got, want) || !strings.Contains(got, "/nowhere/python") {
		t.Errorf("got %s, want %q and the file", got, want)
	}
}

// measured is what the program prints after one round.
func measured(t *testing.T, python string) string {
	t.Helper()
	var out bytes.Buffer
	if err := measure(t.Context(), options{load: small, rounds: 1, python: python}, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestClientsGetTheBytesOfEveryBatch(t *testing.T) {
	small := small
	small.keys = t.TempDir()
	if err := certify(small.keys); err != nil {
		t.Fatal(err)
	}
	for name, s := range sides {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			address, ended := make(chan string, 1), make(chan error, 1)
			go func() { ended <- s.serve(ctx, small, func(a net.Addr) { address <- a.String() }) }()
			var at string
			select {
			case at = <-address:
			case err := <-ended:
				t.Fatalf("the server does not listen: %v", err)
			}
			c, err := s.open(ctx, small, at)
			if err != nil {
				t.Fatal(err)
			}
			want := messages(small)
			for epoch := range 2 {
				k := 0
				turn, err := small.turn(ctx, checked{c, func(parts ...[]byte) {
					if got := slices.Concat(parts...); name != penstock && name != https && !bytes.Equal(got, want[k%len(want)]) { // those of penstock have no content
						t.Errorf("epoch %d, batch %d: got other bytes than were sent", epoch, k)
					}
					k++
				}})
				if err != nil || turn.Batches != small.batches || turn.First > turn.Last {
					t.Errorf("epoch %d: got %+v and error %v, want %d batches", epoch, turn, err, small.batches)
				}
			}
			if err := c.close(); err != nil {
				t.Error(err)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the server: %v", err)
			}
		})
	}
}

// A checked client shows batches to a test.
type checked struct {
	client
	see func(parts ...[]byte)
}

func (c checked) epoch(ctx context.Context, got func(...[]byte)) error {
	return c.client.epoch(ctx, func(parts ...[]byte) { c.see(parts...); got(parts...) })
}

func TestMediansAndSpreads(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{{[]float64{2}, "2.0 [2.0..2.0]"}, {[]float64{9, 1, 3}, "3.0 [1.0..9.0]"}, {[]float64{4, 1, 3, 2}, "2.5 [1.0..4.0]"}} {
		if got := spread("%.1f", len(c.values), func(k int) float64 { return c.values[k] }); got != c.want {
			t.Errorf("%v: got %s, want %s", c.values, got, c.want)
		}
	}
}

func TestWrongFlagsAreErrors(t *testing.T) {
	for _, args := range [][]string{{"-rows", "0"}, {"-batches", "1"}, {"-role", reading, "-name", "pigeon"}, {"photos"}} {
		if o, err := parse(args); err == nil {
			t.Errorf("%v: got %+v, want an error", args, o)
		}
	}
}
