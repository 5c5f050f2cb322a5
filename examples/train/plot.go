package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var (
	blue  = color.NRGBA{31, 119, 180, 255}
	pale  = color.NRGBA{31, 119, 180, 70}
	red   = color.NRGBA{214, 39, 40, 255}
	black = color.NRGBA{90, 90, 90, 255}
)

// drawCurves draws losses and accuracy as a PNG. An epoch has that many steps.
func drawCurves(path string, h *history, steps int) error {
	if len(h.accuracy) == 0 {
		return errors.New("no epoch is complete")
	}
	losses, err := lossPlot(h, steps)
	if err != nil {
		return err
	}
	accuracy, err := accuracyPlot(h)
	if err != nil {
		return err
	}
	losses.X.Max, accuracy.X.Max = float64(len(h.accuracy)), float64(len(h.accuracy))

	img := vgimg.NewWith(vgimg.UseWH(7*vg.Inch, 7*vg.Inch), vgimg.UseDPI(120))
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadX: vg.Points(8), PadY: vg.Points(14),
		PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(14)}
	plots := [][]*plot.Plot{{losses}, {accuracy}}
	for i, row := range plot.Align(plots, tiles, draw.New(img)) {
		plots[i][0].Draw(row[0])
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

func lossPlot(h *history, steps int) (*plot.Plot, error) {
	p := newPlot("Loss", "cross-entropy (nats)")
	each := make(plotter.XYs, len(h.losses))
	for i, v := range h.losses {
		each[i] = plotter.XY{X: float64(i+1) / float64(steps), Y: float64(v)}
	}
	means := make(plotter.XYs, len(h.accuracy))
	held := make(plotter.XYs, len(h.accuracy))
	for e := range means {
		sum := 0.0
		for _, v := range h.losses[e*steps : (e+1)*steps] {
			sum += float64(v)
		}
		means[e] = plotter.XY{X: float64(e) + 0.5, Y: sum / float64(steps)}
		held[e] = plotter.XY{X: float64(e + 1), Y: float64(h.validLosses[e])}
	}
	return p, errors.Join(
		addLine(p, "every step", each, pale, false),
		addLine(p, "mean of an epoch", means, blue, len(means) < 40),
		addLine(p, "validation", held, red, len(held) < 40))
}

func accuracyPlot(h *history) (*plot.Plot, error) {
	p := newPlot("Accuracy", "accuracy (%)")
	p.Y.Max = 100
	p.Legend.Top = false
	held := make(plotter.XYs, len(h.accuracy))
	for e, v := range h.accuracy {
		held[e] = plotter.XY{X: float64(e + 1), Y: 100 * float64(v)}
	}
	chance, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 100 * h.chance}, {X: float64(len(held)), Y: 100 * h.chance}})
	if err != nil {
		return nil, err
	}
	chance.Color, chance.Dashes = black, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(chance)
	err = addLine(p, fmt.Sprintf("validation, %.1f %% at the end", held[len(held)-1].Y), held, red, len(held) < 40)
	p.Legend.Add(fmt.Sprintf("always the most frequent class, %.1f %%", 100*h.chance), chance)
	return p, err
}

func newPlot(title, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "epochs", y
	p.X.Min, p.Y.Min = 0, 0
	p.Y.Tick.Marker = plot.TickerFunc(ticks)
	p.Legend.Top, p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = true, vg.Points(2), -vg.Points(4), -vg.Points(4)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return p
}

// ticks are five to ten round numbers, all of them labelled.
func ticks(low, high float64) (all []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	switch n := (high - low) / step; {
	case n < 2:
		step /= 5
	case n < 5:
		step /= 2
	}
	for i := math.Ceil(low / step); i*step <= high+step/1e6; i++ {
		all = append(all, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return all
}

// addLine adds a line, with dots where there are few points.
func addLine(p *plot.Plot, name string, points plotter.XYs, c color.Color, dots bool) error {
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = c, vg.Points(1.3)
	marks.Color, marks.Shape, marks.Radius = c, draw.CircleGlyph{}, vg.Points(2)
	p.Add(line)
	if dots {
		p.Add(marks)
	}
	p.Legend.Add(name, line)
	return nil
}
