package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/bench/result"
)

// The sides that measure cells. A side is a library, or one way to use it.
const (
	Penstock    = "penstock"
	WithoutHelp = "penstock without Help"
	PackedFast  = "penstock, packed fast"
	PackedSmall = "penstock, packed small"
	InPython    = "penstock in Python"
	Gorgonia    = "gorgonia"     // nets alone
	ONNX        = "ONNX Runtime" // nets alone
	PIL         = "PyTorch with PIL"
	Tensors     = "PyTorch with tensors"
	PyNRRD      = "PyTorch with pynrrd"
	Torch       = "PyTorch" // nets alone
	DALI        = "DALI"
	SPDL        = "SPDL with FFmpeg"
	FFCVJPEG    = "FFCV, jpg"
	FFCVRaw     = "FFCV, raw"
	Copied      = "copies of memory"
	Memmap      = "PyTorch with np.memmap"
	MemmapLoop  = "a loop over np.memmap"
	Megatron    = "Megatron"
	Litdata     = "litdata"
	Grain       = "Grain"
	SimpleJPEG  = "simplejpeg"
	OpenCV      = "OpenCV"
	Pillow      = "Pillow"
	TorchVision = "torchvision"
	Kornia      = "kornia-rs"
	Static      = "penstock with a static ffmpeg"
	TorchCodec  = "torchcodec"
	Approximate = "torchcodec (approximate)" // its way to seek
)

// A Cell is one configuration of a study: what all of its sides measure. Programs get it as JSON.
type Cell struct {
	Study   result.Study  `json:"study"`
	Config  result.Config `json:"config"`
	Work    string        `json:"work"`   // what is loaded, see Open
	Folder  string        `json:"folder"` // of the data
	Size    int           `json:"size"`   // width and height of an image, in pixels
	Samples int           `json:"samples"`
	Epochs  int           `json:"epochs"` // measured after epoch 0, which alone is measured if there are none
	Shuffle bool          `json:"shuffle"`
	Speed   float64       `json:"speed"` // of a simulated device, in samples per second; 0 is none
	Cold    bool          `json:"cold"`  // only the first batch, from the opening of files that are in no cache
	Sides   []string      `json:"sides"`
	Short   bool          `json:"short"` // is part of the default grid of go test -bench
}

// String is the cell's name in benchmarks and logs, as benchstat reads it.
func (c Cell) String() string {
	k := c.Config
	s := "data=" + k.Data
	for _, part := range []struct{ name, value string }{{"model", k.Model}, {"span", k.Span}} {
		if part.value != "" {
			s += fmt.Sprintf("/%s=%s", part.name, part.value)
		}
	}
	s += fmt.Sprintf("/batch=%d", k.Batch)
	if c.Study != result.Inference {
		s += fmt.Sprintf("/workers=%d", k.Workers)
	}
	if k.ConsumerSeconds > 0 {
		s += fmt.Sprintf("/consumer=%gs", k.ConsumerSeconds)
	}
	return s
}

// Grids are the grids of the studies, by their numbers, and as photos, decoding, tokens and clips the comparisons with other libraries.
var Grids = map[string]func() []Cell{"1": loadingGrid, "2": endToEndGrid, "3": profileGrid, "4": volumesGrid, "5": inferenceGrid, "photos": photosGrid, "decoding": decodingGrid, "tokens": tokensGrid, "clips": clipsGrid}

var (
	batches = []int{32, 128, 256, 512, 1024}
	loaders = []int{1, 2, 4, 8, 32, 48, 64}         // workers of study 1
	both    = []int{1, 2, 4, 8, 12, 16, 32, 48, 64} // workers of study 2
	kinds   = []struct{ data, work string }{{"photos", "bytes"}, {"preprocessed", "items"}}
)

const small = 64 // pixels: so small that batches of 1024 for 64 workers fit into memory

