// Package loadertest makes loaders for tests.
package loadertest

import (
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// New makes a loader, and closes it when the test ends. An error of either ends or fails the test.
func New(t testing.TB, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	t.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}
