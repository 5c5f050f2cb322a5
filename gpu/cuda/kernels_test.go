package cuda_test

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/gpu/cuda"
)

func TestKernelsAreTheVisibleEntriesOfAPTXFile(t *testing.T) {
	const text = `//
.version 8.0
.target sm_75
.address_size 64

	// .visible .entry comment
.func helper(
)
.entry hidden(
)
.visible .entry add_vv_f32(
	.param .u64 add_vv_f32_param_0
)
{
	ret;
}
	.visible   .entry sub_vv_f32 (
`
	if got, want := cuda.Entries([]byte(text)), []string{"add_vv_f32", "sub_vv_f32"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
