// Package tokens is for language models. [Open] reads files of token ids that Megatron, litdata, llm.c, nanoGPT and numpy write, and a
// [Writer] writes those of Megatron. [Pack] packs documents into rows of one length. [Mask] hides tokens, for masked language models.
//
// Documents that are not packed differ in length. loader.Padded pads them in the loop, to the longest of a batch, to a fixed length or to
// a multiple; loader.Mask makes the attention mask; and sampler.ByTokens makes batches of as many tokens instead of as many documents.
//
// Documents that a stream gives, whose lengths are not known beforehand, are written by Writers, into one file after the other. Each
// file can be packed while the next one is written. sampler.Mix draws from several files in given proportions.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/sampler"
)

// A Strategy says how [Pack] puts documents into rows.
type Strategy int

const (
	// Wrap writes the documents one after the other, and cuts where a row ends. Only the last row is padded. It is what
	// GPT models are trained on, and "wrapped" of TRL.
	Wrap Strategy = iota
	// FirstFit puts every document into the first row that has room for it, among as many as [Window] says, 64 by default.
	FirstFit
	// BestFit goes from the longest document to the shortest, and puts each into the fullest row that has room for it.
	// It is the best fit decreasing of TRL, "bfd". It takes all documents at once, or as many as [Window] says.
	BestFit
)

// String is the strategy's name.
func (s Strategy) String() string {
	if s < Wrap || s > BestFit {
		return fmt.Sprintf("Strategy(%d)", int(s))
	}
	return [...]string{"Wrap", "FirstFit", "BestFit"}[s]
}

// A PackOption is an option of [Pack].
type PackOption struct{ set func(*packed) }

// Window is how many rows FirstFit keeps open, or how many documents BestFit sorts at a time. With some thousands, BestFit leaves
// hardly more room in rows than with all documents, and keeps their order roughly.
func Window(n int) PackOption {
	return PackOption{func(p *packed) { p.window = n; p.windowed = true }}
}

// Order sets the order of the documents, such as sampler.Shuffle(n, seed). The default is sampler.Sequential.
func Order(s sampler.Sampler) PackOption { return PackOption{func(p *packed) { p.order = s }} }

const maxPasses = 1 << 16 // whose orders are kept

// Passes packs so many epochs of the order, one after the other: with [Wrap], a row may end one epoch and begin the next.
// The default is 1, and 65,536 the most. All are planned at once, and are one epoch of a loader.
func Passes(n int) PackOption { return PackOption{func(p *packed) { p.passes = n }} }

// Truncate drops what FirstFit and BestFit would have to split off: all tokens of a document from the length of a row on.
func Truncate() PackOption { return PackOption{func(p *packed) { p.truncate = true }} }

// Shifted makes the label at each place the token that follows there, as Megatron and nanoGPT do. By default it is the token itself,
// as Hugging Face's models shift labels themselves.
func Shifted() PackOption { return PackOption{func(p *packed) { p.shifted = true }} }

// Joined makes each row one text: positions count through, and labels do not end with a document.
func Joined() PackOption { return PackOption{func(p *packed) { p.joined = true }} }

// Megatron makes rows with the documents and in the order of a GPTDataset of Megatron, which a run begun with Megatron can continue:
// row k is its sample k, for at least as many samples as asked for. The rows are [Shifted] and [Joined], and [Wrap] is the strategy.
// It takes 4 bytes for every row, and for every document and pass. seed is Megatron's, 1234 if nobody has changed it.
func Megatron(samples int, seed uint32) PackOption {
	return PackOption{func(p *packed) { p.megatron, p.samples, p.seed, p.shifted, p.joined = true, samples, seed, true, true }}
}

// Pad is the token after the last document of a row. The default is 0.
func Pad(token int) PackOption { return PackOption{func(p *packed) { p.pad = token }} }

// Fields chooses the fields of a row, and their order, from those that [Pack] lists. dataset.Rename gives them other names.
// The default is input_ids, labels and position_ids.
func Fields(names ...string) PackOption { return PackOption{func(p *packed) { p.names = names }} }

// ignored is the label of a place where nothing is to be predicted: the default of PyTorch's cross entropy.
const ignored = -100

