package jpeg_test

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, TestPhotosMatchPillow, jpeg.TestInverseKernelEqualsThePortableCode,
		jpeg.TestUpsamplingKernelsEqualThePortableCode, jpeg.TestColorKernelEqualsThePortableCode,
		jpeg.TestUnstuffingKernelStopsAtMarkers, jpeg.TestDenseFilesDecodeAsWithoutTheKernel, jpeg.TestKernelsStayWithinTheirMemory))
}