// loadingGrid is study 1: the wait for every batch. An epoch has a period of as many batches as workers, and eight more,
// and with batches of up to 128 three periods after its first batch, without which package analysis sees no peaks. With a consumer
// that takes 0.5 s per batch, only the first batch can be slow, and eight are enough.
func loadingGrid() (cells []Cell) {
	for _, of := range kinds {
		peer := map[string]string{"photos": PIL, "preprocessed": Tensors}[of.data]
		for _, batch := range batches {
			for _, workers := range loaders {
				short := batch == 32 && (workers == 1 || workers == 4)
				epoch := workers + 8
				if batch <= 128 {
					epoch = max(epoch, 3*workers+1)
				}
				c := Cell{Study: result.Loading, Config: result.Config{Batch: batch, Workers: workers, Data: of.data}, Work: of.work, Size: small,
					Samples: batch * epoch, Sides: []string{Penstock, WithoutHelp, peer}, Short: short}
				if workers == 1 {
					c.Sides = []string{Penstock, peer}
				}
				cells = append(cells, c)
				c.Config.ConsumerSeconds, c.Samples, c.Short = 0.5, 8*batch, false
				cells = append(cells, c)
			}
		}
	}
	const original = 3 * 224 * 224 * 4 // bytes of the study's own items
	for _, batch := range batches {
		for _, workers := range loaders {
			if int64((2*workers+1)*batch)*original <= 6<<30 {
				cells = append(cells, Cell{Study: result.Loading, Config: result.Config{Batch: batch, Workers: workers, Data: "preprocessed 224"}, Work: "preprocessed",
					Size: 224, Samples: batch * (workers + 8), Sides: []string{Penstock, Tensors}})
			}
		}
	}
	// Files as slow as over a network let few processors show many workers, which wait rather than compute.
	for _, workers := range loaders {
		c := Cell{Study: result.Loading, Config: result.Config{Batch: 8, Workers: workers, Data: "slow files", Simulated: slow.String()}, Work: "slow", Size: small,
			Samples: 8 * max(8, 3*workers+1), Sides: []string{Penstock, WithoutHelp}, Short: workers == 8}
		cells = append(cells, c)
	}
	return cells
}

// slow is how slow the files of the work slow are.
var slow = Throttle{Latency: 80 * time.Millisecond, BytesPerSecond: 100e6}

// Devices are simulated: images per second of pytorch-image-models' nets on an RTX 3090, in
// results/benchmark-infer-amp-nchw-pt240-cu124-rtx3090.csv of its repository.
var Devices = []struct {
	Name  string
	Speed float64
}{{"resnet18", 9260}, {"resnet50", 3219}, {"resnet152", 1374}}

// endToEndGrid is study 2: loading and inference together, with simulated devices over the whole grid, and
// with nets on the processor that the workers share.
func endToEndGrid() (cells []Cell) {
	for _, of := range kinds {
		for _, batch := range batches {
			for _, workers := range both {
				for _, d := range Devices {
					cells = append(cells, Cell{Study: result.EndToEnd, Work: of.work, Size: small, Samples: 4096, Speed: d.Speed, Sides: []string{Penstock, Tensors},
						Config: result.Config{Batch: batch, Workers: workers, Data: of.data, Model: d.Name, Simulated: "devices as fast as an RTX 3090"},
						Short:  d.Name == "resnet50" && of.data == "photos" && (batch == 32 || batch == 128) && (workers == 2 || workers == 4)})
				}
				for _, net := range []string{"conv-small", "vit"} {
					if workers <= 8 {
						cells = append(cells, Cell{Study: result.EndToEnd, Work: map[string]string{"photos": "eval", "preprocessed": "preprocessed"}[of.data],
							Size: small, Samples: max(1024, 2*batch), Sides: []string{Penstock, Tensors},
							Config: result.Config{Batch: batch, Workers: workers, Data: of.data, Model: net, Device: "cpu"},
							Short:  net == "conv-small" && of.data == "photos" && batch == 32 && workers <= 2})
					}
				}
			}
		}
	}
	return cells
}

