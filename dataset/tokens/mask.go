package tokens

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/prng"
	"github.com/penstock-go/penstock/internal/slots"
)

// A MaskOption is an option of [Mask].
type MaskOption struct{ set func(*masking) }

// MaskRates says how many tokens are chosen, and how many of those become the mask and how many a random token: mlm_probability,
// mask_replace_prob and random_replace_prob of transformers. The default is 0.15, 0.8 and 0.1.
func MaskRates(chosen, masked, random float64) MaskOption {
	return MaskOption{func(m *masking) { m.chosen, m.masked, m.random = chosen, masked, random }}
}

// WholeWords chooses whole words. continues says whether a token continues the word of the token before, such as one that
// begins with "##" in the vocabulary of BERT. [Mask] calls it once per token of the vocabulary.
//
// With MaskRates(0.15, 1, 0) it is whole_word_mask of transformers, which then replaces no token by a random one.
func WholeWords(continues func(token int) bool) MaskOption {
	return MaskOption{func(m *masking) { m.continues = continues }}
}

// NumPy takes numbers of numpy: the sample at place k of epoch e, both counted from 0, gets the masks that transformers' collator
// DataCollatorForLanguageModeling(return_tensors="np", seed=[seed, e, k]) gives it alone. For the first sample these are the masks of
// seed=seed.
func NumPy(seed uint64) MaskOption {
	return MaskOption{func(m *masking) { m.numpy, m.seed = true, seed }}
}

// Mask makes a dataset for masked language models, such as BERT, out of one of texts: it hides some tokens behind the token mask. The
// tokens are those of the field "input_ids", or if there is none, of "tokens": rows of [Pack] or [File.Rows], documents of [Open], or
// those of any other dataset. They must be below vocabulary, the number of all tokens. The field "labels" has the hidden tokens, and
// -100 at all other places. If there is one already, it takes its place.
//
// By default 15 % of the tokens are chosen. Of these, 80 % become mask, 10 % a random token of the vocabulary, and 10 % stay as they are.
// special are tokens that are never chosen, such as those that begin, end and pad texts. mask is one of them.
//
// Every epoch has other masks. They depend on the seed of the loader, the epoch and the sample's place in the order alone, so they are the
// same for any batch size and any number of workers and ranks, and after a resume. A collator that draws for one batch after the other
// could not promise that.
//
// Documents are padded after that, in the loop: loader.Padded pads "input_ids" by the padding token, and "labels" by -100, and
// loader.Mask makes the attention mask.
func Mask(ds dataset.Dataset, mask, vocabulary int, special []int, options ...MaskOption) (dataset.Dataset, error) {
	if ds == nil {
		return nil, errors.New("tokens: Mask: no dataset")
	}
	m := &masking{mask: mask, vocabulary: vocabulary, chosen: 0.15, masked: 0.8, random: 0.1}
	for _, o := range options {
		if o.set != nil {
			o.set(m)
		}
	}
	spec, err := m.bind(ds.Spec(), special)
	if err != nil {
		return nil, fmt.Errorf("tokens: Mask: %w", err)
	}
	return dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
		if spec[m.labels].Dtype == dataset.Int32 {
			return maskSample[int32](m, dst, src)
		}
		return maskSample[int64](m, dst, src)
	})
}

// masking is how tokens are masked. All workers share it.
type masking struct {
	mask, vocabulary       int
	chosen, masked, random float64
	continues              func(token int) bool
	numpy                  bool
	seed                   uint64

	kinds       []kind // of all tokens
	ids, labels int    // fields: ids of the texts, both of the result
}

// A kind is the part that a token has in masking.
type kind uint8

const (
	ordinary kind = iota
	special
	continuing
)

const maxVocabulary = 1 << 24

