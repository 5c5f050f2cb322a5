package audio_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	files "github.com/penstock-go/penstock/dataset/audio"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform/audio"
)

var _ files.Step = (*audio.Compiled)(nil)

// TestFilesBecomeFeatures: of any number of workers, and what Append makes of the same samples.
func TestFilesBecomeFeatures(t *testing.T) {
	fsys := fstest.MapFS{}
	var waves [][]float32
	for k := range 6 {
		x := datatest.Wave(8000+1000*k, uint32(k))
		var data []byte
		for _, v := range x {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		fsys["speech/"+string(rune('a'+k))+".f32"] = &fstest.MapFile{Data: data}
		waves = append(waves, x)
	}
	c := compile(t, audio.Mono{}, audio.Resample(16000), audio.Fit(16000), logMel)
	folder, err := dataset.Files(fsys, "audio", []string{".f32"})
	if err != nil {
		t.Fatal(err)
	}
	clips, err := files.Waveforms(folder, files.Raw("f32le", 8000, 1), files.Apply(c))
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		l, err := loader.New(clips, loader.BatchSize(2), loader.Workers(workers))
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			values := loader.Values[float32](b, "input_features")
			for _, got := range slices.Collect(slices.Chunk(values, c.Field().Elements())) {
				if want := appended(t, c, audio.Wave{Samples: waves[k], Rate: 8000}); !slices.Equal(got, want) {
					t.Errorf("%d workers, sample %d: other values", workers, k)
				}
				k++
			}
		}
		if k != len(waves) {
			t.Errorf("%d workers: %d samples", workers, k)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFilesBecomeFeaturesWithoutAllocation: in steady state nothing is allocated per sample, of features that are as long as their clip and of
// those of one length, also if the files have different rates.
func TestFilesBecomeFeaturesWithoutAllocation(t *testing.T) {
	archive, clips := datatest.Archive(t, "../../dataset/audio/testdata/sounds.zip"), [][]byte(nil)
	for _, name := range []string{"flac/variable.flac", "flac/pcm_24-48000-6.flac", "wav/double-44100-6.wav", "wav/pcm_16-44100-6.wav"} {
		if len(archive[name]) == 0 {
			t.Fatalf("no %s", name)
		}
		clips = append(clips, archive[name])
	}
	stored := dataset.Func(len(clips), dataset.Spec{{Name: "audio", Dtype: dataset.Uint8, Ragged: true}}, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(clips[i])), clips[i])
		return nil
	})
	harder := audio.List{audio.Speed{0.9, 1, 1.1}, audio.Gain{-6, 6}, audio.Noise{10, 30}}
	for _, steps := range [][]audio.Step{all, {audio.Mono{}, audio.Resample(16000), harder, logMel, audio.SpecAugment{TimeMasks: 1, TimeMaskParam: 5}}} {
		c := compile(t, steps...)
		ds, err := files.Waveforms(stored, files.Apply(c))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ds.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(ds.Spec()...)
		epoch := func() {
			for i := range clips {
				if err := r.Place(t.Context(), i, slot); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 20 { // of all speeds
			epoch()
		}
		if n := allocs.PerRun(0, 5, epoch); n != 0 {
			t.Errorf("%v: %v allocations", c, n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
