package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser returns the path of Chromium. It skips the test if there is none.
func browser(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHROME"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: the page is not opened in a browser: no chromium, chromium-browser or google-chrome in PATH, and CHROME is not set")
	return ""
}

// A visit is a tab of a browser. It records every error of a script and every request for a
// resource outside the page.
type visit struct {
	context.Context
	t  *testing.T
	mu sync.Mutex
	// errs are complaints, in the order in which they came.
	errs []string
}

// start starts a browser, which ends with the test.
func start(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser(t)), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses root otherwise
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("%s does not start: %v", browser(t), err)
	}
	return ctx
}

// open runs actions in a new tab and then loads a page.
func open(t *testing.T, browser context.Context, path string, actions ...chromedp.Action) *visit {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	v := &visit{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, v.listen)
	v.do(append(append([]chromedp.Action{network.Enable(), cdplog.Enable()}, actions...), chromedp.Navigate("file://"+path))...)
	return v
}

func (v *visit) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		v.complain("exception: %s", e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			var text []string
			for _, a := range e.Args {
				text = append(text, string(a.Value))
			}
			v.complain("console: %s", strings.Join(text, " "))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError {
			v.complain("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "file://") && !strings.HasPrefix(u, "data:") {
			v.complain("request for %s", u)
		}
	}
}

func (v *visit) complain(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errs = append(v.errs, fmt.Sprintf(format, args...))
}

func (v *visit) do(actions ...chromedp.Action) {
	v.t.Helper()
	if err := chromedp.Run(v, actions...); err != nil {
		v.t.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](v *visit, expression string) T {
	v.t.Helper()
	var value T
	v.do(chromedp.Evaluate(expression, &value))
	return value
}

func (v *visit) quiet() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range v.errs {
		v.t.Error(e)
	}
}

// shoot saves a screenshot of the page, if SHOTS names a folder.
func (v *visit) shoot(name string) {
	v.t.Helper()
	folder := os.Getenv("SHOTS")
	if folder == "" {
		return
	}
	var png []byte
	v.do(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		v.t.Fatal(err)
	}
}

// empty counts the panels without shapes: a chart without data or without a size has none.
const empty = `[...document.querySelectorAll(".panels > div > div")].filter((p) => p.querySelectorAll("svg path").length < 4).length`

// wide returns by how many pixels the page is wider than the window.
const wide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

// collisions are the texts of panels that lie over one another, or outside of their panel.
const collisions = `[...document.querySelectorAll(".panels svg")].flatMap((svg) => {
	const frame = svg.getBoundingClientRect();
	const texts = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([, r]) => r.width > 0);
	const found = texts.filter(([, r]) => r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 1).map(([t]) => t + " sticks out");
	texts.forEach(([t, a], i) => texts.slice(i + 1).forEach(([u, b]) => {
		if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) found.push(t + " on " + u);
	}));
	return found;
})`

func TestThePageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: the page is not opened in a browser")
	}
	browser := start(t)
	page := filepath.Join(t.TempDir(), "index.html")
	if err := run(filepath.Dir(page), "", []string{madeUp(t)}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280, 1920} {
			v := open(t, browser, page, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.EmulateViewport(width, 900))
			if ready := eval[string](v, `document.documentElement.dataset.ready || ""`); ready != "yes" {
				t.Error("the page's script did not come to its end")
			}
			if n := eval[int](v, empty); n != 0 {
				t.Errorf("%s, %d: %d panels are empty", scheme, width, n)
			}
			if n := eval[int](v, wide); n > 0 {
				t.Errorf("%s, %d: the page is %d pixels too wide", scheme, width, n)
			}
			if found := eval[[]string](v, collisions); len(found) > 0 {
				t.Errorf("%s, %d: %d collisions: %q", scheme, width, len(found), found[:min(8, len(found))])
			}
			v.shoot(fmt.Sprintf("%s-%d", scheme, width))
			v.quiet()
		}
	}
	t.Run("sorts a table by any column", func(t *testing.T) {
		v := open(t, browser, page)
		const sorted = `[...document.querySelectorAll("table")].flatMap((table) => [...table.tHead.rows[0].cells].filter((head) => {
			head.firstElementChild.click();
			const column = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex].textContent);
			const numbers = column.filter((text) => /^-?[\d.]+$/.test(text)).map(Number);
			return numbers.length !== column.length ? false : numbers.some((n, i) => i > 0 && n > numbers[i-1]) || !head.hasAttribute("aria-sort");
		}).map((head) => head.textContent))`
		if wrong := eval[[]string](v, sorted); len(wrong) > 0 {
			t.Errorf("not sorted by %q", wrong)
		}
		if n := eval[int](v, `document.querySelectorAll("th[aria-sort]").length`); n == 0 {
			t.Error("no table is sorted")
		}
		v.quiet()
	})
	t.Run("runs no texts of results", func(t *testing.T) {
		page := filepath.Join(t.TempDir(), "index.html")
		if err := run(filepath.Dir(page), "", []string{hostile(t)}, io.Discard); err != nil {
			t.Fatal(err)
		}
		v := open(t, browser, page)
		if eval[bool](v, `window.owned === true`) {
			t.Error("a text of a record was run")
		}
		v.quiet()
	})
}
