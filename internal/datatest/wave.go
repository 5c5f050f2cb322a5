package datatest

// Wave is a waveform of n samples from -1 to 1: sweeping triangles and noise, louder and quieter, with silence. It is computed from
// whole numbers, as in transform/presets/testdata/extractors.py.
func Wave(n int, seed uint32) []float32 {
	state, phase, step := seed, uint32(0), uint32(40_000_000)
	gains := [...]int64{1024, 300, 0, 700, 20, 1, 512}
	out := make([]float32, n)
	for i := range out {
		state = state*1664525 + 1013904223
		phase, step = phase+step, (step+3571)&0x3fffffff
		gain := gains[(i>>12)%7]
		tone, noise := int64(phase>>16)-32768, int64(state>>16)-32768
		tone = max(tone, -tone)*2 - 32768
		out[i] = float32((tone*gain)>>11+(noise*gain)>>14) / 32768
	}
	return out
}
