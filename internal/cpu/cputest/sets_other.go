//go:build (!amd64 && !arm64) || purego

package cputest

func features() []*func() bool { return nil }

func newest() []*func() bool { return nil }
