package parquet

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// arrow reads with arrow-go's readers of columns. They go to a row by the page index if the
// file has one. They are buffered: otherwise arrow-go reads the column of a whole row group
// for one page. They stay open, unless the images have a dictionary: they would keep it, and
// with it all images of a row group. Then they are made anew for each row or block.
type arrow struct {
	file    *file.Reader
	columns [2]int         // of the images and of the labels
	kept    map[int]*group // by number
	image   []byte         // of the row
	images  []byte         // of a block
	ends    []int          // of the images of a block
	labels  []int64        // of a block
	values  []parquet.ByteArray
	levels  []int16
}

// A group is a row group whose columns are being read.
type group struct {
	images *file.ByteArrayColumnChunkReader
	labels *file.Int64ColumnChunkReader
}

func (g *group) close() error { return errors.Join(g.images.Close(), g.labels.Close()) }

func openArrow(dir, name string) (*arrow, error) {
	properties := parquet.NewReaderProperties(memory.DefaultAllocator)
	properties.BufferedStreamEnabled = true
	f, err := file.OpenParquetFile(filepath.Join(dir, name), false, file.WithReadProps(properties))
	if err != nil {
		return nil, err
	}
	schema := f.MetaData().Schema
	a := &arrow{file: f, kept: map[int]*group{}, columns: [2]int{schema.ColumnIndexByName(imageColumn), schema.ColumnIndexByName(labelColumn)}}
	if min(a.columns[0], a.columns[1]) < 0 {
		return nil, errors.Join(fmt.Errorf("%s: no columns %s and %s", name, imageColumn, labelColumn), a.close())
	}
	return a, nil
}

// seek goes to row i, the first of n.
func (a *arrow) seek(i, n int) (*group, error) {
	for k := range a.file.NumRowGroups() {
		rows := int(a.file.RowGroup(k).NumRows())
		if i >= rows {
			i -= rows
			continue
		}
		if i+n > rows {
			return nil, errors.New("the rows lie in two row groups")
		}
		g := a.kept[k]
		if g == nil {
			var err error
			if g, err = a.open(k); err != nil {
				return nil, err
			}
			a.kept[k] = g
		}
		return g, errors.Join(g.images.SeekToRow(int64(i)), g.labels.SeekToRow(int64(i)))
	}
	return nil, fmt.Errorf("no row %d after the last row group", i)
}

// open makes readers of the columns of a row group.
func (a *arrow) open(k int) (*group, error) {
	rows := a.file.RowGroup(k)
	images, err := rows.Column(a.columns[0])
	if err != nil {
		return nil, err
	}
	labels, err := rows.Column(a.columns[1])
	if err != nil {
		return nil, err
	}
	g := &group{}
	var ok [2]bool
	g.images, ok[0] = images.(*file.ByteArrayColumnChunkReader)
	g.labels, ok[1] = labels.(*file.Int64ColumnChunkReader)
	if !ok[0] || !ok[1] {
		return nil, fmt.Errorf("want bytes in %s and int64 in %s", imageColumn, labelColumn)
	}
	return g, nil
}

// forget closes the readers of the row groups whose images have a dictionary.
func (a *arrow) forget() error {
	var errs []error
	for k, g := range a.kept {
		chunk, err := a.file.RowGroup(k).MetaData().ColumnChunk(a.columns[0])
		if err != nil || chunk.HasDictionaryPage() {
			errs = append(errs, err, g.close())
			delete(a.kept, k)
		}
	}
	return errors.Join(errs...)
}

func (a *arrow) row(i int) ([]byte, int64, error) {
	if err := a.read(i, i+1); err != nil {
		return nil, 0, err
	}
	return a.images, a.labels[0], nil
}

func (a *arrow) block(begin, end int, order []int, give func([]byte, int64)) error {
	if err := a.read(begin, end); err != nil {
		return err
	}
	for _, k := range order {
		from := 0
		if k > 0 {
			from = a.ends[k-1]
		}
		a.image = append(a.image[:0], a.images[from:a.ends[k]]...) // as a loader copies it into a batch
		give(a.image, a.labels[k])
	}
	return nil
}

// read reads rows of a row group.
func (a *arrow) read(begin, end int) (err error) {
	n := end - begin
	g, err := a.seek(begin, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.forget()) }()
	if len(a.levels) < n {
		a.values, a.levels, a.labels = make([]parquet.ByteArray, n), make([]int16, n), make([]int64, n)
	}
	a.images, a.ends = a.images[:0], a.ends[:0]
	for len(a.ends) < n {
		left := n - len(a.ends)
		rows, found, err := g.images.ReadBatchInPage(int64(left), a.values, a.levels, nil) // values lie in the page
		if err != nil {
			return err
		}
		if found == 0 || int(rows) != found {
			return fmt.Errorf("rows %d to %d: an image is missing", begin, end)
		}
		for _, v := range a.values[:found] {
			a.images = append(a.images, v...)
			a.ends = append(a.ends, len(a.images))
		}
	}
	for got := 0; got < n; {
		rows, found, err := g.labels.ReadBatch(int64(n-got), a.labels[got:n], a.levels, nil)
		if err != nil {
			return err
		}
		if found == 0 || int(rows) != found {
			return fmt.Errorf("rows %d to %d: a label is missing", begin, end)
		}
		got += found
	}
	return nil
}

func (a *arrow) close() error {
	var errs []error
	for _, g := range a.kept {
		errs = append(errs, g.close())
	}
	return errors.Join(append(errs, a.file.Close())...)
}
