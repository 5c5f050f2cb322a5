//go:build !(linux && (amd64 || arm64))

package main

import "github.com/penstock-go/penstock/gpu"

func load(string) (func(name string) (uintptr, error), error) { return nil, gpu.ErrNoDevice }

func invoke(uintptr, ...uintptr) int32 { return -1 }
