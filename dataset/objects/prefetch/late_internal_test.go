package prefetch

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A zeroStore has zeros.
type zeroStore struct{ objects.Store }

func (zeroStore) ReadAt(context.Context, objects.Object, []byte, int64) error { return nil }

// oneBatch has sample 0.
type oneBatch struct{}

func (oneBatch) Len() int                  { return 1 }
func (oneBatch) At(_ int, dst []int) []int { return append(dst, 0) }
func (oneBatch) Begun() int                { return 1 }
func (oneBatch) Done() int                 { return 0 }

// A reader may outlive its loop, for example after a timeout of the loader.
func TestReadersThatEndAfterTheLoopKeepNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(zeroStore{})
		if err != nil {
			t.Fatal(err)
		}
		of := objects.Block{Object: objects.Object{Name: "a"}, Len: 1000}
		stop := p.Foresee(oneBatch{}, objects.Blocks{
			Len: 1,
			Of:  func(sample int) int { return sample },
			At:  func(_ int, dst []objects.Block) []objects.Block { return append(dst, of) },
		})
		synctest.Wait()
		b := p.take(of)
		if b == nil || b.data == nil {
			t.Fatal(b)
		}
		stop()
		p.giveBack(b)
		if len(p.spare.pieces) > 0 || b.data != nil {
			t.Error("memory is kept, although there is no loop")
		}
	})
}
