package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/dataset/jsonl"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/files"
)

// A noting store notes the reads of a folder.
type noting struct {
	objects.Store
	mu    sync.Mutex
	reads []string
}

func (s *noting) ReadAt(ctx context.Context, o objects.Object, p []byte, off int64) error {
	s.mu.Lock()
	s.reads = append(s.reads, fmt.Sprintf("%s %d+%d", o.Name, off, len(p)))
	s.mu.Unlock()
	return s.Store.ReadAt(ctx, o, p, off)
}

func (s *noting) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := s.reads
	s.reads = nil
	slices.Sort(reads)
	return reads
}

// oneBatch is an epoch of that many samples, in one batch that has begun.
type oneBatch int

func (n oneBatch) Len() int   { return 1 }
func (n oneBatch) Begun() int { return 1 }
func (n oneBatch) Done() int  { return 0 }

func (n oneBatch) At(_ int, dst []int) []int {
	for i := range int(n) {
		dst = append(dst, i)
	}
	return dst
}

// Every format reads far files by the requests that were foreseen, each once, and by no
// others.
func TestFormatsReadWhatTheyForesee(t *testing.T) {
	const n = 6
	two := datatest.Tensors(t, dataset.Named("x", random(n, 3, 70, 50)), dataset.Named("label", make([]int64, n)))
	one := datatest.Tensors(t, dataset.Named("x", random(n, 3, 70, 50)))
	const record = 4 * 3 * 70 * 50
	dir := t.TempDir()
	write := func(name string, to func(*bytes.Buffer) error) int {
		var file bytes.Buffer
		if err := to(&file); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, fstest.MapFS{name: {Data: file.Bytes()}}); err != nil {
			t.Fatal(err)
		}
		return file.Len()
	}
	write("two.packed", func(f *bytes.Buffer) error { return packed.Write(t.Context(), f, two) })
	head := write("x.npy", func(f *bytes.Buffer) error { return npy.Write(t.Context(), f, one, "x") }) - n*record
	if err := packed.WriteItems(t.Context(), dir+"/two", two); err != nil {
		t.Fatal(err)
	}
	if err := packed.WriteItems(t.Context(), dir+"/one", one); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for i := range 2 {
		write(fmt.Sprintf("npy/%d.npy", i), func(f *bytes.Buffer) error {
			return npy.Write(t.Context(), f, datatest.Tensors(t, dataset.Named("x", random(9, 3, 70, 50))), "x")
		})
		ct := &volume.Volume{Dtype: dataset.Float32, Shape: dataset.Shape{4, 60, 50}, Axes: make([]volume.Axis, 3)}
		ct.SetFloat32(dataset.ValuesOf[float32](random(4, 1, 60, 50)))
		gzip := false
		if i == 1 {
			gzip = true
		}
		for _, of := range []string{"ct", "pet"} {
			sizes = append(sizes, write(fmt.Sprintf("patient%d/%s.nrrd", i, of), func(f *bytes.Buffer) error { return volume.WriteNRRD(f, ct, gzip) }))
		}
	}
	annotate(t, dir)
	write("lines", func(f *bytes.Buffer) error { f.WriteString("aa\nb\n\nccc\n"); return nil })
	w, err := tokens.Create(t.Context(), dir+"/texts", dataset.Uint16, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(4, []int32{1, 2, 3}, []int32{4, 5}, nil, []int32{6, 7, 8, 9}), w.Finish()); err != nil {
		t.Fatal(err)
	}
	texts := []string{"texts.bin 0+6", "texts.bin 10+8", "texts.bin 6+4"}
	list := func(n int, format string, args func(i int) []any) (reads []string) {
		for i := range n {
			reads = append(reads, fmt.Sprintf(format, args(i)...))
		}
		slices.Sort(reads)
		return reads
	}
	for _, c := range []struct {
		name, field string
		open        func(fs.FS) (dataset.Dataset, error)
		want        []string
	}{
		{"packed.Open", "x", func(f fs.FS) (dataset.Dataset, error) { return packed.Open(f, "two.packed") },
			list(n, "two.packed %d+%d", func(i int) []any { return []any{i * (record + 8), record + 8} })},
		{"packed.Items", "x", func(f fs.FS) (dataset.Dataset, error) { return packed.Items(f, "two/*.raw", two.Spec()) },
			list(n, "two/%08d.raw 0+%d", func(i int) []any { return []any{i, record + 8} })},
		{"packed.Items of one field", "x", func(f fs.FS) (dataset.Dataset, error) { return packed.Items(f, "one/*.raw", one.Spec()) },
			list(n, "one/%08d.raw 0+%d", func(i int) []any { return []any{i, record} })},
		{"npy.Open", "x", func(f fs.FS) (dataset.Dataset, error) { return npy.Open(f, "x.npy", "x") },
			list(n, "x.npy %d+%d", func(i int) []any { return []any{head + i*record, record} })},
		{"npy.Items", "x", func(f fs.FS) (dataset.Dataset, error) { return npy.Items(f, "npy/*.npy", "x") },
			list(2, "npy/%d.npy 0+%d", func(i int) []any { return []any{i, head + 9*record} })},
		{"volumes", "ct", func(f fs.FS) (dataset.Dataset, error) {
			cohort, err := volume.Open(f, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Scan("pet", "{patient}/pet.nrrd"))
			if err != nil {
				return nil, err
			}
			return cohort.Slices(t.Context())
		}, list(4, "patient%d/%s.nrrd 0+%d", func(i int) []any { return []any{i / 2, [...]string{"ct", "pet"}[i%2], sizes[i]} })},
		{"coco.Open", "image", func(f fs.FS) (dataset.Dataset, error) { return coco.Open(f, "coco.json", coco.ImagesIn("JPEGImages")) },
			[]string{"JPEGImages/1.jpg 0+11", "JPEGImages/2.jpg 0+12"}},
		{"coco.Panoptic", "segments", func(f fs.FS) (dataset.Dataset, error) {
			return coco.Open(f, "panoptic.json", coco.ImagesIn("JPEGImages"), coco.Panoptic("SegmentationClass"))
		}, []string{"JPEGImages/1.jpg 0+11", "JPEGImages/2.jpg 0+12", "SegmentationClass/1.png 0+21", "SegmentationClass/2.png 0+22"}},
		{"voc.Detection", "image", func(f fs.FS) (dataset.Dataset, error) { return voc.Detection(f, "train") },
			[]string{"JPEGImages/1.jpg 0+11", "JPEGImages/2.jpg 0+12"}},
		{"voc.Segmentation", "mask", func(f fs.FS) (dataset.Dataset, error) { return voc.Segmentation(f, "train") },
			[]string{"JPEGImages/1.jpg 0+11", "JPEGImages/2.jpg 0+12", "SegmentationClass/1.png 0+21", "SegmentationClass/2.png 0+22"}},
		{"masks.Pairs of two file systems", "mask", func(f fs.FS) (dataset.Dataset, error) {
			pairs := []masks.Pair{{Image: "JPEGImages/1.jpg", Mask: "SegmentationClass/2.png"}}
			return masks.Pairs(f, files.In(t.Context(), f), pairs)
		}, []string{"JPEGImages/1.jpg 0+11", "SegmentationClass/2.png 0+22"}},
		{"jsonl.Open", "line", func(f fs.FS) (dataset.Dataset, error) {
			return jsonl.Open(t.Context(), f, "lines", []jsonl.Column{jsonl.Line("line")})
		}, []string{"lines 0+3", "lines 2+3", "lines 4+2", "lines 5+5"}}, // with the end of the line before
		{"tokens.Open", "tokens", func(f fs.FS) (dataset.Dataset, error) { return tokens.Open(f, "texts.idx") }, texts},
		{"tokens.Pack", "input_ids", func(f fs.FS) (dataset.Dataset, error) {
			file, err := tokens.Open(f, "texts.idx")
			if err != nil {
				return nil, err
			}
			lengths, err := file.Lengths(t.Context())
			if err != nil {
				return nil, err
			}
			return tokens.Pack(file, lengths, 4, tokens.Wrap)
		}, texts},
		{"tokens.File.Rows", "tokens", func(f fs.FS) (dataset.Dataset, error) {
			file, err := tokens.Open(f, "texts.bin", tokens.Raw(dataset.Uint16))
			if err != nil {
				return nil, err
			}
			return file.Rows(5, 4)
		}, []string{"texts.bin 0+10", "texts.bin 8+10"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &noting{Store: objects.Folder(dir)}
			ahead, err := prefetch.New(s)
			if err != nil {
				t.Fatal(err)
			}
			fsys, err := objects.NewFS(t.Context(), ahead, "")
			if err != nil {
				t.Fatal(err)
			}
			ds, err := c.open(fsys)
			if err != nil {
				t.Fatal(err)
			}
			local, err := c.open(os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			s.take() // of headers
			stop := dataset.Foresee(ds, oneBatch(ds.Len()))
			if stop == nil {
				t.Fatal("the future is not used")
			}
			defer stop()
			if !bytes.Equal(datatest.Bytes(t, ds, c.field), datatest.Bytes(t, local, c.field)) {
				t.Error("other values than in local files")
			}
			if got := s.take(); !slices.Equal(got, c.want) {
				t.Errorf("requests:\ngot  %q\nwant %q", got, c.want)
			}
			if stats := ahead.Stats(); stats.Direct != 0 || stats.Unread != 0 || stats.Fetched != int64(len(c.want)) {
				t.Error(stats)
			}
		})
	}
}

