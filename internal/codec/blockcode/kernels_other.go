//go:build (!amd64 && !arm64) || purego

package blockcode

// best returns the fastest kernels that may run.
func best() kernels { return portable }

func (*Decoder) flattenKernel() bool                { panic("blockcode: no kernel") }
func (*Decoder) expandKernel([]Block, []uint8) bool { panic("blockcode: no kernel") }
func (*laneReader) readKernel([]byte, *table) int   { panic("blockcode: no kernel") }
