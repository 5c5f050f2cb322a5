package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/dop251/goja"
)

//go:embed draw.js
var drawing string

// A drawer runs the page's drawing code without a browser. Only one goroutine may use it at a time.
type drawer struct {
	library string
	vm      *goja.Runtime
	draw    goja.Callable
	drawn   map[drawnKey]string
}

type drawnKey struct {
	id   string
	dark bool
}

func newDrawer() (*drawer, error) {
	library, err := unpack(echarts)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	d := &drawer{library: library, vm: goja.New(), drawn: map[drawnKey]string{}}
	d.vm.Set("setTimeout", func(goja.FunctionCall) goja.Value { return goja.Undefined() }) // there are no animations
	for _, source := range []string{library, drawing} {
		if _, err := d.vm.RunString(source); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	var ok bool
	if d.draw, ok = goja.AssertFunction(d.vm.Get("penstockSVG")); !ok {
		return nil, fmt.Errorf("report: draw.js has no penstockSVG")
	}
	return d, nil
}

// svg returns a chart as an SVG file with its title. It draws every chart only once, and identifies
// it by its ID.
func (d *drawer) svg(ch *chart, dark bool) (string, error) {
	key := drawnKey{ch.ID, dark}
	if text, ok := d.drawn[key]; ok {
		return text, nil
	}
	text, err := json.Marshal(ch)
	if err != nil {
		return "", fmt.Errorf("report: %s: %w", ch.ID, err)
	}
	v, err := d.draw(goja.Undefined(), d.vm.ToValue(string(text)), d.vm.ToValue(dark))
	if err != nil {
		return "", fmt.Errorf("report: %s: %w", ch.ID, err)
	}
	d.drawn[key] = renamed(v.String())
	return d.drawn[key], nil
}

// drawnName is a name that ECharts gives to a class or a clip path: the number of the drawing, and a
// number that is counted over all drawings.
var drawnName = regexp.MustCompile(`zr\d+-(cls-|c)\d+`)

// renamed numbers the names in a drawing from 0. The file of a chart then does not depend on
// which charts were drawn before.
func renamed(svg string) string {
	names := map[string]string{}
	return drawnName.ReplaceAllStringFunc(svg, func(name string) string {
		if names[name] == "" {
			names[name] = fmt.Sprintf("n%d", len(names))
		}
		return names[name]
	})
}

// write saves a chart into a folder, for light pages and for dark ones.
func (d *drawer) write(folder string, ch *chart) error {
	for name, dark := range map[string]bool{ch.ID + ".svg": false, ch.ID + "-dark.svg": true} {
		text, err := d.svg(ch, dark)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}
