package parquet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

const (
	maxGap    = 64 << 10 // bytes between two ranges that are read as one
	perValue  = 3        // bytes of a value in memory, without its own
	perColumn = 128      // bytes of a block's column in the index
)

// A segment is consecutive rows of a row group. The Meta of a block is its segments, as JSON.
type segment struct {
	Rows    int64    `json:"rows"`
	Columns []column `json:"columns"` // those that are wanted
}

// A column is the pages of a column that a segment needs.
type column struct {
	Codec  format.CompressionCodec `json:"codec,omitempty"`
	Rows   int64                   `json:"rows"`           // of these pages
	Skip   int64                   `json:"skip,omitempty"` // rows of them before the segment
	Pieces []shardfmt.Range        `json:"pieces"`         // of the file
}

// split finds the blocks of a file.
func (f *files) split(file *file, size int64) (shard shardfmt.Shard, err error) {
	shard = shardfmt.Shard{Object: file.object, Compression: shardfmt.ByFormat}
	meta, length, err := file.footer()
	if err != nil {
		return shard, err
	}
	b := budget.For(length)
	s, err := parseSchema(meta, &b)
	if err != nil {
		return shard, err
	}
	if shard.Schema, err = json.Marshal(s); err != nil {
		return shard, err
	}
	_, wanted, err := f.table(s)
	if err != nil {
		return shard, err
	}
	p := &planner{files: f, file: file, schema: s, wanted: wanted, least: size, budget: budget.For(file.object.Size)}
	var rows int64
	for k := range meta.RowGroups {
		g := &meta.RowGroups[k]
		if g.NumRows == 0 {
			continue
		}
		if err := p.group(g); err != nil {
			return shard, fmt.Errorf("row group %d: %w", k, err)
		}
		rows += g.NumRows
	}
	if rows != meta.NumRows {
		return shard, fmt.Errorf("row groups of %d rows, want %d", rows, meta.NumRows)
	}
	if err := p.flush(); err != nil {
		return shard, err
	}
	shard.Blocks = p.blocks
	return shard, nil
}

// maxRows limits the rows of a file, so that sums cannot overflow.
const maxRows = 1 << 40

// A planner divides row groups into blocks.
type planner struct {
	*files
	file   *file
	schema *schema
	wanted []*leaf
	least  int64         // bytes of a block
	budget budget.Budget // of the file: chunks may share their page index, and blocks their columns
	blocks []shardfmt.Block

	// Of the block that grows.
	segments []segment
	size     float64 // bytes in memory
	begin    int64
	end      int64
}

