package resize

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, TestKernelsEqualThePortableCode, TestKernelsStayWithinTheirMemory,
		TestStoreIsTorchsArithmetic, TestStoreOfCommonNormsUsesTheKernel, TestZerosKeepTheirSigns))
}
