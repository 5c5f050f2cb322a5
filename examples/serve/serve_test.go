package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/authority"
)

// This test's program is also the replicas and the trainers.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_AS_PROGRAM") != "" {
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
	if r.cmd.Process == nil {
		return // the test had ended before it could start
	}
	r.cmd.Process.Kill()
	r.cmd.Wait() // its error says that it was killed
}

func TestTrainersReadOverTLSOfAPrivateAuthority(t *testing.T) {
	ca := authority.New(t)
	cert, key := ca.Issue(t, "service")
	small := []string{"-dir", "../images/photos", "-size", "32"}
	r := &replica{address: "127.0.0.1:0", args: append(small, "-cert", cert, "-key", key, "-ca", ca.File())}
	if err := r.start(t); err != nil {
		t.Fatal(err)
	}
	defer r.kill()
	want, err := program(t, append(small, "-local")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	cert, key = ca.Issue(t, "trainer")
	got, err := program(t, "-read", "https://"+r.address, "-cert", cert, "-key", key, "-ca", ca.File()).Output()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	stranger := program(t, "-read", "https://"+r.address, "-ca", ca.File())
	stranger.Stderr = nil
	if got, err := stranger.Output(); err == nil {
		t.Errorf("without a certificate: got %q", got)
	}
}
