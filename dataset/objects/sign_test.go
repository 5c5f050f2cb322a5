package objects_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
)

func TestSignMakesTheURLOfEveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := letters()
		n := 0
		sign := func(_ context.Context, name string) (string, error) {
			if n++; n > 3 {
				return "", errors.New("no key")
			}
			return fmt.Sprintf("http://host/data/%s?n=%d", name, n), nil
		}
		s := client(t, "", []objects.HTTPOption{objects.Sign(sign), objects.HTTPClient(serve(t, h))})
		h.next(part(2), status(503))
		if got := read(t.Context(), s, object, 10, 3); got != "abc" {
			t.Fatal(got)
		}
		for i, r := range h.seen {
			if want := fmt.Sprintf("n=%d", i+1); r.URL.RawQuery != want {
				t.Errorf("request %d has %s", i, r.URL.RawQuery)
			}
		}
		if got := read(t.Context(), s, object, 10, 3); got != "objects: read a/text: no key" {
			t.Error(got)
		}
	})
}

func TestOldPresignedURLsAreExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		at := func(d time.Duration) string { return now.Add(d).UTC().Format("20060102T150405Z") }
		for query, want := range map[string]error{
			"X-Amz-Date=" + at(-time.Hour) + "&X-Amz-Expires=3599":                       objects.ErrExpired,
			"X-Amz-Date=" + at(-time.Hour) + "&X-Amz-Expires=3700":                       fs.ErrPermission,
			"X-Goog-Date=" + at(-time.Hour) + "&X-Goog-Expires=10":                       objects.ErrExpired,
			"se=" + now.Add(-time.Second).UTC().Format(time.RFC3339):                     objects.ErrExpired,
			"se=" + now.Add(time.Minute).UTC().Format(time.RFC3339):                      fs.ErrPermission,
			fmt.Sprintf("Expires=%d", now.Add(-time.Minute).Unix()):                      objects.ErrExpired,
			fmt.Sprintf("Expires=%d", now.Add(time.Minute).Unix()):                       fs.ErrPermission,
			"X-Amz-Date=x&X-Amz-Expires=99999999999999999999&se=y&Expires=z&X-Goog-Date": fs.ErrPermission,
		} {
			h := letters()
			h.always = status(403)
			s := client(t, "http://host/data?"+query, []objects.HTTPOption{objects.HTTPClient(serve(t, h))})
			if err := s.ReadAt(t.Context(), object, make([]byte, 1), 0); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", query, err, want)
			}
		}
	})
}
