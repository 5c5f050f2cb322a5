// Package extractor has what the feature extractors of transformers ask of the steps of package transform/audio beyond what the steps'
// own fields say: how a class of models cuts, pads, stacks and normalises. Package transform/presets reads it from configurations.
package extractor

// Extra is what is added to a step. The zero value of a field leaves its part out.
type Extra struct {
	// Name is that of the result's field. Any step may have it.
	Name string

	// Only says of a Resample that waveforms of another rate, or of several channels, are an error.
	Only bool

	// Whole makes a waveform that is longer than its Fit an error.
	Whole bool
	// Repeat says that a shorter one is repeated, as often as it fits as a whole, before it is padded.
	Repeat bool
	// Value is what a Fit or Multiple pads with.
	Value float32

	// Frames is how many frames of a Spectrogram there are to be: more are left out, and fewer padded with zeros, before the mean is subtracted.
	Frames int
	// PerFilter gives every filter of a waveform the mean 0 and the variance 1.
	PerFilter PerFilter
	// Multiple pads the frames in the end to a multiple of this number. It needs FramesFirst.
	Multiple int
	// Stack puts so many frames into a row. It must divide Multiple.
	Stack int
	// Copies repeats the features, and puts a first dimension of that size before the others: 4 for CLAP's fusion. The number of frames must
	// not vary then.
	Copies int
}

// PerFilter says how every filter is given the mean 0 and the variance 1.
type PerFilter uint8

const (
	// AsIs leaves filters as they are.
	AsIs PerFilter = iota
	// Unbiased is (x - mean)/sqrt(variance + 1e-7) with the unbiased variance, of SeamlessM4T.
	Unbiased
	// CMVN is (x - mean)/std, Kaldi's cepstral mean and variance normalization, of Speech2Text.
	CMVN
	// NeMo is (x - mean)/(std + 1e-5) with the unbiased standard deviation, of Parakeet.
	NeMo
)

// A Step is one of package transform/audio with an extra. It embeds that step, because only types of that package are steps.
type Step interface {
	// Extra is the step of package transform/audio, and what is added to it.
	Extra() (step any, extra Extra)
}