// bind finds all mistakes, and the fields of the result.
func (m *masking) bind(before dataset.Spec, never []int) (after dataset.Spec, err error) {
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, fmt.Errorf(format, values...)) }
	if m.vocabulary < 1 || m.vocabulary > maxVocabulary {
		wrong("a vocabulary of %d tokens: want 1 to %d", m.vocabulary, maxVocabulary)
	} else {
		m.kinds = make([]kind, m.vocabulary)
		for token := range m.kinds {
			if m.continues != nil && m.continues(token) {
				m.kinds[token] = continuing
			}
		}
		for _, token := range append([]int{m.mask}, never...) {
			if token < 0 || token >= m.vocabulary {
				wrong("special token %d: want 0 to %d", token, m.vocabulary-1)
				break
			}
			m.kinds[token] = special
		}
	}
	for _, rate := range []float64{m.chosen, m.masked, m.random, m.masked + m.random} {
		if !(rate >= 0 && rate <= 1) {
			wrong("MaskRates(%g, %g, %g): want 0 to 1, also for the last two together", m.chosen, m.masked, m.random)
			break
		}
	}
	if m.ids = before.Index("input_ids"); m.ids < 0 {
		m.ids = before.Index("tokens")
	}
	if m.ids < 0 {
		wrong(`no field "input_ids" or "tokens": the dataset has %v`, before)
		return nil, errors.Join(errs...)
	}
	f := before[m.ids]
	if f.Dtype != dataset.Int32 && f.Dtype != dataset.Int64 || f.Ragged && len(f.Shape) > 0 || !f.Ragged && len(f.Shape) != 1 {
		wrong("the field %v: want one dimension or ragged, int32 or int64", f)
	}
	after = slices.Clone(before)
	f.Name = known[labels]
	if m.labels = after.Index(f.Name); m.labels >= 0 {
		after[m.labels] = f
	} else {
		m.labels, after = len(after), append(after, f)
	}
	return after, errors.Join(errs...)
}

// maskSample masks the tokens of a sample. They are in the memory of both slots, because Map passes the field on.
func maskSample[T int32 | int64](m *masking, dst, src dataset.Slot) error {
	ids := dataset.Row[T](src, m.ids)
	var labels []T
	if src.Cell(m.ids).Ragged() {
		labels = dataset.Grow[T](dst, m.labels, len(ids))
	} else {
		labels = dataset.Row[T](dst, m.labels)
	}
	n := numbers{rand: dst.Rand()}
	if m.numpy {
		n.rand.Uint64() // so that dataset.Cached sees that the sample is random
		epoch, place := slots.Slot(dst).Draw().At()
		n.rand = nil
		n.numpy.Seed(m.seed, epoch, place)
	}
	return maskTokens(m, ids, labels, &n)
}

// maskTokens draws in the order of DataCollatorForLanguageModeling.numpy_mask_tokens of transformers: for all tokens whether they are
// chosen, then for all whether they are masked, then for all whether they are random, and which.
func maskTokens[T int32 | int64](m *masking, ids, labels []T, n *numbers) error {
	chosen, before := false, special
	for i, id := range ids {
		if id < 0 || int64(id) >= int64(m.vocabulary) {
			return fmt.Errorf("tokens: Mask: token %d at place %d: want 0 to %d", id, i, m.vocabulary-1)
		}
		k := m.kinds[id]
		if k == special {
			chosen = false
		} else if k == ordinary || before == special { // otherwise it is as the beginning of its word
			chosen = n.happens(m.chosen)
		}
		if labels[i] = ignored; chosen {
			labels[i] = id
		}
		before = k
	}
	for i := range ids {
		if n.happens(m.masked) && labels[i] != ignored {
			ids[i] = T(m.mask)
		}
	}
	if m.masked == 1 || m.random == 0 {
		return nil
	}
	const drawn = -1 // stands for a random token, until all of them are known
	rest := min(m.random/(1-m.masked), 1)
	for i := range ids {
		if n.happens(rest) && labels[i] != ignored && ids[i] != T(m.mask) {
			ids[i] = drawn
		}
	}
	for i := range ids {
		if ids[i] == drawn {
			ids[i] = T(n.below(uint32(m.vocabulary)))
		}
	}
	return nil
}

// numbers are random numbers of a sample, or numpy's if it has none.
type numbers struct {
	rand  *rand.Rand
	numpy prng.NumPy
}

func (n *numbers) below(end uint32) uint32 {
	if n.rand != nil {
		return n.rand.Uint32N(end)
	}
	return n.numpy.Uint32N(end)
}

// happens is true with probability p: numpy's binomial(1, p), but for rounding with a probability of 2⁻⁵³. A p of 0 takes no number.
func (n *numbers) happens(p float64) bool {
	if p == 0 {
		return false
	}
	var u float64
	if n.rand != nil {
		u = n.rand.Float64()
	} else {
		u = n.numpy.Float64()
	}
	if p <= 0.5 {
		return u > 1-p
	}
	return u <= 1-(1-p)
}
