package remote_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
)

func TestTheVerdictNamesTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := dataset.Func(400, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(_ context.Context, i int, dst dataset.Slot) error {
			time.Sleep(20 * time.Millisecond)
			dataset.Set(dst, 0, int64(i))
			return nil
		})
		s, err := serve.New(t.Context(), slow, serve.Loader(loader.BatchSize(4), loader.Workers(1)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l, err := remote.Open(t.Context(), []string{"http://service"}, remote.HTTPClient(&http.Client{Transport: hosts{"service": s}}))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, want := l.Stats().Verdict(), "the service is the limit: service takes 100% of the work and the loop waits 100% of its time: "; !strings.HasPrefix(got, want) {
			t.Errorf("got %s\nwant %s…", got, want)
		}
	})
}
