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
var library []byte

//go:embed page.js
var script string

//go:embed page.css
var style string

//go:embed page.html
var markup string

// A page is what the template shows. All texts of results pass through the
// template, which escapes them; the scripts' hashes forbid any other script, and
// the page may not reach a network.
type page struct {
	*report
	Library, Script template.JS
	Style           template.CSS
	Hashes          template.HTMLAttr
	Charts          []*chart // the data of the script
}

func (r *report) writePage(path string) error {
	text, err := r.page()
	if err != nil {
		return fmt.Errorf("report: %s: %w", path, err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (r *report) page() ([]byte, error) {
	echarts, err := unpack(library)
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"image": image}).Parse(markup)
	if err != nil {
		return nil, err
	}
	p := page{report: r, Library: template.JS(echarts), Script: template.JS(script), Style: template.CSS(style)}
	p.Hashes = template.HTMLAttr(fmt.Sprintf(
		`content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '%s' '%s'"`, hash(echarts), hash(script)))
	for _, s := range r.Sections {
		p.Charts = append(p.Charts, s.Charts...)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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

// image is a figure inside the page, as SVG, which cannot run scripts there.
func image(f figure) (template.URL, error) {
	svg, err := f.svg()
	if err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)), nil
}