// Pack makes a dataset of rows of length tokens, for models that read a number of documents at once. ds has documents: its
// only field is ragged, int32 or int64, and may be what [Open] makes or any other dataset. lengths has the number of tokens of
// every document. Each token of a document is in one row, once per pass, but for what [Truncate] and [FillInTheMiddle] cut off.
//
// The fields of a row have the documents' dtype and the shape (length), but for the last two:
//
//   - input_ids: the tokens
//   - labels: the tokens that the model is to predict, or -100: at padding, and where a document begins or, with [Shifted], ends
//   - position_ids: 0, 1, 2 and so on, from the beginning of each document's part of the row
//   - segment_ids: 1 for the first document, 2 for the second one and so on, and 0 for padding
//   - loss_mask: float32, 1 where there is a label and 0 elsewhere
//   - sequence_lengths: int32, ragged: how many tokens each document has in the row, and the padding in the end. See [CuSeqlens].
//
// Rows depend on the lengths and the options alone, so any number of workers and ranks gets the same ones, and a loader resumes at any of
// them. Pack keeps lengths, which must not change. Its plan takes at most 9 bytes per document and pass. To make it takes some seconds for
// 10⁸ documents, up to three times this memory and, with BestFit, 16 bytes per token of a row.
//
// A reader that is a [dataset.PartReader] reads only the parts that it needs of a document.
func Pack(ds dataset.Dataset, lengths []int32, length int, strategy Strategy, options ...PackOption) (dataset.Dataset, error) {
	p := &packed{inner: ds, lengths: lengths, length: length, strategy: strategy, passes: 1, names: []string{"input_ids", "labels", "position_ids"}}
	for _, o := range options {
		if o.set != nil {
			o.set(p)
		}
	}
	err := p.check()
	if err == nil {
		err = p.makePlan()
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: Pack: %w", err)
	}
	return p, nil
}

// packed is the dataset of rows.
type packed struct {
	inner    dataset.Dataset
	lengths  []int32
	length   int
	strategy Strategy
	plan     plan
	spec     dataset.Spec
	names    []string
	of       [fields]int // where each field is in the spec, or -1

	order                               sampler.Sampler
	passes, window, pad                 int
	windowed, truncate, shifted, joined bool
	middle                              *filling

	megatron bool
	samples  int
	seed     uint32
}

// The fields of a row, in the order of known.
const (
	inputIDs = iota
	labels
	positionIDs
	segmentIDs
	lossMask
	sequenceLengths
	fields
)

var known = []string{"input_ids", "labels", "position_ids", "segment_ids", "loss_mask", "sequence_lengths"}

// check finds all mistakes in the arguments.
func (p *packed) check() error {
	if p.inner == nil {
		return errors.New("no dataset")
	}
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, fmt.Errorf(format, values...)) }
	n, spec := p.inner.Len(), p.inner.Spec()
	if len(spec) != 1 || !spec[0].Ragged || len(spec[0].Shape) > 0 || spec[0].Dtype != dataset.Int32 && spec[0].Dtype != dataset.Int64 {
		wrong("the dataset has the fields %v: want one, ragged, int32 or int64", spec)
	}
	if n != len(p.lengths) {
		wrong("%d lengths of %d documents", len(p.lengths), n)
	}
	total := int64(0)
	for i, l := range p.lengths {
		if l < 0 {
			wrong("document %d: length %d", i, l)
			break
		}
		total += int64(l)
	}
	if p.length < 1 || p.length > 1<<30 {
		wrong("rows of %d tokens: want 1 to 2³⁰", p.length)
	}
	if p.passes < 1 || p.passes > maxPasses {
		wrong("%d passes: want 1 to %d", p.passes, maxPasses)
	}
	if len(spec) == 1 && spec[0].Dtype == dataset.Int32 && int64(p.pad) != int64(int32(p.pad)) {
		wrong("Pad(%d): want an int32, as the documents have", p.pad)
	}
	switch {
	case p.megatron && (p.strategy != Wrap || p.order != nil || p.passes > 1):
		wrong("Megatron has an order and passes of its own, and the strategy Wrap")
	case p.megatron && (p.samples < 1 || total == 0):
		wrong("Megatron: %d samples of %d tokens: want 1 or more", p.samples, total)
	}
	switch {
	case p.strategy < Wrap || p.strategy > BestFit:
		wrong("%v: want Wrap, FirstFit or BestFit", p.strategy)
	case p.strategy == Wrap && (p.windowed || p.truncate):
		wrong("Wrap has no Window and no Truncate")
	case p.windowed && p.window < 1:
		wrong("a window of %d: want 1 or more", p.window)
	}
	if p.middle != nil {
		p.middle.check(wrong)
	}
	for k := range p.of {
		p.of[k] = -1
	}
	if len(p.names) == 0 {
		wrong("no fields")
	}
	for k, name := range p.names {
		switch i := slices.Index(known, name); {
		case i < 0:
			wrong("field %q: want some of %q", name, known)
		case p.of[i] >= 0:
			wrong("field %q twice", name)
		default:
			p.of[i] = k
		}
	}
	return errors.Join(errs...)
}

