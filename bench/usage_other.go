//go:build !unix

package bench

func childrenTime() float64 { return 0 }
