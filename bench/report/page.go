package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
)

//go:embed echarts/echarts.min.js.gz
var echarts []byte

//go:embed page.js
var script string

//go:embed page.css
var style string

//go:embed page.html
var markup string

// A page is the data of the template. The template escapes all texts of results. The page's
// content security policy allows only scripts with the given hashes, and no network access.
type page struct {
	*report
	Library, Script template.JS
	Style           template.CSS
	Hashes          template.HTMLAttr
	Charts          []*chart // the data of the script
}

func (r *report) writePage(path string, d *drawer) error {
	text, err := r.page(d)
	if err != nil {
		return fmt.Errorf("report: %s: %w", path, err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (r *report) page(d *drawer) ([]byte, error) {
	// image returns a chart as an SVG data URL. SVG in an img element cannot run scripts.
	image := func(ch *chart) (template.URL, error) {
		text, err := d.svg(ch, false)
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(text))), err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"image": image}).Parse(markup)
	if err != nil {
		return nil, err
	}
	code := drawing + script
	p := page{report: r, Library: template.JS(d.library), Script: template.JS(code), Style: template.CSS(style)}
	p.Hashes = template.HTMLAttr(fmt.Sprintf(
		`content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '%s' '%s'"`, hash(d.library), hash(code)))
	for _, s := range r.Sections {
		p.Charts = append(p.Charts, s.Charts...)
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

func unpack(data []byte) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
