package objects_test

import (
	"context"
	"errors"
	"testing"

	"github.com/penstock-go/penstock/dataset/objects"
)

// onceNoting notes whether the latest read was of bytes that are read once.
type onceNoting struct {
	objects.Store
	once bool
}

func (n *onceNoting) ReadAt(ctx context.Context, _ objects.Object, _ []byte, _ int64) error {
	n.once = objects.IsOnce(ctx)
	return nil
}

// The context of a file system, the one that is added and the one of a read are joined. Some of
// them are never done.
func TestFilesAreReadOnceIfOneOfTheirContextsSaysSo(t *testing.T) {
	plain, never := t.Context(), context.Background()
	for _, c := range []struct {
		fs, added, read context.Context
		want            bool
	}{
		{plain, plain, plain, false},
		{never, never, never, false},
		{plain, objects.Once(plain), plain, true},
		{plain, objects.Once(plain), never, true},
		{plain, objects.Once(never), plain, true},
		{never, objects.Once(never), never, true},
		{objects.Once(plain), plain, plain, true},
		{objects.Once(never), plain, never, true},
		{plain, plain, objects.Once(plain), true},
		{plain, never, objects.Once(never), true},
	} {
		s := &onceNoting{Store: &memory{list: []objects.Object{{Name: "a", Size: 1}}}}
		fsys, err := objects.NewFS(c.fs, s, "")
		if err != nil {
			t.Fatal(err)
		}
		f, err := fsys.WithContext(c.added).Open("a")
		if err != nil {
			t.Fatal(err)
		}
		r := f.(interface {
			ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
		})
		_, err = r.ReadAtContext(c.read, make([]byte, 1), 0)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if s.once != c.want {
			t.Errorf("%v, %v, %v: got %v, want %v", c.fs, c.added, c.read, s.once, c.want)
		}
	}
}
