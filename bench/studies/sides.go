package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// programs are the sides in Python: the file in bench/peers with its arguments, and of the optional ones the name under
// which bench/peers/install notes that they could not be installed.
var programs = map[string]struct{ program, needs string }{
	bench.InPython: {"penstock_python.py", ""},
	bench.PIL:      {"pytorch.py -pil", ""},
	bench.Tensors:  {"pytorch.py", ""},
	bench.PyNRRD:   {"pytorch.py", "volumes"},
	bench.Torch:    {"nets.py", ""},
	bench.DALI:     {"dali_cpu.py", "dali"},
	bench.SPDL:     {"spdl_threads.py", "spdl"},
	bench.FFCVJPEG: {"ffcv_loader.py -mode jpg", "ffcv"},
	bench.FFCVRaw:  {"ffcv_loader.py -mode raw", "ffcv"},

	bench.Memmap:     {"tokens.py memmap", ""},
	bench.MemmapLoop: {"tokens.py loop", ""},
	bench.Megatron:   {"tokens.py megatron", "tokens"},
	bench.Litdata:    {"tokens.py litdata", "tokens"},
	bench.Grain:      {"tokens.py grain", "tokens"},

	bench.SimpleJPEG:  {"decoding.py simplejpeg", "decoding"},
	bench.OpenCV:      {"decoding.py opencv", "decoding"},
	bench.Pillow:      {"decoding.py pillow", ""},
	bench.TorchVision: {"decoding.py torchvision", ""},
	bench.Kornia:      {"decoding.py kornia", "decoding"},

	bench.TorchCodec:  {"clips.py exact", "clips"},
	bench.Approximate: {"clips.py approximate", "clips"},
}

func (o options) venv() string {
	if folder := os.Getenv("PEERS_VENV"); folder != "" {
		return folder
	}
	return filepath.Join(o.peers, ".venv")
}

// static is the folder in which bench/peers/install puts an ffmpeg without shared libraries.
func (o options) static() string { return filepath.Join(o.venv(), "ffmpeg") }

// installed reports whether a side's program can run here.
func (o options) installed(side string) bool {
	if side == bench.ONNX {
		cache, _ := os.UserCacheDir()
		folder := os.Getenv("PENSTOCK_ONNX")
		if folder == "" {
			folder = filepath.Join(cache, "penstock-onnx")
		}
		_, err := os.Stat(filepath.Join(folder, "libonnxruntime.so"))
		return err == nil
	}
	if side == bench.Static {
		_, err := os.Stat(filepath.Join(o.static(), "ffmpeg"))
		return err == nil
	}
	p, python := programs[side]
	if !python {
		return true
	}
	if _, err := os.Stat(filepath.Join(o.venv(), "bin", "python")); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(o.venv(), "not-installed", p.needs))
	return p.needs == "" || err != nil
}

// start measures a job in a process of its own, and returns what it prints.
func (o options) start(ctx context.Context, j job) (lines []line, err error) {
	cell, err := json.Marshal(j.Cell)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []string{self, "-device", o.device, "-kernels", o.kernels, "-side", j.side, "-cell", string(cell)}
	if p, python := programs[j.side]; python {
		words := strings.Fields(p.program)
		command = append([]string{filepath.Join(o.venv(), "bin", "python"), filepath.Join(o.peers, words[0])}, words[1:]...)
		command = append(command, "-program", self, string(cell))
	} else if j.side == bench.ONNX {
		command = []string{"go", "run", "./bench/onnx", string(cell)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("it did not end in %v", o.limit))
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	if j.side == bench.Static {
		static, err := filepath.Abs(o.static())
		if err != nil {
			return nil, err
		}
		c.Env = append(os.Environ(), "PATH="+static+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	c.WaitDelay = time.Second // for the pipes of workers that a killed program leaves
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		said := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("%w: %s", err, said[len(said)-1])
	}
	for d := json.NewDecoder(&out); d.More(); {
		var l line
		if err := d.Decode(&l); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return nil, errors.New("it printed nothing")
	}
	return lines, nil
}