// group adds the rows of a row group.
func (p *planner) group(g *format.RowGroup) error {
	if g.NumRows < 0 || g.NumRows > maxRows {
		return fmt.Errorf("%d rows", g.NumRows)
	}
	if len(g.Columns) != len(p.schema.Leaves) {
		return fmt.Errorf("%d columns, want %d", len(g.Columns), len(p.schema.Leaves))
	}
	var chunks []*chunk
	var packed int64
	unpacked := float64(g.NumRows) * shardfmt.RowSize
	wanted := p.wanted // in the order of the leaves
	for k := range g.Columns {
		l := &p.schema.Leaves[k]
		if len(wanted) == 0 || l != wanted[0] {
			continue
		}
		wanted = wanted[1:]
		h, err := chunkOf(&g.Columns[k], l, g.NumRows, p.file.object.Size)
		if err != nil {
			return fmt.Errorf("column %.100q: %w", l.Name, err)
		}
		chunks = append(chunks, h)
		packed += h.MetaData.TotalCompressedSize
		unpacked += float64(max(h.MetaData.TotalUncompressedSize, h.MetaData.TotalCompressedSize)) + float64(g.NumRows)*perValue
	}
	if packed >= 2*p.least {
		if pages, err := p.pages(g, chunks); err != nil || pages != nil {
			if err := errors.Join(err, p.flush()); err != nil {
				return err
			}
			return p.divide(g, chunks, pages, unpacked/float64(max(packed, 1)))
		}
	}
	s := segment{Rows: g.NumRows}
	begin, end := p.file.object.Size, int64(0)
	for _, h := range chunks {
		s.Columns = append(s.Columns, column{h.MetaData.Codec, g.NumRows, 0, []shardfmt.Range{{Off: h.firstPage, Len: h.MetaData.TotalCompressedSize}}})
		begin, end = min(begin, h.firstPage), max(end, h.firstPage+h.MetaData.TotalCompressedSize)
	}
	if len(p.segments) > 0 && (p.end-p.begin >= p.least || begin < p.end || begin-p.end > maxGap || end-begin-packed > maxGap) {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if len(p.segments) == 0 {
		p.begin = begin
	}
	p.segments, p.size, p.end = append(p.segments, s), p.size+unpacked, end
	return nil
}

// pages reads the page indices of chunks. It returns nil if one has none.
func (p *planner) pages(g *format.RowGroup, chunks []*chunk) ([][]format.PageLocation, error) {
	size := p.file.object.Size
	begin, end := size, int64(0)
	for _, h := range chunks {
		if h.OffsetIndexOffset == 0 {
			return nil, nil
		}
		n := int64(h.OffsetIndexLength)
		if h.OffsetIndexOffset < 0 || n < 1 || n > maxTail || h.OffsetIndexOffset > size-n {
			return nil, fmt.Errorf("a page index of %d bytes from byte %d, of %d bytes", n, h.OffsetIndexOffset, size)
		}
		begin, end = min(begin, h.OffsetIndexOffset), max(end, h.OffsetIndexOffset+n)
	}
	if end-begin > maxTail {
		return nil, fmt.Errorf("page indices of %d bytes", end-begin)
	}
	if err := p.budget.Memory(end - begin); err != nil {
		return nil, fmt.Errorf("page indices: %w", err)
	}
	data, err := p.file.read(begin, end-begin)
	if err != nil {
		return nil, err
	}
	pages := make([][]format.PageLocation, len(chunks))
	for k, h := range chunks {
		if pages[k], err = parsePages(data[h.OffsetIndexOffset-begin:][:h.OffsetIndexLength], h, g.NumRows, &p.budget); err != nil {
			return nil, fmt.Errorf("page index: %w", err)
		}
		if h.firstPage < h.MetaData.DataPageOffset {
			h.dictionaryTo = pages[k][0].Offset
		}
	}
	return pages, nil
}

// divide makes blocks of a large row group: it cuts before pages of its largest column.
// growth is the ratio of the bytes in memory to those of the file.
func (p *planner) divide(g *format.RowGroup, chunks []*chunk, pages [][]format.PageLocation, growth float64) error {
	largest := 0
	for k, h := range chunks {
		if h.MetaData.TotalCompressedSize > chunks[largest].MetaData.TotalCompressedSize {
			largest = k
		}
	}
	first, last := int64(0), pages[largest]
	left := chunks[largest].MetaData.TotalCompressedSize
	begin := last[0].Offset
	for k := 1; k <= len(last); k++ {
		end := g.NumRows
		if k < len(last) {
			n := last[k].Offset - begin
			if n < p.least || left-n < p.least/2 {
				continue
			}
			left -= n
			begin, end = last[k].Offset, last[k].FirstRowIndex
		}
		if err := p.budget.Memory(perColumn * int64(len(chunks))); err != nil {
			return err
		}
		s := segment{Rows: end - first}
		for c, h := range chunks {
			s.Columns = append(s.Columns, columnOf(h, pages[c], first, end, g.NumRows))
		}
		p.segments = []segment{s}
		for _, c := range s.Columns {
			for _, r := range c.Pieces {
				p.size += float64(r.Len) * growth
			}
		}
		p.size += float64(s.Rows) * float64(shardfmt.RowSize+perValue*len(chunks))
		if err := p.flush(); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// columnOf finds the pages of a chunk with the rows from first to end, and its dictionary. The
// chunk has all rows.
func columnOf(h *chunk, pages []format.PageLocation, first, end, all int64) column {
	from, _ := slices.BinarySearchFunc(pages, first+1, func(p format.PageLocation, row int64) int { return cmp.Compare(p.FirstRowIndex, row) })
	from = max(from-1, 0)
	to := from
	for to+1 < len(pages) && pages[to+1].FirstRowIndex < end {
		to++
	}
	if to+1 < len(pages) {
		all = pages[to+1].FirstRowIndex
	}
	c := column{Codec: h.MetaData.Codec, Rows: all - pages[from].FirstRowIndex, Skip: first - pages[from].FirstRowIndex}
	if h.firstPage < h.dictionaryTo {
		c.Pieces = append(c.Pieces, shardfmt.Range{Off: h.firstPage, Len: h.dictionaryTo - h.firstPage})
	}
	c.Pieces = append(c.Pieces, shardfmt.Range{Off: pages[from].Offset, Len: pages[to].Offset + int64(pages[to].CompressedPageSize) - pages[from].Offset})
	return c
}

// flush ends the block that grows.
func (p *planner) flush() error {
	if len(p.segments) == 0 {
		return nil
	}
	var ranges []shardfmt.Range
	b := shardfmt.Block{}
	for _, s := range p.segments {
		b.Rows += int(s.Rows)
		for _, c := range s.Columns {
			ranges = append(ranges, c.Pieces...)
		}
	}
	if p.size > float64(p.Limit) {
		return fmt.Errorf("a block of %d rows with about %.0f bytes: %w", b.Rows, p.size, shardfmt.ErrTooLarge)
	}
	ranges = joined(ranges)
	b.Off, b.Len, b.More = ranges[0].Off, ranges[0].Len, ranges[1:]
	b.Size = int64(p.size)
	var err error
	b.Meta, err = json.Marshal(p.segments)
	p.blocks = append(p.blocks, b)
	p.segments, p.size = nil, 0
	return err
}

// joined sorts ranges and joins those with little between them.
func joined(ranges []shardfmt.Range) []shardfmt.Range {
	slices.SortFunc(ranges, func(a, b shardfmt.Range) int { return cmp.Compare(a.Off, b.Off) })
	n := 0
	for _, r := range ranges[1:] {
		if last := &ranges[n]; r.Off <= last.Off+last.Len+maxGap {
			last.Len = max(last.Len, r.Off+r.Len-last.Off)
			continue
		}
		n++
		ranges[n] = r
	}
	return ranges[:n+1]
}
