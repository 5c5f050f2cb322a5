//go:build cgo

// Package ort runs image models in ONNX Runtime, straight from a loader's memory.
package ort

import (
	"errors"
	"fmt"
	"runtime"

	onnx "github.com/yalue/onnxruntime_go"
)

// Start loads ONNX Runtime from the path of its shared library. A process may
// start it once at a time. Call stop when all sessions are closed.
func Start(library string) (stop func() error, err error) {
	onnx.SetSharedLibraryPath(library)
	if err := onnx.InitializeEnvironment(); err != nil {
		return nil, fmt.Errorf("ort: %w", err)
	}
	return onnx.DestroyEnvironment, nil
}

// Version is ONNX Runtime's version, such as "1.31.1". It must be started.
func Version() string { return onnx.GetVersion() }

// A Session is a model that takes one float32 tensor (n, …) and gives one float32
// tensor (n, classes), for any number n of samples.
type Session struct {
	session *onnx.DynamicAdvancedSession
	in, out []int64 // shapes of one sample
}

// Open loads a model. An operator runs on as many threads as are given; 0 is one
// for each processor.
func Open(model string, threads int) (*Session, error) {
	s, err := open(model, threads)
	if err != nil {
		return nil, fmt.Errorf("ort: open %s: %w", model, err)
	}
	return s, nil
}

func open(model string, threads int) (*Session, error) {
	inputs, outputs, err := onnx.GetInputOutputInfo(model)
	if err != nil {
		return nil, err
	}
	if len(inputs) != 1 || len(outputs) != 1 {
		return nil, fmt.Errorf("%d inputs and %d outputs, want one of each", len(inputs), len(outputs))
	}
	in, out := inputs[0], outputs[0]
	for _, v := range []onnx.InputOutputInfo{in, out} {
		if v.DataType != onnx.TensorElementDataTypeFloat || len(v.Dimensions) < 2 {
			return nil, fmt.Errorf("%s: want float32 with a dimension for the batch", &v)
		}
		for _, side := range v.Dimensions[1:] {
			if side < 1 {
				return nil, fmt.Errorf("%s: only the batch may have any size", &v)
			}
		}
	}
	options, err := onnx.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy()
	if err := options.SetIntraOpNumThreads(threads); err != nil {
		return nil, err
	}
	// Threads that wait do not spin: a loader's workers need the processors.
	if err := options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"); err != nil {
		return nil, err
	}
	session, err := onnx.NewDynamicAdvancedSession(model, []string{in.Name}, []string{out.Name}, options)
	if err != nil {
		return nil, err
	}
	return &Session{session: session, in: in.Dimensions[1:], out: out.Dimensions[1:]}, nil
}

// Values is the number of values of a sample.
func (s *Session) Values() int { return elements(s.in) }

// Classes is the number of values of a sample's result.
func (s *Session) Classes() int { return elements(s.out) }

// Run runs the model on n samples. It reads x and writes y where they are, without
// a copy. They hold n times [Session.Values] and [Session.Classes] values. Several
// goroutines may call Run at once.
func (s *Session) Run(x, y []float32, n int) (err error) {
	if n < 1 || len(x) != n*s.Values() || len(y) != n*s.Classes() {
		return fmt.Errorf("ort: run: %d and %d values for %d samples: want %d and %d of each", len(x), len(y), n, s.Values(), s.Classes())
	}
	// ONNX Runtime keeps the addresses until the tensors are destroyed.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&x[0])
	pin.Pin(&y[0])
	in, err := onnx.NewTensor(shape(n, s.in), x)
	if err != nil {
		return fmt.Errorf("ort: run: %w", err)
	}
	defer func() { err = errors.Join(err, in.Destroy()) }()
	out, err := onnx.NewTensor(shape(n, s.out), y)
	if err != nil {
		return fmt.Errorf("ort: run: %w", err)
	}
	defer func() { err = errors.Join(err, out.Destroy()) }()
	if err := s.session.Run([]onnx.Value{in}, []onnx.Value{out}); err != nil {
		return fmt.Errorf("ort: run: %w", err)
	}
	return nil
}

// Close frees the model. No Run may be under way.
func (s *Session) Close() error { return s.session.Destroy() }

func shape(n int, sample []int64) onnx.Shape { return append(onnx.Shape{int64(n)}, sample...) }

func elements(shape []int64) int {
	n := 1
	for _, side := range shape {
		n *= int(side)
	}
	return n
}
