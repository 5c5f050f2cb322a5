package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A process of a server.
type process struct {
	url   string
	input io.Closer // ends it
	cmd   *exec.Cmd
}

// servers are two servers of the same files. The one that no side uses sleeps.
type servers struct {
	shared *process // on all processors, as the sides
	apart  *process // on the last processor; nil without such sides
}

func startServers(ctx context.Context, o options) (*servers, error) {
	s := &servers{}
	var err error
	if s.shared, err = startServer(ctx, o, anywhere); err != nil {
		return nil, err
	}
	if strings.Contains(strings.Join(sides(o), "\n"), apart) {
		if s.apart, err = startServer(ctx, o, last); err != nil {
			s.stop()
			return nil, err
		}
	}
	return s, nil
}

func startServer(ctx context.Context, o options, where place) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self, "-serve", "-dir", o.dir, "-latency", o.latency.String())}
	p.cmd.Stderr = os.Stderr
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := where.start(p.cmd); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if p.url = strings.TrimSpace(line); err != nil {
		p.stop()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return p, nil
}

func (p *process) stop() {
	p.input.Close()
	_ = p.cmd.Wait() // it has printed why
}

func (s *servers) stop() {
	s.shared.stop()
	if s.apart != nil {
		s.apart.stop()
	}
}

// A place says on which processors a process runs.
type place int

const (
	anywhere place = iota
	last           // on the last of the processors
	notLast        // on all others
)
