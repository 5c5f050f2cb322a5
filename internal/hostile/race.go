//go:build race

package hostile

// slowdown is how much longer everything may take under the race detector.
const slowdown = 20