// annotate writes two images with masks, and annotations of them in the formats of COCO and VOC.
// An image has 11 or 12 bytes, and a mask 21 or 22.
func annotate(t *testing.T, dir string) {
	t.Helper()
	files := fstest.MapFS{
		"coco.json": {Data: []byte(`{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "categories": [], "annotations": []}`)},
		"panoptic.json": {Data: []byte(`{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "categories": [],
			"annotations": [{"image_id": 1, "file_name": "1.png"}, {"image_id": 2, "file_name": "2.png"}]}`)},
	}
	for _, task := range []string{"Main", "Segmentation"} {
		files["ImageSets/"+task+"/train.txt"] = &fstest.MapFile{Data: []byte("1\n2\n")}
	}
	for i := 1; i <= 2; i++ {
		files[fmt.Sprintf("JPEGImages/%d.jpg", i)] = &fstest.MapFile{Data: bytes.Repeat([]byte{'i'}, 10+i)}
		files[fmt.Sprintf("SegmentationClass/%d.png", i)] = &fstest.MapFile{Data: bytes.Repeat([]byte{'m'}, 20+i)}
		files[fmt.Sprintf("Annotations/%d.xml", i)] = &fstest.MapFile{Data: []byte("<annotation></annotation>")}
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfAStoreThatForeseesNothingAreNotForeseen(t *testing.T) {
	fsys, err := objects.NewFS(t.Context(), struct{ objects.Store }{objects.Folder(".")}, "")
	if err != nil {
		t.Fatal(err)
	}
	if dataset.ForeseeFiles(fsys, oneBatch(1), dataset.FileBlocks{Len: 1}) != nil {
		t.Error("want nil")
	}
}
