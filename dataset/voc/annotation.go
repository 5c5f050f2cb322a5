package voc

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

type annotationXML struct {
	XMLName xml.Name `xml:"annotation"`
	Objects []struct {
		Name      string  `xml:"name"`
		Difficult string  `xml:"difficult"`
		Truncated string  `xml:"truncated"`
		Box       *boxXML `xml:"bndbox"`
	} `xml:"object"`
}

type boxXML struct {
	XMin string `xml:"xmin"`
	YMin string `xml:"ymin"`
	XMax string `xml:"xmax"`
	YMax string `xml:"ymax"`
}

// readObjects reads the annotation of one image.
func readObjects(fsys fs.FS, name string, c *config) ([]object, error) {
	f, size, err := files.Open(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("voc: read %s: %w", name, err)
	}
	defer f.Close()
	objects, err := parse(io.LimitReader(f, maxText), size, c)
	if err != nil {
		return nil, fmt.Errorf("voc: read %s: %w", name, err)
	}
	return objects, nil
}

// tokens are those of an XML file, charged to its budget.
type tokens struct {
	budget.Budget
	from *xml.Decoder
}

func (t *tokens) Token() (xml.Token, error) {
	token, err := t.from.Token()
	if err != nil {
		return nil, err
	}
	switch e := token.(type) {
	case xml.StartElement:
		const element, attribute = 256, 160 // bytes of memory, also if they are freed
		if err := errors.Join(t.Enter(), t.Memory(element+attribute*int64(len(e.Attr)))); err != nil {
			return nil, err
		}
	case xml.EndElement:
		t.Leave()
	}
	return token, nil
}

// parse reads an annotation of size bytes.
func parse(from io.Reader, size int64, c *config) (objects []object, err error) {
	var v annotationXML
	if err := xml.NewTokenDecoder(&tokens{budget.For(size), xml.NewDecoder(from)}).Decode(&v); err != nil {
		return nil, err
	}
	for k, x := range v.Objects {
		o := object{label: int64(slices.Index(c.classes, x.Name)), difficult: is(x.Difficult), truncated: is(x.Truncated)}
		if o.difficult && !c.difficult {
			continue
		}
		if o.label < 0 {
			return nil, fmt.Errorf("object %d: class %q is none of the %d classes", k, x.Name, len(c.classes))
		}
		if x.Box == nil {
			return nil, fmt.Errorf("object %d: no bndbox", k)
		}
		for i, text := range []string{x.Box.XMin, x.Box.YMin, x.Box.XMax, x.Box.YMax} {
			side, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
			if err != nil || math.IsNaN(side) || math.IsInf(side, 0) {
				return nil, fmt.Errorf("object %d: bndbox has %q: want a number", k, text)
			}
			if i < 2 && !c.asInFile {
				side-- // the left and upper edges of the pixel
			}
			o.box[i] = float32(side)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// is reports whether a flag is set. In some files it is empty, or missing.
func is(flag string) bool { return strings.TrimSpace(flag) == "1" }