// makePlan plans the rows, once there are no mistakes.
func (p *packed) makePlan() error {
	for _, name := range p.names {
		f := dataset.Field{Name: name, Dtype: p.inner.Spec()[0].Dtype, Shape: dataset.Shape{p.length}}
		switch name {
		case known[lossMask]:
			f.Dtype = dataset.Float32
		case known[sequenceLengths]:
			f.Dtype, f.Shape, f.Ragged = dataset.Int32, nil, true
		}
		p.spec = append(p.spec, f)
	}
	if p.megatron {
		var err error
		p.plan, err = newMegatron(p.lengths, p.length, p.samples, p.seed)
		return err
	}
	order := p.order
	if order == nil {
		order = sampler.Sequential(len(p.lengths))
	}
	all, err := newPasses(order, p.passes)
	if err != nil {
		return err
	}
	if p.strategy == Wrap {
		row := p.length
		if p.shifted {
			row++
		}
		p.plan, err = newWrapped(all, p.lengths, row, p.length)
		return err
	}
	f, rests, err := newFitted(all, p.lengths, p.length, !p.truncate)
	if err != nil {
		return err
	}
	switch {
	case p.strategy == FirstFit && !p.windowed:
		f.firstFit(rests, 64)
	case p.strategy == FirstFit:
		f.firstFit(rests, min(p.window, max(len(rests), 1)))
	case !p.windowed:
		f.bestFit(rests, max(len(rests), 1))
	default:
		f.bestFit(rests, p.window)
	}
	p.plan = f
	return nil
}

func (p *packed) Len() int           { return p.plan.Len() }
func (p *packed) Spec() dataset.Spec { return p.spec }

// Name is the names of a row's documents.
func (p *packed) Name(k int) string {
	if dataset.CheckIndex(k, p.Len()) != nil {
		return ""
	}
	pieces := p.plan.At(k, nil)
	name := dataset.Name(p.inner, pieces[0].document)
	if name != "" && len(pieces) > 1 {
		name += fmt.Sprintf(" and %d more", len(pieces)-1)
	}
	return name
}

// Foresee tells the documents' dataset which of them are needed.
func (p *packed) Foresee(f dataset.Future) (stop func()) {
	return dataset.Foresee(p.inner, future{f, p})
}

// A future of rows is one of documents.
type future struct {
	dataset.Future
	packed *packed
}

func (f future) At(batch int, dst []int) []int {
	var pieces []piece
	for _, k := range f.Future.At(batch, nil) {
		if dataset.CheckIndex(k, f.packed.Len()) == nil {
			pieces = f.packed.plan.At(k, pieces[:0])
			for _, c := range pieces {
				dst = append(dst, c.document)
			}
		}
	}
	return dst
}

func (p *packed) Open() (dataset.Reader, error) {
	inner, err := p.inner.Open()
	if err != nil {
		return nil, err
	}
	r := &packReader{packed: p, Reader: inner, cells: []dataset.Cell{dataset.NewCell(p.inner.Spec()[0])}}
	r.parts, _ = inner.(dataset.PartReader)
	r.size = p.inner.Spec()[0].Dtype.Size()
	r.row = make([]byte, (p.length+1)*r.size)
	return r, nil
}

type packReader struct {
	*packed
	dataset.Reader
	parts  dataset.PartReader // the Reader, if it is one
	cells  []dataset.Cell     // a whole document
	pieces []piece
	ends   []int  // where each document ends in the row
	size   int    // of a token in bytes
	row    []byte // the tokens of a row, with the one that follows
	filled []byte // those after FillInTheMiddle
	count  []byte // tokens 0, 1, 2 and so on, as many as a row has
}

func (r *packReader) Place(ctx context.Context, k int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(k, r.Len()); err != nil {
		return err
	}
	r.pieces = r.plan.At(k, r.pieces[:0])
	at := 0
	for _, c := range r.pieces {
		if err := r.read(ctx, c, r.row[at*r.size:(at+c.n)*r.size], dst); err != nil {
			return fmt.Errorf("tokens: row %d, document %d: %w", k, c.document, err)
		}
		at += c.n
	}
	if r.size == 4 {
		fill[int32](r, dst)
	} else {
		fill[int64](r, dst)
	}
	return nil
}

// read reads the tokens of a piece.
func (r *packReader) read(ctx context.Context, c piece, to []byte, dst dataset.Slot) error {
	slot := dst.With(r.cells)
	n, parts := 0, io.ReaderAt(nil)
	var err error
	if r.parts != nil {
		n, parts, err = r.parts.PlaceParts(ctx, c.document, 0, slot)
	} else {
		err = r.Reader.Place(ctx, c.document, slot)
	}
	if err != nil {
		return err
	}
	whole := slot.Cell(0).Bytes()
	if parts == nil {
		n = len(whole)
	}
	if n/r.size != int(r.lengths[c.document]) {
		return fmt.Errorf("it has %d tokens: lengths says %d", n/r.size, r.lengths[c.document])
	}
	if parts == nil {
		copy(to, whole[c.from*r.size:])
		return nil
	}
	return files.ReadFull(parts, to, int64(c.from)*int64(r.size))
}

