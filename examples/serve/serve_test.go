package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/examples/internal/shapes"
)

// This test's program is also the replicas and the trainers.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_AS_PROGRAM") != "" {
		log.SetFlags(0)
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SERVE_AS_PROGRAM=1")
	cmd.Stderr = os.Stderr
	return cmd
}

// A replica is a process that is killed and started again, at the same address.
type replica struct {
	address string
	args    []string
	cmd     *exec.Cmd
}

// start starts the process and waits until it listens.
func (r *replica) start(t *testing.T) error {
	r.cmd = program(t, append([]string{"-listen", r.address}, r.args...)...)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.kill()
		return fmt.Errorf("replica: %q, %w", line, err)
	}
	_, r.address, _ = strings.Cut(strings.TrimSpace(line), " at ")
	return nil
}

func (r *replica) kill() {
	r.cmd.Process.Kill()
	r.cmd.Wait() // its error says that it was killed
}

// replicas starts replicas, of which one at a time is killed and comes back, until the
// context is done.
func replicas(t *testing.T, ctx context.Context, n int, args ...string) (addresses []string, kills *atomic.Int64) {
	t.Helper()
	var all []*replica
	for range n {
		r := &replica{address: "127.0.0.1:0", args: args}
		if err := r.start(t); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		addresses = append(addresses, r.address)
	}
	kills = new(atomic.Int64)
	var group sync.WaitGroup
	group.Go(func() {
		defer func() {
			for _, r := range all {
				r.kill()
			}
		}()
		for k := 0; ; k++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(250 * time.Millisecond):
			}
			r := all[k%n]
			r.kill()
			kills.Add(1)
			if err := r.start(t); err != nil {
				if ctx.Err() == nil && t.Context().Err() == nil {
					t.Error(err)
				}
				return
			}
		}
	})
	t.Cleanup(group.Wait)
	return addresses, kills
}

// balancer is one address before several: it gives every connection to the next one that
// accepts it.
func balancer(t *testing.T, addresses []string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		group.Wait()
	})
	group.Go(func() {
		for k := 0; ; k++ {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			var to net.Conn
			for i := range addresses {
				if to, err = net.Dial("tcp", addresses[(k+i)%len(addresses)]); err == nil {
					break
				}
			}
			if to == nil {
				from.Close()
				continue
			}
			pipe := func(a, b net.Conn) {
				io.Copy(a, b)
				a.Close()
				b.Close()
			}
			group.Go(func() { pipe(from, to) })
			group.Go(func() { pipe(to, from) })
		}
	})
	return listener.Addr().String()
}

func TestTrainersSeeEveryBatchOnceWhileReplicasAreKilled(t *testing.T) {
	dir, err := shapes.Folder(300, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// An image that cannot be read, and is left out.
	if err := os.WriteFile(filepath.Join(dir, shapes.Names[0], "damaged.png"), []byte("no image"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-dir", dir, "-size", "64", "-batch", "4", "-seed", "7"}
	want, err := program(t, append(args, "-local", "-epochs", "2")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addresses, kills := replicas(t, ctx, 2, args...)
	list := "http://" + strings.Join(addresses, ",http://")
	python, missing := torch(t)
	t.Run("trainers", func(t *testing.T) {
		for name, cmd := range map[string]*exec.Cmd{
			"Go, a list of replicas":            program(t, "-read", list, "-epochs", "2"),
			"Go, one address":                   program(t, "-read", "http://"+balancer(t, addresses), "-epochs", "2"),
			"PyTorch, a list of replicas":       exec.CommandContext(t.Context(), python, "torch_reader.py", list, "2"),
			"PyTorch, one address, two workers": exec.CommandContext(t.Context(), python, "torch_reader.py", "http://"+balancer(t, addresses), "2", "2"),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "PyTorch") && missing != nil {
					t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run torch_reader.py: ", missing)
				}
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				got, err := cmd.Output()
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("got %q, %v, want %q\n%s", got, err, want, stderr.String())
				}
			})
		}
	})
	cancel()
	t.Logf("%d times a replica was killed; %s", kills.Load(), want)
	if kills.Load() == 0 {
		t.Error("no replica was killed")
	}
}

// torch finds a Python with PyTorch and what torch_reader.py needs: PENSTOCK_TORCH_PYTHON, or
// else python3.
func torch(t *testing.T) (string, error) {
	python := os.Getenv("PENSTOCK_TORCH_PYTHON")
	if python == "" {
		python = "python3"
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", "import requests, safetensors.torch, torch.utils.data").CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", errors.New(lines[len(lines)-1])
	}
	return python, nil
}

func TestTheTokenComesFromAFileOrTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PENSTOCK_TOKEN", "other")
	for name, want := range map[string]string{file: "secret", "": "other"} {
		if got, err := readToken(name); err != nil || got != want {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(file); err == nil {
		t.Error("no error for an empty file")
	}
}
