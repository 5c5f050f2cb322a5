//go:build !(linux && (amd64 || arm64))

package main

import "github.com/penstock-go/penstock/gpu"

func load(string) (*driver, error) { return nil, gpu.ErrNoDevice }

func invoke(uintptr, ...uintptr) int32 { return missing }

func pages(int) ([]byte, func() error, error) { return nil, nil, gpu.ErrNoDevice }
