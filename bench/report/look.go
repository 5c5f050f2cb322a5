package main

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The look of plots: dark on white, told apart without colour by lightness, by
// dashes and by marks.

// ramp goes from dark to light, ever lighter in gray too. The page's script has
// the same.
var ramp = [...]color.NRGBA{
	{0x14, 0x12, 0x3c, 255}, {0x2f, 0x3f, 0x8f, 255}, {0x1f, 0x78, 0xa8, 255}, {0x35, 0xa7, 0x9c, 255}, {0x9c, 0xc9, 0x5e, 255},
}

var (
	ink  = color.NRGBA{0x1a, 0x1a, 0x1a, 255}
	pale = color.NRGBA{0xd9, 0xd9, 0xd9, 255}
)

// shade is the colour of the i-th of n.
func shade(i, n int) color.NRGBA {
	if n < 2 {
		return ramp[1]
	}
	return between(float64(i) / float64(n-1))
}

// between is the ramp at t, from 0 to 1.
func between(t float64) color.NRGBA {
	at := min(max(t, 0), 1) * float64(len(ramp)-1)
	k := min(int(at), len(ramp)-2)
	f := at - float64(k)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := ramp[k], ramp[k+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// legible is black or white, whichever reads better on c.
func legible(c color.NRGBA) color.Color {
	if 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) < 140 {
		return color.White
	}
	return ink
}

var dashes = [][]vg.Length{
	nil, {vg.Points(6), vg.Points(2)}, {vg.Points(1.5), vg.Points(2)}, {vg.Points(8), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(3), vg.Points(1.5)},
}

var marks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{},
}

// lineStyle is the look of the i-th of n lines.
func lineStyle(i, n int) draw.LineStyle {
	return draw.LineStyle{Color: shade(i, n), Width: vg.Points(1.3), Dashes: dashes[i%len(dashes)]}
}

func glyphStyle(i, n int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: shade(i, n), Radius: vg.Points(2.6), Shape: marks[i%len(marks)]}
}

// textStyle writes in the plots' face; size in points.
func textStyle(size float64) draw.TextStyle {
	return draw.TextStyle{
		Color:   ink,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(size)),
		Handler: face{text.Plain{Fonts: font.DefaultCache}},
	}
}

// A face writes texts of results, whatever they hold: characters that XML forbids
// would make an SVG unreadable.
type face struct{ text.Plain }

func (f face) Lines(txt string) []string { return f.Plain.Lines(printable(txt)) }

func (f face) Box(txt string, fnt font.Font) (width, height, depth vg.Length) {
	return f.Plain.Box(printable(txt), fnt)
}

func (f face) Draw(c vg.Canvas, txt string, sty draw.TextStyle, pt vg.Point) {
	f.Plain.Draw(c, printable(txt), sty, pt)
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