// profileGrid is study 3: where the time of the first batch, and of an epoch, of CIFAR-100 goes.
func profileGrid() (cells []Cell) {
	for _, workers := range []int{1, 2, 4, 8, 16} {
		cells = append(cells, Cell{Study: result.Profile, Config: result.Config{Batch: 64, Workers: workers, Data: "CIFAR-100", Device: "cpu"}, Work: "cifar100",
			Size: 32, Samples: 20_000, Epochs: 1, Shuffle: true, Sides: []string{Penstock, PIL, Tensors}, Short: workers < 8})
	}
	return cells
}

// Slices is the number of slices that a patient has, in three views.
const Slices = 48 + 128 + 128

// volumesGrid is study 4: slices of volumes and masks, alone and with a training step of 4000 slices per second.
func volumesGrid() (cells []Cell) {
	for _, batch := range []int{1, 2, 4, 8} {
		for _, workers := range []int{1, 2, 4, 8} {
			c := Cell{Study: result.Volumes, Config: result.Config{Batch: batch, Workers: workers, Data: "volumes"}, Work: "volumes", Samples: 8 * Slices,
				Shuffle: true, Sides: []string{Penstock, PyNRRD}, Short: batch != 2 && batch != 4 && workers <= 4}
			cells = append(cells, c)
			c.Config.Model, c.Config.Simulated, c.Speed, c.Short = "a training step", "a training step of 4000 slices/s", 4000, false
			cells = append(cells, c)
		}
	}
	return cells
}

// inferenceGrid is study 5: nets alone, for images of 64 pixels, and in ONNX Runtime nets of the usual size.
func inferenceGrid() (cells []Cell) {
	add := func(net string, size int, sides ...string) {
		for _, batch := range []int{1, 8, 32, 128, 256, 512, 1024} {
			cells = append(cells, Cell{Study: result.Inference, Config: result.Config{Batch: batch, Data: fmt.Sprintf("random %d", size), Model: net, Device: "cpu"},
				Size: size, Samples: max(64, batch), Sides: sides, Short: size == small && batch <= 32 && (net == "conv-small" || net == "vit")})
		}
	}
	for _, k := range model.Kinds() {
		add(k.Name, small, Gorgonia, Torch)
	}
	add("efficientnet-lite0", 224, ONNX, Torch)
	add("vit-tiny", 224, ONNX, Torch)
	return cells
}

// photosGrid compares the evaluation and the training preset with other libraries.
func photosGrid() (cells []Cell) {
	sides := []string{Penstock, PackedFast, PackedSmall, InPython, PIL, Tensors, DALI, SPDL, FFCVJPEG, FFCVRaw}
	for _, of := range []struct {
		data, work string
		shuffle    bool
	}{{"photos, evaluation", "eval", false}, {"photos, training", "train", true}} {
		cells = append(cells, Cell{Study: result.Throughput, Config: result.Config{Batch: 128, Workers: 2, Data: of.data}, Work: of.work, Size: 224, Samples: 640,
			Epochs: 1, Shuffle: of.shuffle, Sides: sides})
	}
	return cells
}

// decodingGrid compares decoders alone, by the protocol of arXiv 2605.08731: files in memory become whole photos of bytes, one after the
// other in one thread, and in batches of a loader with eight workers.
func decodingGrid() (cells []Cell) {
	for _, of := range []struct{ batch, workers int }{{1, 0}, {32, 8}} {
		cells = append(cells, Cell{Study: result.Throughput, Config: result.Config{Batch: of.batch, Workers: of.workers, Data: "photos, decoded"}, Work: "decode",
			Samples: 1280, Epochs: 2, Sides: []string{Penstock, SimpleJPEG, OpenCV, Pillow, TorchVision, Kornia}, Short: true})
	}
	return cells
}

// Length is how many tokens a row of the works rows and documents has.
const Length = 2048

