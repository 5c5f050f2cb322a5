package cache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/internal/private"
)

// Another process takes the folder after a part has got its room.
func TestAPartThatCannotBePlacedCountsUntilTheFolderIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		dir := t.TempDir()
		f, err := openFolder(dir, 10*n, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		k := key(strings.Repeat("0", keyDigits))
		part, _, err := f.reserve(t.Context(), k, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Close(); err != nil {
			t.Fatal(err)
		}
		other, err := f.dir.OpenFile(lockName, os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		if err := private.Lock(other); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if stored, err := f.place(ctx, k, n); stored || !errors.Is(err, errHeld) {
			t.Errorf("stored: %v, error %v", stored, err)
		}
		if got := f.used(); got != n {
			t.Errorf("%d bytes are used, want %d", got, n)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		part, _, err = f.reserve(t.Context(), k, n)
		if err != nil || part != nil {
			t.Errorf("another part of the same block: %v, error %v", part, err)
		}
		if err := f.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(f.part(k)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the part is left: %v", err)
		}
		again, err := openFolder(dir, 10*n, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.used(); got != 0 {
			t.Errorf("%d bytes are used after all", got)
		}
		if err := again.close(); err != nil {
			t.Error(err)
		}
	})
}
