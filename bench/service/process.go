package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// A child is a process that the program has started. It ends with its input.
type child struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	lines  *bufio.Scanner // of its output
	errors bytes.Buffer   // its other output; it may be read after stop
}

func start(ctx context.Context, name string, args ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, name, args...)}
	c.cmd.Stderr = &c.errors
	var err error
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewScanner(out)
	return c, c.cmd.Start()
}

// line waits for the next line of its output. Without one, the process is stopped, and the
// error has what it printed last.
func (c *child) line() (string, error) {
	if c.lines.Scan() {
		return c.lines.Text(), nil
	}
	err := errors.Join(c.lines.Err(), c.stop())
	lines := strings.Split(strings.TrimSpace(c.errors.String()), "\n")
	return "", fmt.Errorf("a process ended too early: %s: %w", lines[len(lines)-1], err)
}

// stop ends the process.
func (c *child) stop() error {
	c.input.Close()
	return c.cmd.Wait()
}

// cpu is the processor time of the process so far, in seconds, of which Linux tells hundredths.
func (c *child) cpu(ctx context.Context) (float64, error) {
	p := process.Process{Pid: int32(c.cmd.Process.Pid)}
	t, err := p.TimesWithContext(ctx)
	if err != nil {
		return 0, err
	}
	return t.User + t.System, nil
}

// processes are those of a side.
type processes struct {
	name    string
	servers []*child // each knows the address of the one before
	client  *child
	version string // what the client says of itself
}

//go:embed tfdata.py
var script string

// commands are what starts the processes of a side, without addresses. The last is the client's.
func (o options) commands(self, name string) [][]string {
	sizes := []string{"-rows", fmt.Sprint(o.rows), "-side", fmt.Sprint(o.side), "-batches", fmt.Sprint(o.batches)}
	var all [][]string
	if name == tfdata {
		for _, role := range []string{"dispatch", "work", "read"} {
			all = append(all, append([]string{o.python, "-c", script, role}, sizes...))
		}
		return all
	}
	for _, role := range []string{serving, reading} {
		all = append(all, append([]string{self, "-role", role, "-name", name, "-message", fmt.Sprint(o.part), "-keys", o.keys}, sizes...))
	}
	return all
}

// startSide starts the servers and the client of a side.
func (o options) startSide(ctx context.Context, self, name string) (p *processes, err error) {
	p = &processes{name: name}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	commands, address := o.commands(self, name), ""
	for k, command := range commands {
		if address != "" {
			command = append(command, "-address", address)
		}
		c, err := start(ctx, command[0], command[1:]...)
		if err != nil {
			return p, err
		}
		line, err := c.line()
		if err != nil {
			return p, err
		}
		if k < len(commands)-1 {
			p.servers, address = append(p.servers, c), line
		} else {
			p.client, p.version = c, line
		}
	}
	return p, nil
}

// stop ends the processes, the last one first. Those that have failed have said so in their turn.
func (p *processes) stop() {
	if p.client != nil {
		_ = p.client.stop()
	}
	for _, s := range slices.Backward(p.servers) {
		_ = s.stop()
	}
}

// cpu is the processor time of the servers and of the client so far, in seconds.
func (p *processes) cpu(ctx context.Context) (servers, client float64, err error) {
	for _, s := range p.servers {
		used, err := s.cpu(ctx)
		if err != nil {
			return 0, 0, err
		}
		servers += used
	}
	client, err = p.client.cpu(ctx)
	return servers, client, err
}
