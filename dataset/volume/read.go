package volume

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/dataset/volume/internal/metaimage"
	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
)

// Read reads a volume. More than limit bytes of values are an error; 0 means no limit. The
// name tells the format: NRRD is .nrrd or .nhdr; NIfTI is .nii, .hdr or .img, with or without
// .gz after it; MetaImage is .mha or .mhd; a folder is a DICOM series, and .dcm or .ima is one
// slice of it.
//
// Axes are in the reverse order of the file, so that the fastest is the last of Shape. Values
// that NIfTI scales become float32; those of DICOM are rescaled to the smallest integer dtype
// that holds all, or to float32. Without orientation in the file, a NIfTI image lies as in
// nibabel.
//
// All files in the folder of a DICOM series must be slices of one stack, which is sorted by
// position; missing slices, duplicates and other files are errors that name the files. Files
// of many frames and compressed ones are errors: dcm2niix converts these.
func Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	v, err := read(context.Background(), fsys, name, limit, true)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// ReadHeader reads everything except the values. Dtype is the one that [Read]
// gives.
func ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	v, err := read(context.Background(), fsys, name, 0, false)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// read reads a volume, or only its header.
func read(ctx context.Context, fsys fs.FS, name string, limit int64, values bool) (*Volume, error) {
	if fsys == nil {
		return nil, bulk.ErrNoFS
	}
	parse := nifti.ReadHeader
	base := strings.ToLower(name)
	switch path.Ext(strings.TrimSuffix(base, ".gz")) {
	case ".nrrd", ".nhdr":
		parse = nrrd.ReadHeader
	case ".mha", ".mhd":
		parse = metaimage.ReadHeader
	case ".nii", ".hdr", ".img":
	default:
		ext := path.Ext(base)
		if info, err := fs.Stat(fsys, name); ext != ".dcm" && ext != ".ima" && (err != nil || !info.IsDir()) {
			return nil, errors.New("want a file named .nrrd, .nhdr, .nii, .nii.gz, .hdr, .img, .mha, .mhd or .dcm, or a folder of a DICOM series")
		}
		return readSeries(ctx, fsys, name, limit, values)
	}
	h, err := parse(fsys, name)
	if err != nil {
		return nil, err
	}
	v := volumeOf(name, h)
	if err := v.checkHeader(); err != nil {
		return nil, err
	}
	if values {
		if v.Data, err = h.Load(ctx, fsys, limit); err != nil {
			return nil, err
		}
	}
	return v, v.scale(h, limit)
}

// volumeOf is what a header says, the slowest axis first.
func volumeOf(name string, h *array.Header) *Volume {
	v := &Volume{Name: name, Dtype: h.Dtype, Shape: slices.Clone(h.Sizes), World: h.World, Origin: h.Origin, Attributes: h.Attributes}
	for _, a := range h.Axes {
		v.Axes = append(v.Axes, Axis(a))
	}
	slices.Reverse(v.Shape)
	slices.Reverse(v.Axes)
	return v
}

// scale makes the values what the header says that stored ones mean: float32, computed in float64 as nibabel does.
func (v *Volume) scale(h *array.Header, limit int64) error {
	if h.Slope == 0 || h.Slope == 1 && h.Inter == 0 {
		return nil
	}
	if v.Data == nil {
		v.Dtype = dataset.Float32
		return nil
	}
	n := v.Shape.Elements()
	if size := int64(n) * int64(dataset.Float32.Size()); limit > 0 && size > limit {
		return fmt.Errorf("%d bytes of scaled values, the limit is %d", size, limit)
	}
	to := make([]float32, n)
	var block [1024]float64
	for at := 0; at < n; at += len(block) {
		part := block[:min(len(block), n-at)]
		if err := copyNumbers(part, v, at); err != nil {
			return err
		}
		for k, x := range part {
			to[at+k] = float32(h.Slope*x + h.Inter)
		}
	}
	v.Dtype, v.Data = dataset.Float32, dense.Bytes(to)
	return nil
}

