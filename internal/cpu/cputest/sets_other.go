//go:build (!amd64 && !arm64) || purego

package cputest

func sets() []*func() bool { return nil }
