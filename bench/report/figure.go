package main

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure is a plot for print, of one or more panels above each other.
type figure struct {
	Name     string // of its files, without ending
	Caption  string
	title    []string
	subtitle []string
	panels   []*plot.Plot
	legend   [][]entry // rows
	height   vg.Length // of a panel
}

// An entry of a legend tells what a line or a bar is.
type entry struct {
	text  string
	thumb func(c draw.Canvas)
}

const (
	figureWidth = 17 * vg.Centimeter
	margin      = 10
	titleSize   = 11
	smallSize   = 8
	thumbWidth  = 26
)

// compose lays a figure out. Panels are given from top to bottom.
func compose(title, subtitle string, height vg.Length, panels []*plot.Plot, legend []entry) figure {
	room := figureWidth - 2*margin
	f := figure{
		Caption:  title,
		title:    wrap(title, textStyle(titleSize), room),
		subtitle: wrap(subtitle, textStyle(smallSize), room),
		panels:   panels,
		height:   height,
	}
	used := room
	for _, e := range legend {
		w := entryWidth(e)
		if used+w > room {
			f.legend = append(f.legend, nil)
			used = 0
		}
		used += w
		f.legend[len(f.legend)-1] = append(f.legend[len(f.legend)-1], e)
	}
	return f
}

func entryWidth(e entry) vg.Length { return thumbWidth + textStyle(smallSize).Width(e.text) + 16 }

// wrap breaks a text into lines that fit.
func wrap(text string, style draw.TextStyle, room vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && style.Width(line+" "+word) > room {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func (f figure) head() vg.Length {
	return vg.Length(len(f.title))*titleSize*1.3 + vg.Length(len(f.subtitle))*smallSize*1.3 + 8
}

func (f figure) foot() vg.Length { return vg.Length(len(f.legend))*smallSize*1.7 + 6 }

func (f figure) whole() vg.Length {
	return 2*margin + f.head() + f.foot() + f.height*vg.Length(len(f.panels))
}

func (f figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	y := c.Max.Y
	write := func(lines []string, size vg.Length) {
		style := textStyle(float64(size))
		style.YAlign = draw.YTop
		for _, l := range lines {
			c.FillText(style, vg.Point{X: c.Min.X, Y: y}, l)
			y -= size * 1.3
		}
	}
	write(f.title, titleSize)
	write(f.subtitle, smallSize)
	f.drawLegend(c)
	f.drawPanels(draw.Crop(c, 0, 0, f.foot(), -f.head()))
}

func (f figure) drawLegend(c draw.Canvas) {
	style := textStyle(smallSize)
	style.YAlign = draw.YCenter
	for i, row := range f.legend {
		y := c.Min.Y + (vg.Length(len(f.legend)-1-i)+0.5)*smallSize*1.7
		x := c.Min.X
		for _, e := range row {
			box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + thumbWidth - 4, Y: y + 4}}}
			e.thumb(box)
			c.FillText(style, vg.Point{X: x + thumbWidth, Y: y}, e.text)
			x += entryWidth(e)
		}
	}
}

func (f figure) drawPanels(c draw.Canvas) {
	rows := make([][]*plot.Plot, len(f.panels))
	for i, p := range f.panels {
		rows[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: 10}
	for i, row := range plot.Align(rows, tiles, c) {
		f.panels[i].Draw(row[0])
	}
}

// svg is the figure as a file of vectors.
func (f figure) svg() ([]byte, error) {
	c := vgsvg.New(figureWidth, f.whole())
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: %s.svg: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// png is the figure as pixels, 150 to the inch.
func (f figure) png() ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, f.whole()), vgimg.UseDPI(150))}
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: %s.png: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// write saves the figure into a folder in both forms.
func (f figure) write(folder string) error {
	for ending, encode := range map[string]func() ([]byte, error){".svg": f.svg, ".png": f.png} {
		data, err := encode()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, f.Name+ending), data, 0o644); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}
