package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// A configuration is what penstock.DataLoader says of a dataset, its steps and its order. It is JSON in a file.
type configuration struct {
	Parts   []part       `json:"parts"`   // datasets, one after the other
	Order   string       `json:"order"`   // one of orders; "": that of the flags
	Weights []float64    `json:"weights"` // of samples
	Draws   int          `json:"draws"`   // per epoch, of samples that may come again
	Varying bool         `json:"varying"` // images may have sizes that differ; there is a field of sizes then
	Batches sampler.List `json:"batches"` // samples of each batch; nil: the order cut into batches
}

// A part is images with steps of their own: files, an array, or a data set with boxes or masks.
type part struct {
	Paths     []string        `json:"paths"`
	Masks     []string        `json:"masks"`  // files of masks, one per path
	Array     string          `json:"array"`  // the file of it
	Shape     []int           `json:"shape"`  // of an image
	Coco      bool            `json:"coco"`   // the array is annotations of COCO's format, with paths from the root
	VOC       string          `json:"voc"`    // the folder of a VOC data set
	Set       string          `json:"set"`    // the set of it
	Fields    []string        `json:"fields"` // of a data set with boxes, beside the images
	Shards    *shardSet       `json:"shards"` // files of many samples, of which the array is the index
	Rows      []int           `json:"rows"`   // the images of the array or of the data set, in order
	Labels    []int64         `json:"labels"`
	Steps     transform.List  `json:"steps"`
	Processor json.RawMessage `json:"processor"` // transformers' configuration, in place of steps
}

func readConfiguration(name string) (*configuration, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := new(configuration)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if len(c.Parts) == 0 {
		return nil, errors.New("no dataset")
	}
	return c, nil
}

// steps are those of the part.
func (p *part) steps() (transform.List, error) {
	if p.Processor == nil {
		return p.Steps, nil
	}
	step, err := presets.HuggingFace(p.Processor)
	return transform.List{step}, err
}

// dataset is all parts, one after the other.
func (c *configuration) dataset() (dataset.Dataset, error) {
	var images []dataset.Dataset
	var steps []transform.List
	for k := range c.Parts {
		of, err := c.Parts[k].images()
		if err != nil {
			return nil, err
		}
		list, err := c.Parts[k].steps()
		if err != nil {
			return nil, err
		}
		images, steps = append(images, of), append(steps, list)
	}
	ds, err := joined(images, steps)
	if err == nil || !c.Varying {
		return ds, err
	}
	if ds, other := joined(images, steps, transform.Ragged(), transform.Sizes("size")); other == nil {
		return ds, nil
	}
	return nil, err
}

// joined is images with steps of their own, and settings for all.
func joined(images []dataset.Dataset, steps []transform.List, settings ...transform.Item) (dataset.Dataset, error) {
	var all []dataset.Dataset
	for k, list := range steps {
		ds, err := transform.Images(images[k], append(slices.Clip(list), settings...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, ds)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return dataset.Concat(all...)
}

// images is the part before its steps.
func (p *part) images() (dataset.Dataset, error) {
	root := os.DirFS("/")
	switch {
	case p.Shards != nil:
		ds, err := p.Shards.open(p.Array)
		if err != nil || p.Rows == nil {
			return ds, err
		}
		return dataset.Subset(ds, p.Rows)
	case p.Coco:
		const most = 1 << 30 // bytes of the masks of an image
		options := []coco.Option{coco.AnyBoxes()}
		if slices.Contains(p.Fields, "masks") {
			options = append(options, coco.Masks(most))
		}
		ds, err := coco.Open(root, p.Array[1:], options...)
		return p.chosen(ds, err)
	case p.VOC != "":
		ds, err := voc.Detection(os.DirFS(p.VOC), p.Set, voc.AsInFile())
		return p.chosen(ds, err)
	case p.Masks != nil:
		pairs := make([]masks.Pair, len(p.Paths))
		for i, path := range p.Paths {
			pairs[i] = masks.Pair{Image: path[1:], Mask: p.Masks[i][1:]}
		}
		return masks.Pairs(root, root, pairs)
	}
	label := dataset.Field{Name: "label", Dtype: dataset.Int64}
	if p.Array == "" {
		spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image}, label}
		return files{dataset.Func(len(p.Paths), spec, p.readFile), p.Paths}, nil
	}
	file, err := os.Open(p.Array) // until the program ends
	if err != nil {
		return nil, err
	}
	shape := dataset.Shape(p.Shape)
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: shape, Kind: dataset.Image}, label}
	return dataset.Func(len(p.Rows), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dst.Stage(dataset.StageRead)
		dataset.Set(dst, 1, p.Labels[i])
		image := dataset.Row[uint8](dst, 0)
		_, err := file.ReadAt(image, int64(p.Rows[i])*int64(len(image)))
		return err
	}), nil
}

// chosen is the rows and fields of a data set with boxes, with torchvision's name for labels.
func (p *part) chosen(ds dataset.Dataset, err error) (dataset.Dataset, error) {
	if err != nil {
		return nil, err
	}
	if ds, err = dataset.Rename(ds, map[string]string{"label": "labels"}); err != nil {
		return nil, err
	}
	if ds, err = dataset.Select(ds, append([]string{"image"}, p.Fields...)...); err != nil {
		return nil, err
	}
	return dataset.Subset(ds, p.Rows)
}

