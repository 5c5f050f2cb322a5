package volume

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/penstock-go/penstock/internal/files"
)

// patientVolumes are one patient's volumes, prepared, as the cache keeps them.
type patientVolumes struct {
	list  []*Volume // per source; nil where the patient has none
	bytes int64

	mu      sync.Mutex
	regions map[string]*region // by mask and labels
}

// load reads and prepares a patient's volumes.
func (c *core) load(ctx context.Context, i int) (*patientVolumes, error) {
	p := &c.all[i]
	loaded := &patientVolumes{list: make([]*Volume, len(c.sources))}
	for k, s := range c.sources {
		if p.files[k] == "" {
			continue
		}
		v, err := read(s.decoder(c.fsys, p.files[k]), cancelingFS{&farFS{FS: files.In(ctx, c.fsys)}, ctx}, p.files[k], c.limit)
		if err == nil {
			err = v.channelsFirst()
		}
		if err != nil {
			return nil, c.fileError(p, k, err)
		}
		v.Name, v.Mask, v.Fill = s.name, s.mask, s.fill
		loaded.list[k] = v
	}
	if err := c.unchanged(p, loaded.list); err != nil {
		return nil, err
	}
	if c.prepare != nil {
		if err := c.prepare.run(presentOf(loaded.list), &work{ctx: ctx}); err != nil {
			return nil, fmt.Errorf("volume: patient %s: prepare: %w", p.name, err)
		}
	}
	for k, v := range loaded.list {
		if v == nil {
			continue
		}
		err := v.castExact(c.sources[k].dtype)
		if err == nil && !slices.Equal(v.Shape, p.outlines[k].Shape) {
			err = fmt.Errorf("prepare: made the shape %v, want %v as planned", dims(v.Shape), dims(p.outlines[k].Shape))
		}
		if err == nil {
			err = v.check()
		}
		if err != nil {
			return nil, c.fileError(p, k, err)
		}
		loaded.bytes += v.Bytes()
	}
	return loaded, nil
}

// unchanged finds files that have changed since the cohort was opened, before a
// preparation allocates memory for them.
func (c *core) unchanged(p *patient, volumes []*Volume) error {
	headers := make([]*Volume, len(volumes))
	for k, v := range volumes {
		if v != nil {
			headers[k] = v.Header()
		}
	}
	if c.prepare != nil {
		if err := c.prepare.outline(presentOf(headers)); err != nil {
			return fmt.Errorf("volume: patient %s: prepare: %w", p.name, err)
		}
	}
	for k, h := range headers {
		if h != nil && !slices.Equal(h.Shape, p.outlines[k].Shape) {
			return c.fileError(p, k, fmt.Errorf("the file has changed: its volume has the shape %v, it had %v", dims(h.Shape), dims(p.outlines[k].Shape)))
		}
	}
	return nil
}

// region is the set of a mask's voxels with some labels. It is found once per patient.
func (c *cache) region(e *cacheEntry, source int, key string, labels []float64) (*region, error) {
	p := e.volumes
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.regions[key]; r != nil {
		return r, nil
	}
	r, err := regionOf(p.list[source], labels)
	if err != nil {
		return nil, err
	}
	if p.regions == nil {
		p.regions = map[string]*region{}
	}
	p.regions[key] = r
	c.grow(e, r.bytes())
	return r, nil
}

// A cancelingFS stops reads of its files once ctx is done, so that nobody waits for a
// large volume that is no longer needed.
type cancelingFS struct {
	fs.FS
	ctx context.Context
}

func (c cancelingFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c cancelingFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

func (c cancelingFS) Open(name string) (fs.File, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if s, ok := f.(io.Seeker); ok {
		return cancelingSeeker{cancelingFile{f, c.ctx}, s}, nil
	}
	return cancelingFile{f, c.ctx}, nil
}

type cancelingFile struct {
	fs.File
	ctx context.Context
}

func (f cancelingFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

type cancelingSeeker struct {
	cancelingFile
	io.Seeker
}
