package blockcode

//go:generate sh -c "cd ../../../tools/asm && GOWORK=off go run ./blockcode -out ../../internal/codec/blockcode/vector_amd64.s -stubs ../../internal/codec/blockcode/vector_amd64.go -pkg blockcode"
//go:generate sh -c "cd ../../../tools/asm && GOWORK=off go run ./neon -kernels blockcode -out ../../internal/codec/blockcode/neon_arm64.s"

// kernels says which code decodes. The results are the same.
type kernels uint8

const (
	automatic kernels = iota // what best returns
	portable
	avx2
	avx512
	neon
)

// choose returns what decodes src.
func (k kernels) choose(src []byte) kernels {
	if cap(src)-len(src) < Slack {
		return portable
	}
	if k == automatic {
		return best()
	}
	return k
}
