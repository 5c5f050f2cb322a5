package live_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/live"
)

func TestHostileNamesDoNoHarm(t *testing.T) {
	var view live.View
	ds := fake([]string{`<script>alert(1)</script>"'&`, "\x1b]0;owned\x07\x1b[2J", "\u202egpj.exe", strings.Repeat("a", 5000) + ".jpg", strings.Repeat("ä", 100), "bad"}, steady(0))
	l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(6), loader.Skip(loader.NoLimit), loader.Observe(view.Trace("<b>train</b>")))
	for range l.Epochs(t.Context(), 0, 2) {
	}
	var text strings.Builder
	view.Lines(&text, time.Hour)()
	page, resp := get(t, &view, "")
	numbers, _ := get(t, &view, "format=json")
	for what, shown := range map[string]string{"page": page, "JSON": numbers, "lines": text.String()} {
		for _, harm := range []string{"<script", "\x1b", "\x07", "signature", "secret"} {
			if strings.Contains(shown, harm) {
				t.Errorf("the %s has %q", what, harm)
			}
		}
	}
	for _, harm := range []string{"<b>train", "\u202e", strings.Repeat("a", 1001), "src=", "http:", "https:"} {
		if strings.Contains(page, harm) {
			t.Errorf("the page has %q", harm)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", strings.Repeat("a", 1000) + "…", strings.Repeat("ä", 100), "samples that failed", `<td class="name">bad<`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for key, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := resp.Header.Get(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if got := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none';") {
		t.Errorf("got the policy %q", got)
	}
	if got := reports(t, &view)[0]; got.Dropped != 2 || len(got.Failed) != 2 || got.Failed[0].Name != "bad" || got.Failed[1].Epoch != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestPagesOfOtherSitesCannotUseThePage(t *testing.T) {
	var view live.View
	for _, query := range []string{"", "format=json"} {
		_, resp := get(t, &view, query)
		for header, want := range map[string]string{
			"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "",
		} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%q: %s is %q, want %q", query, header, got, want)
			}
		}
		if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%q: the policy is %q", query, policy)
		}
	}
}

// unread is the body of a request that nobody is to read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of the request is read")
	return 0, io.EOF
}

func TestThePageDoesNotReadBodiesOfRequests(t *testing.T) {
	var view live.View
	for _, query := range []string{"", "?format=json"} {
		r := httptest.NewRequest("GET", "/"+query, unread{t})
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		view.ServeHTTP(httptest.NewRecorder(), r)
	}
}

func TestThePageOnlyReads(t *testing.T) {
	var view live.View
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		view.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", method, w.Code, want)
		}
	}
	if page, _ := get(t, &view, ""); !strings.Contains(page, "No loader has been made") {
		t.Errorf("got\n%s", page)
	}
}
