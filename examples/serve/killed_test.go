package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/examples/train/shapes"
)

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
		for k := 0; ctx.Err() == nil; k++ { // the first one at once, however fast the trainers are
			r := all[k%n]
			r.kill()
			kills.Add(1)
			if err := r.start(t); err != nil {
				if ctx.Err() == nil && t.Context().Err() == nil {
					t.Error(err)
				}
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(250 * time.Millisecond):
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

// killsEnv is how often replicas are killed at least. All trainers read again until then.
const killsEnv = "PENSTOCK_KILLS"

func TestTrainersSeeEveryBatchOnceWhileReplicasAreKilled(t *testing.T) {
	wanted := int64(1)
	if text := os.Getenv(killsEnv); text != "" {
		var err error
		if wanted, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", killsEnv, err)
		}
	}
	dir := t.TempDir()
	if err := shapes.Write(dir, 300, 1); err != nil {
		t.Fatal(err)
	}
	// An image that cannot be read, and is left out.
	if err := os.WriteFile(filepath.Join(dir, shapes.Names[0], "damaged.png"), []byte("no image"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-dir", dir, "-size", "64", "-batch", "4", "-seed", "7"}
	want, err := program(t, append(args, "-local", "-epochs", "2")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(want, []byte(" 2 left out,")) { // once per epoch
		t.Errorf("got %q, want 2 images left out", want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addresses, kills := replicas(t, ctx, 2, args...)
	list := "http://" + strings.Join(addresses, ",http://")
	python, missing := torch(t)
	replicasFailed := t.Failed
	t.Run("trainers", func(t *testing.T) {
		for name, trainer := range map[string]func(t *testing.T) *exec.Cmd{
			"Go, a list of replicas": func(t *testing.T) *exec.Cmd { return program(t, "-read", list, "-epochs", "2") },
			"Go, one address": func(t *testing.T) *exec.Cmd {
				return program(t, "-read", "http://"+balancer(t, addresses), "-epochs", "2")
			},
			"PyTorch, a list of replicas": func(t *testing.T) *exec.Cmd {
				return exec.CommandContext(t.Context(), python, "torch_reader.py", list, "2")
			},
			"PyTorch, one address, two workers": func(t *testing.T) *exec.Cmd {
				return exec.CommandContext(t.Context(), python, "torch_reader.py", "http://"+balancer(t, addresses), "2", "2")
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "PyTorch") && missing != nil {
					t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run torch_reader.py: ", missing)
				}
				for times := 1; !t.Failed() && !replicasFailed(); times++ {
					var stderr bytes.Buffer
					cmd := trainer(t)
					cmd.Stderr = &stderr
					got, err := cmd.Output()
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("got %q, %v, want %q\n%s", got, err, want, stderr.String())
					}
					if n := kills.Load(); n >= wanted {
						t.Logf("read %d times, and a replica was killed %d times", times, n)
						return
					}
				}
			})
		}
	})
	cancel()
	t.Logf("%d times a replica was killed; %s", kills.Load(), want)
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

func TestTheReaderInPythonShowsItsUsage(t *testing.T) {
	python, missing := torch(t)
	if missing != nil {
		t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run torch_reader.py: ", missing)
	}
	out, err := exec.CommandContext(t.Context(), python, "torch_reader.py").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "python torch_reader.py http://") || strings.Contains(string(out), "Traceback") {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestTheReaderInPythonSaysWhyABatchCannotBeMade(t *testing.T) {
	python, missing := torch(t)
	if missing != nil {
		t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run torch_reader.py: ", missing)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"error":"bad.jpg: not a JPEG file"}`)
	}))
	defer web.Close()
	out, err := exec.CommandContext(t.Context(), python, "torch_reader.py", web.URL).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "500") || !strings.Contains(string(out), "bad.jpg: not a JPEG file") {
		t.Errorf("got %s, %v", out, err)
	}
}
