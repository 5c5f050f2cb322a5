package blockcode_test

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, TestRowsComeBack, TestPatchesFarApartComeBack, TestPhotosAreCodedWithinTheirSizes,
		blockcode.TestChangedCodesGiveErrorsOrBlocks, blockcode.TestKernelsStayWithinTheirMemory))
}
