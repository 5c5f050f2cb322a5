package share

import (
	"errors"
	"syscall"
	"testing"
)

func TestNobodyChangesTheSizeOfSharedMemory(t *testing.T) {
	file, bytes, err := newFile(10)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap(bytes)
	defer file.Close()
	for _, size := range []int64{0, int64(len(bytes)) + 1} {
		if err := file.Truncate(size); !errors.Is(err, syscall.EPERM) {
			t.Errorf("Truncate(%d): error %v, want EPERM", size, err)
		}
	}
	other, err := exchange(bytes)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	bytes[0] = 1
}