// checkHeader checks what all other code relies on.
func (v *Volume) checkHeader() error {
	if len(v.Axes) != len(v.Shape) || len(v.Shape) == 0 || len(v.Shape) > maxRank || slices.Min(v.Shape) < 1 {
		return fmt.Errorf("%d axes for the shape %v", len(v.Axes), dims(v.Shape))
	}
	if v.Dtype != dataset.Uint64 && !slices.Contains(fieldDtypes, v.Dtype) {
		return fmt.Errorf("values of %v, want integers or floats", v.Dtype)
	}
	const most = min(1<<40, math.MaxInt-bulk.Align) // so that no product of sizes overflows
	bytes := int64(v.Dtype.Size())
	for _, n := range v.Shape {
		if bytes > most/int64(n) {
			return fmt.Errorf("shape %v of %v: more values than memory can hold", dims(v.Shape), v.Dtype)
		}
		bytes *= int64(n)
	}
	return nil
}

// check makes sure that Data has the size that the header says.
func (v *Volume) check() error {
	if err := v.checkHeader(); err != nil {
		return err
	}
	if want := v.size(); int64(len(v.Data)) != want {
		return fmt.Errorf("%d bytes of data, want %d", len(v.Data), want)
	}
	return nil
}

// WriteNRRD writes the volume as an NRRD file with its geometry and attributes, raw or compressed by gzip. [Read] gives
// the same volume, with directions up to rounding, except that
//
//   - Name, Mask and Fill are not in the file,
//   - leading axes of length 1 and kind "list", without spacing and direction,
//     are left out: these are the channels of a cohort,
//   - nil Axes become axes of unknown kind, spacing and direction.
//
// Anything else that the file cannot hold is an error, such as a direction without a spacing, and nothing is written.
func WriteNRRD(w io.Writer, v *Volume, gzip bool) error {
	if v.Axes == nil {
		plain := *v
		plain.Axes = make([]Axis, len(v.Shape))
		v = &plain
	}
	err := v.check()
	if err == nil {
		first := 0
		for first < len(v.Axes)-1 && v.Shape[first] == 1 && v.Axes[first].Direction == nil && v.Axes[first].Spacing == 0 && v.Axes[first].Kind == "list" {
			first++
		}
		h := &array.Header{Dtype: v.Dtype, Sizes: slices.Clone(v.Shape[first:]), World: v.World, Origin: v.Origin, Attributes: maps.Clone(v.Attributes)}
		for _, a := range v.Axes[first:] {
			h.Axes = append(h.Axes, array.Axis(a))
		}
		slices.Reverse(h.Sizes)
		slices.Reverse(h.Axes)
		err = nrrd.Write(w, h, v.Data, gzip)
	}
	if err != nil {
		return fmt.Errorf("volume: write %s: %w", cmp.Or(v.Name, "NRRD"), err)
	}
	return nil
}

// atOnce is how many bytes of a far file are allocated and read at once, because a listing
// says that it has them. Larger files are read in parts.
const atOnce = 64 << 20

// A farFS reads a file as a whole if every read of it is a request to a service. It keeps the
// last one, because a file is opened once for its header and once for its values.
type farFS struct {
	fs.FS
	mu   sync.Mutex
	name string
	data []byte
}

func (c *farFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c *farFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

func (c *farFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || !files.IsFar(f) {
		return f, nil
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() <= atOnce {
		var data []byte
		if data, err = c.read(name, at, info.Size()); err == nil {
			return farFile{f, bytes.NewReader(data)}, nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read reads a file, unless it is the one that was read last.
func (c *farFS) read(name string, at io.ReaderAt, size int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data != nil && c.name == name {
		return c.data, nil
	}
	data := make([]byte, size)
	if n, err := at.ReadAt(data, 0); n < len(data) {
		return nil, files.Ended(err)
	}
	c.name, c.data = name, data
	return data, nil
}

type farFile struct {
	fs.File
	content *bytes.Reader
}

func (f farFile) Read(p []byte) (int, error) { return f.content.Read(p) }

func (f farFile) Seek(offset int64, whence int) (int64, error) { return f.content.Seek(offset, whence) }