// readFile places file i.
func (p *part) readFile(_ context.Context, i int, dst dataset.Slot) error {
	dst.Stage(dataset.StageRead)
	dataset.Set(dst, 1, p.Labels[i])
	f, err := os.Open(p.Paths[i])
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	const most = 256 << 20 // as with dataset.ImageFolder
	if info.Size() > most {
		return fmt.Errorf("%s has %d bytes, want %d at most", p.Paths[i], info.Size(), most)
	}
	_, err = io.ReadFull(f, dataset.Grow[uint8](dst, 0, int(info.Size())))
	return err
}

// files is a dataset of files, which errors name, and which are read ahead.
type files struct {
	dataset.Dataset
	paths []string
}

// Name is the path of a file.
func (f files) Name(i int) string { return f.paths[i] }

// Foresee has the files of coming batches read by the system.
func (f files) Foresee(future dataset.Future) (stop func()) {
	return dataset.ForeseeFiles(os.DirFS("/"), future, dataset.FileBlocks{Len: len(f.paths), At: func(i int, dst []dataset.FilePart) []dataset.FilePart {
		return append(dst, dataset.FilePart{Path: f.paths[i][1:], Len: -1})
	}})
}

// ordered is the order of n samples that the configuration names, or nil.
func (c *configuration) ordered(n int, seed uint64) (sampler.Sampler, error) {
	switch c.Order {
	case "":
		return nil, nil
	case "distributed": // that of torch.utils.data.DistributedSampler before it is divided
		return sampler.Torch(n, seed), nil
	case "grouped":
		return c.grouped(seed)
	case "random":
		return sampler.Random(n, seed, sampler.Draws(c.Draws)), nil
	case "weighted":
		return sampler.Weighted(c.Weights, seed, sampler.Draws(c.Draws))
	case "weighted once":
		return sampler.WeightedWithoutReplacement(c.Weights, seed, sampler.Draws(c.Draws))
	}
	return nil, fmt.Errorf("order %q is not known", c.Order)
}

// explain prints what becomes of the images of a part.
func (c *configuration) explain() error {
	steps, err := c.Parts[0].steps()
	if err != nil {
		return err
	}
	plan, err := transform.Compile(steps...)
	if err != nil {
		return err
	}
	_, err = fmt.Println(plan)
	return err
}

// grouped is a random order of blocks of samples, and of the samples of eight blocks at a time.
func (c *configuration) grouped(seed uint64) (sampler.Sampler, error) {
	if len(c.Parts) != 1 || c.Parts[0].Shards == nil {
		return nil, errors.New("order grouped: want shards alone")
	}
	return sampler.Grouped(c.Parts[0].Shards.ends, seed, sampler.Together(8)), nil
}

// A shardSet is files of many samples each.
type shardSet struct {
	Format string            `json:"format"` // one of shardFormats
	Base   string            `json:"base"`   // a folder or an address; "": URLs has all files
	URLs   map[string]string `json:"urls"`   // addresses by name
	Names  []string          `json:"names"`  // files, or patterns
	Image  []string          `json:"image"`  // columns of which a sample has one
	Label  string            `json:"label"`  // the column of labels, if there is one

	ends []int // of the blocks, in samples
}

var shardFormats = map[string]shards.Format{"tar": shards.WebDataset(), "mds": shards.MDS(), "tfrecord": shards.TFRecord(), "parquet": parquet.Format()}

// store is where the files are.
func (s *shardSet) store() (objects.Store, error) {
	if strings.HasPrefix(s.Base, "/") {
		return objects.Folder(s.Base), nil
	}
	var options []objects.HTTPOption
	if s.Base == "" {
		options = append(options, objects.Sign(func(_ context.Context, name string) (string, error) {
			url, ok := s.URLs[name]
			if !ok {
				return "", fs.ErrNotExist
			}
			return url, nil
		}))
	}
	remote, err := objects.HTTP(s.Base, options...)
	if err != nil {
		return nil, err
	}
	client, err := objects.NewClient(remote)
	if err != nil {
		return nil, err
	}
	return prefetch.New(client)
}

// index reads a file, or all shards if there is none.
func (s *shardSet) index(from objects.Store, file string) (*shards.Index, error) {
	format, ok := shardFormats[s.Format]
	if !ok {
		return nil, fmt.Errorf("format %q is not known", s.Format)
	}
	if file == "" {
		return shards.Scan(context.Background(), from, format, s.Names)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return shards.ReadIndex(f, format)
}

// open is the images and labels, with the index in a file, or none.
func (s *shardSet) open(file string) (*shards.Dataset, error) {
	from, err := s.store()
	if err != nil {
		return nil, err
	}
	index, err := s.index(from, file)
	if err != nil {
		return nil, err
	}
	fields := []shards.Field{shards.Bytes("image", s.Image...)}
	if s.Label != "" {
		fields = append(fields, shards.Scalar[int64]("label", s.Label))
	}
	s.ends = index.Ends()
	return shards.Open(from, index, fields)
}

// scan prints how many samples shards have, and their index.
func (c *configuration) scan() error {
	s := c.Parts[0].Shards
	from, err := s.store()
	if err != nil {
		return err
	}
	index, err := s.index(from, c.Parts[0].Array)
	if err != nil {
		return err
	}
	fmt.Println(index.Len())
	_, err = index.WriteTo(os.Stdout)
	return err
}