// fill writes the fields of a row.
func fill[T int32 | int64](r *packReader, dst dataset.Slot) {
	if r.middle != nil {
		fillIn[T](r, dst.Rand())
	}
	tokens := dense.Values[T](r.row)
	row := func(f int) []T {
		if r.of[f] < 0 {
			return nil
		}
		return dataset.Row[T](dst, r.of[f])
	}
	r.findEnds()
	used := min(r.ends[len(r.ends)-1], r.length) // the rest is padding
	if ids := row(inputIDs); len(ids) > 0 {
		fillWith(ids[copy(ids, tokens[:used]):], T(r.pad))
	}
	if ids := row(labels); len(ids) > 0 {
		fillWith(ids, ignored)
		r.labelled(func(from, to, shift int) { copy(ids[from:to], tokens[from+shift:to+shift]) })
	}
	if r.of[lossMask] >= 0 {
		mask := dataset.Row[float32](dst, r.of[lossMask])
		clear(mask)
		r.labelled(func(from, to, _ int) { fillWith(mask[from:to], 1) })
	}
	if ids := row(positionIDs); len(ids) > 0 {
		clear(ids[used:])
		count := ramp[T](r)
		r.segments(func(_, from, to int) { copy(ids[from:to], count) })
	}
	if ids := row(segmentIDs); len(ids) > 0 {
		clear(ids[used:])
		r.segments(func(k, from, to int) { fillWith(ids[from:to], T(k+1)) })
	}
	if f := r.of[sequenceLengths]; f >= 0 {
		n := 0
		r.segments(func(int, int, int) { n++ })
		if used < r.length {
			n++
		}
		lengths := dataset.Grow[int32](dst, f, n)
		lengths[n-1] = int32(r.length - used)
		r.segments(func(k, from, to int) { lengths[k] = int32(to - from) })
	}
}

// findEnds finds where in the row each document ends. The last one may have the token that follows the row, too.
func (r *packReader) findEnds() {
	r.ends = r.ends[:0]
	end := 0
	for _, c := range r.pieces {
		end += c.n
		r.ends = append(r.ends, end)
	}
	if r.joined {
		r.ends = append(r.ends[:0], end)
	}
}

// segments calls do for the part of the row that each document has.
func (r *packReader) segments(do func(k, from, to int)) {
	from := 0
	for k, to := range r.ends {
		if to = min(to, r.length); from < to {
			do(k, from, to)
		}
		from = to
	}
}

// labelled calls do for the places that have labels: the tokens shift places further on.
func (r *packReader) labelled(do func(from, to, shift int)) {
	from := 0
	for _, to := range r.ends {
		switch {
		case r.shifted && to-1 > from:
			do(from, to-1, 1)
		case !r.shifted && r.joined:
			do(from, to, 0)
		case !r.shifted && to > from+1:
			do(from+1, to, 0)
		}
		from = to
	}
}

// ramp is 0, 1, 2 and so on, which copies faster than it is counted.
func ramp[T int32 | int64](r *packReader) []T {
	if r.count == nil {
		r.count = make([]byte, r.length*r.size)
		for i := range r.length {
			dense.Values[T](r.count)[i] = T(i)
		}
	}
	return dense.Values[T](r.count)
}

// fillWith doubles what is filled, because copies are faster than a loop over values.
func fillWith[T any](values []T, v T) {
	for i := range values[:min(len(values), 16)] {
		values[i] = v
	}
	for n := 16; n < len(values); n *= 2 {
		copy(values[n:], values[:n])
	}
}

// CuSeqlens are the cumulative lengths of all documents of a batch, whose rows follow each other in memory, and the longest one's length:
// cu_seqlens and max_seqlen of FlashAttention's functions for sequences of varying length. field is the name of the batch's
// sequence_lengths. The result, of one number more than there are documents, uses the memory of dst if it suffices.
//
// It panics if the batch has no such field.
func CuSeqlens(dst []int32, b dataset.Batch, field string) (cumulative []int32, longest int) {
	f := b.Spec().Index(field)
	if f < 0 || !b.Spec()[f].Ragged || b.Spec()[f].Dtype != dataset.Int32 {
		panic(fmt.Sprintf("tokens: CuSeqlens: field %q: want a ragged field of int32, the batch has %v", field, b.Spec()))
	}
	cumulative = append(dst[:0], 0)
	sum := int32(0)
	for _, n := range dense.Values[int32](b.Bytes(field)) {
		sum += n
		cumulative, longest = append(cumulative, sum), max(longest, int(n))
	}
	return cumulative, longest
}
