//go:build (!amd64 && !arm64) || purego

package cputest

func features() []*func() bool { return nil }

func newer() []*func() bool { return nil }