// tokensGrid compares rows of tokens with other libraries: rows of one stream in random order, and rows packed from documents.
func tokensGrid() (cells []Cell) {
	for _, of := range []struct {
		data, work string
		samples    int
		peers      []string
	}{
		{"rows of tokens", "rows", 32_768, []string{Memmap, MemmapLoop, Litdata}},
		{"packed documents", "documents", 16_384, []string{Megatron}},
		{"few packed documents", "documents", 2048, []string{Grain}}, // which takes about a millisecond per row
	} {
		for _, workers := range []int{1, 2} {
			c := Cell{Study: result.Throughput, Config: result.Config{Batch: 64, Workers: workers, Data: of.data}, Work: of.work, Samples: of.samples, Epochs: 2,
				Shuffle: of.work == "rows", Sides: append([]string{Penstock, Copied}, of.peers...), Short: true}
			cells = append(cells, c)
			if workers == 1 {
				c.Config.Data, c.Cold, c.Epochs, c.Short = of.data+", cold", true, 0, false
				c.Sides = append([]string{Penstock}, of.peers...)
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// clipsGrid compares clips of 16 frames, each from a random video and place: of H.264 with few and with many key frames, and of VP9, which alone DALI
// decodes on processors.
func clipsGrid() (cells []Cell) {
	for _, of := range []struct {
		data, work string
		peers      []string
	}{
		{"clips of H.264, GOP 30", "clips", nil},
		{"clips of H.264, GOP 250", "clips, long GOP", nil},
		{"clips of VP9, GOP 30", "clips, VP9", []string{DALI}},
	} {
		for _, workers := range []int{1, 2} {
			cells = append(cells, Cell{Study: result.Throughput, Config: result.Config{Batch: 8, Workers: workers, Data: of.data}, Work: of.work, Size: 112, Samples: 256,
				Epochs: 1, Shuffle: true, Sides: append([]string{Penstock, Static, TorchCodec, Approximate}, of.peers...), Short: true})
		}
	}
	return cells
}

// Seconds estimates how long a side takes for the cell on two processors, with the start of its program.
func (c Cell) Seconds(side string) float64 {
	python := !slices.Contains([]string{Penstock, WithoutHelp, PackedFast, PackedSmall, Gorgonia, ONNX, Copied, Static}, side)
	start, rate := 0.3, map[string]float64{"bytes": 2500, "decode": 1000, "slow": 12 * float64(c.Config.Workers), "eval": 2500, "train": 2500, "items": 60_000, "preprocessed": 20_000, "cifar100": 300_000, "volumes": 4000, "rows": 400_000, "documents": 100_000}[c.Work]
	if python {
		start = 4 + 0.05*float64(c.Config.Workers)
		rate = map[string]float64{"bytes": 800, "decode": 600, "eval": 800, "train": 800, "items": 6000, "preprocessed": 3000, "cifar100": 10_000, "volumes": 1500, "rows": 5000, "documents": 800}[c.Work]
		if side == PIL && c.Work != "cifar100" {
			rate = 450
		}
	}
	if strings.HasPrefix(c.Work, "clips") {
		rate = 8 * float64(c.Config.Workers) // a process for each
		if python {
			rate = 20 * float64(c.Config.Workers)
		}
	}
	samples := float64(c.Samples)
	if c.Study == result.Inference || c.Config.Model != "" && c.Speed == 0 { // with the run that warms up
		perItem := map[string]float64{"conv-small": 0.6, "conv-medium": 1.3, "resnet-small": 7.5, "mixer": 3.5, "vit": 6.1, "efficientnet-lite0": 3.8, "vit-tiny": 10.3}[c.Config.Model] / 1000
		if side == Torch || side == Tensors {
			perItem = map[string]float64{"efficientnet-lite0": 19, "vit-tiny": 18}[c.Config.Model]/1000 + 0.0005
		}
		start += (samples + float64(c.Config.Batch)) * perItem
	}
	if c.Study == result.Inference {
		return start
	}
	loop := c.Config.ConsumerSeconds * samples / float64(c.Config.Batch)
	if c.Speed > 0 {
		loop = samples / c.Speed
	}
	return start + max(float64(c.Epochs+1)*samples/rate, loop)
}
