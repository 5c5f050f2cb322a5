package main

import (
	"context"
	"fmt"
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
func (v *visit) shoot(name string, capture func(*[]byte) chromedp.Action) {
	v.t.Helper()
	folder := os.Getenv("SHOTS")
	if folder == "" {
		return
	}
	var png []byte
	v.do(capture(&png))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		v.t.Fatal(err)
	}
}

func viewport(png *[]byte) chromedp.Action { return chromedp.CaptureScreenshot(png) }

func whole(png *[]byte) chromedp.Action { return chromedp.FullScreenshot(png, 100) }

// empty counts the charts without shapes. A chart without data or without a size has none.
const empty = `[...document.querySelectorAll("figure .plot")].filter((p) => p.clientWidth > 0 && p.querySelectorAll("svg path").length < 4).length`

// wide returns by how many pixels the page is wider than the window.
const wide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

func TestThePageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: the page is not opened in a browser")
	}
	browser := start(t)
	for _, c := range []struct {
		claim string
		test  func(*testing.T, context.Context)
	}{
		{"draws and hovers without errors, in light and in dark", drawsAndHovers},
		{"fits a phone", fitsAPhone},
		{"shows its charts without scripts", showsChartsWithoutScripts},
		{"runs no texts of results", runsNoTexts},
	} {
		t.Run(c.claim, func(t *testing.T) { c.test(t, browser) })
	}
}

// light sets the colour scheme of the page.
func light(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

func drawsAndHovers(t *testing.T, browser context.Context) {
	page := filepath.Join(made(t), "index.html")
	var inks []string
	for _, scheme := range []string{"light", "dark"} {
		v := open(t, browser, page, light(scheme))
		if ready := eval[string](v, `document.documentElement.dataset.ready || ""`); ready != "yes" {
			v.quiet()
			t.Fatal("the page's script did not come to its end")
		}
		if n := eval[int](v, empty); n != 0 {
			t.Errorf("%s: %d charts are empty", scheme, n)
		}
		inks = append(inks, eval[string](v, `document.querySelector("figure .plot svg rect").getAttribute("fill")`))
		v.shoot(scheme, whole)
		if scheme == "dark" {
			v.quiet()
			continue
		}
		v.do(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
		var all bool
		v.do(chromedp.Poll(`[...document.querySelectorAll("figure .plot")].every((p) => p.querySelector("svg"))`, &all))
		if n := eval[int](v, empty); n != 0 {
			t.Errorf("%d charts are empty that were folded", n)
		}
		for _, figure := range []string{`figure[id^="throughput-rate"]`, `figure[id^="loading-waits"]`, `figure[id^="endtoend-regret"]`, `figure[id^="profile-stages"]`, `figure[id^="inference"]`} {
			v.hover(figure)
		}
		v.do(chromedp.SetValue(`figure[id^="endtoend-regret"] select`, "vit", chromedp.ByQuery),
			chromedp.Evaluate(`document.querySelector('figure[id^="endtoend-regret"] select').dispatchEvent(new Event("change"))`, nil))
		v.do(light("dark")) // while the page is open
		v.do(chromedp.Poll(`document.querySelector("figure .plot svg rect").getAttribute("fill") !== "`+inks[0]+`"`, &all))
		v.quiet()
	}
	if inks[0] == inks[1] {
		t.Errorf("charts have the background %s in light and in dark", inks[0])
	}
}

// hover moves the mouse over a chart, and checks that text is added: the tooltip.
func (v *visit) hover(figure string) {
	v.t.Helper()
	v.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q + " .plot").scrollIntoView({block: "center"})`, figure), nil))
	text := fmt.Sprintf(`[...document.querySelectorAll(%q + " .plot svg text")].length`, figure)
	before := eval[int](v, text)
	box := eval[[]float64](v, fmt.Sprintf(`(() => { const r = document.querySelector(%q + " .plot").getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`, figure))
	for at := range 60 { // over the whole chart, because some of its places have nothing, and once more with patience
		patience := 150 * time.Millisecond
		if at >= 30 {
			at, patience = at-30, 2*time.Second
		}
		dx, dy := 0.2+0.1*float64(at%7), 0.25+0.15*float64(at/7)
		v.do(chromedp.MouseEvent("mouseMoved", box[0]+dx*box[2], box[1]+dy*box[3]))
		var shown bool
		err := chromedp.Run(v, chromedp.Poll(text+" > "+fmt.Sprint(before), &shown, chromedp.WithPollingTimeout(patience)))
		if err == nil && shown {
			v.shoot(strings.NewReplacer(`figure[id^="`, "hover-", `"]`, "").Replace(figure), viewport)
			return
		}
	}
	v.t.Errorf("%s: hovering shows nothing", figure)
}

func fitsAPhone(t *testing.T, browser context.Context) {
	page := filepath.Join(made(t), "index.html")
	v := open(t, browser, page, emulation.SetDeviceMetricsOverride(390, 844, 2, true), light("light"))
	if w := eval[int](v, wide); w > 0 {
		t.Errorf("the page is %d pixels wider than the phone", w)
	}
	if n := eval[int](v, empty); n != 0 {
		t.Errorf("%d charts are empty", n)
	}
	v.shoot("phone-light", whole)
	v.do(light("dark"))
	v.shoot("phone-dark", whole)
	v.quiet()
}

func showsChartsWithoutScripts(t *testing.T, browser context.Context) {
	v := open(t, browser, filepath.Join(made(t), "index.html"), emulation.SetScriptExecutionDisabled(true))
	var boxes []string
	v.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.Evaluate(`[...document.querySelectorAll("noscript img")].filter((i) => i.complete && i.naturalWidth > 100).map((i) => i.alt)`, &boxes).Do(ctx)
	}))
	if len(boxes) < 10 {
		t.Errorf("%d charts are shown, want 10 or more", len(boxes))
	}
	v.shoot("without-scripts", whole)
	v.quiet()
}

func runsNoTexts(t *testing.T, browser context.Context) {
	v := open(t, browser, filepath.Join(owned(t), "index.html"))
	if eval[bool](v, `window.owned === true`) {
		t.Error("a text of the results ran as a script")
	}
	if n := eval[int](v, `document.querySelectorAll("main img[src='x'], main script, main b").length`); n != 0 {
		t.Errorf("%d elements came from texts of the results", n)
	}
	v.hover(`figure[id^="throughput-rate"]`)
	if eval[bool](v, `window.owned === true`) {
		t.Error("a tooltip ran a script")
	}
	v.quiet()
}
